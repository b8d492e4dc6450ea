/**
 * The line in which every change of the tree, of rights and of accounts stands, and what is written down of each. A
 * change first takes its turn, and only then looks at what it is about to change: so two of them never decide on the
 * same old state. Its entry is numbered by the counter that it holds until it is committed: the order of the numbers is
 * the order of the commits, and none is missing.
 */

import { randomInt } from 'node:crypto';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { ChangeOptions, Database, Reader, Transaction } from '../database/database.ts';
import { forUpdate, list, sql } from '../database/statement.ts';
import type { JournalKind, JournalPosition } from './journal-entry.ts';

export interface NewEntry {
  readonly kind: JournalKind;
  readonly at: number;
  /** Who did it; null for the server itself. */
  readonly byUserId: string | null;
  readonly folderId?: string;
  readonly userId?: string;
  readonly groupId?: string;
  readonly sessionId?: string;
  /** From the root to the folder: where it is by now, or was last. */
  readonly pathIds?: readonly string[];
  /** Where it was before, if that is elsewhere. */
  readonly oldPathIds?: readonly string[];
  readonly before?: Details;
  readonly after?: Details;
  /** Who may see or do what is different from now on: what is known of anybody's rights is read anew. */
  readonly changesAccess?: boolean;
}

/** Who changes something, and when. */
export interface ChangedBy {
  /** Null for the server itself. */
  readonly byUserId: string | null;
  readonly now: number;
}

/** Several of one kind, that differ in the user only. */
export type NewEntries = Omit<NewEntry, 'userId'> & { readonly userIds: readonly string[] };

export type Details = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Where the journal has got to. */
export interface JournalHead extends JournalPosition {
  /** Differs after every change of who may see or do what. */
  readonly accessNumber: number;
}

const maxNonce = 2 ** 32;
const maxAccessStep = 2 ** 20;

interface EntryValues {
  readonly at: number;
  readonly kind: string;
  readonly changesAccess: number;
  readonly byUserId: string | null;
  readonly folderId: string | null;
  readonly groupId: string | null;
  readonly sessionId: string | null;
  readonly pathIds: string | null;
  readonly oldPathIds: string | null;
  readonly before: string | null;
  readonly after: string | null;
  readonly nonce: number;
}

/** By something random: a database from a backup, or one that lost its last commits, does not come to the same again. */
const advance = sql<JournalHead>`
  update journal_counter set number = ${'number'}, access_number = ${'accessNumber'}, nonce = ${'nonce'}`;

const columns = sql`number, user_id, at, kind, changes_access, by_user_id, folder_id, group_id, session_id,
  path_ids, old_path_ids, before, after, nonce`;
const values = sql`${'at'}, ${'kind'}, ${'changesAccess'}, ${'byUserId'}, ${'folderId'}, ${'groupId'}, ${'sessionId'},
  ${'pathIds'}, ${'oldPathIds'}, ${'before'}, ${'after'}, ${'nonce'}`;

const insert = sql<EntryValues & { number: number; userId: string | null }>`
  insert into journal (${columns}) values (${'number'}, ${'userId'}, ${values})`;

const insertEach = sql<EntryValues & { userIds: readonly string[]; last: number }>`
  insert into journal (${columns})
  select ${'last'} + 1 + each.position, each.value, ${values} from ${list('userIds')}`;

const selectHead = sql<object, JournalHead>`
  select number, nonce, access_number as "accessNumber" from journal_counter`;
const lockHead = sql<object, JournalHead>`${selectHead} ${forUpdate}`;

/** The note of a transaction that has taken its turn: the journal's head as the transaction left it. */
const headKey = Symbol('the head of the journal');

/**
 * The first statement of every change: it waits until earlier changes are committed, and returns the head of the journal. A change
 * that shares the transaction of an earlier change does not wait again.
 */
export function lockForChange(transaction: Transaction): PromiseOrValue<JournalHead> {
  const known = transaction.notes.get(headKey);
  if (known) return known as JournalHead;
  return whenDone(transaction.get(lockHead, {}), (head) => {
    transaction.notes.set(headKey, head!);
    return head!;
  });
}

/** The journal's last entry as this transaction left it. The transaction must have taken its turn. */
export function readLockedHead(transaction: Transaction): JournalHead {
  const head = transaction.notes.get(headKey);
  if (!head) throw new Error('A change must take its turn before it is recorded.');
  return head as JournalHead;
}

/** A change of its own: it takes its turn, and of two nodes that do the same, one comes after the other. */
export function runChange<T>(
  database: Database,
  work: (transaction: Transaction, head: JournalHead) => PromiseOrValue<T>,
  options?: ChangeOptions,
): Promise<T> {
  return database.change(
    (transaction) => whenDone(lockForChange(transaction), (head) => work(transaction, head)),
    options,
  );
}

/** Part of every change, in its own transaction: what is not committed was never written down. */
export function record(transaction: Transaction, entry: NewEntry): void {
  const stored = toValues(entry);
  const { number } = advanceCounter(transaction, { ...stored, by: 1 });
  transaction.queue(insert, { ...stored, number, userId: entry.userId ?? null });
}

/** An entry for each of the users, in one go. */
export function recordEach(transaction: Transaction, { userIds, ...entry }: NewEntries): void {
  if (userIds.length === 0) return;
  const stored = toValues(entry);
  const { number } = advanceCounter(transaction, { ...stored, by: userIds.length });
  transaction.queue(insertEach, { ...stored, last: number - userIds.length, userIds });
}

function advanceCounter(
  transaction: Transaction,
  { by, nonce, changesAccess }: Pick<EntryValues, 'nonce' | 'changesAccess'> & { readonly by: number },
): JournalHead {
  const before = readLockedHead(transaction);
  const accessStep = changesAccess ? randomInt(1, maxAccessStep) : 0;
  const head = { number: before.number + by, nonce, accessNumber: before.accessNumber + accessStep };
  transaction.notes.set(headKey, head);
  transaction.announce();
  transaction.queue(advance, head);
  return head;
}

export function readHead(reader: Reader): PromiseOrValue<JournalHead> {
  return whenDone(reader.get(selectHead, {}), (head) => head!);
}

/** Whether a new snapshot is as new as what is read before it. Records the answer with the database. */
export async function checkCurrent(database: Database): Promise<void> {
  const { number } = await readHead(database);
  const later = await database.shortSnapshot(async (reader) => readHead(reader));
  if (later.number < number) database.reportOutdated();
  else database.confirmCurrent();
}

function toValues(entry: Omit<NewEntry, 'userId'>): EntryValues {
  const { at, kind, byUserId, folderId, groupId, sessionId, pathIds, oldPathIds, before, after } = entry;
  return {
    at,
    kind,
    changesAccess: entry.changesAccess ? 1 : 0,
    byUserId,
    folderId: folderId ?? null,
    groupId: groupId ?? null,
    sessionId: sessionId ?? null,
    pathIds: toText(pathIds),
    oldPathIds: toText(oldPathIds),
    before: toText(before),
    after: toText(after),
    nonce: randomInt(1, maxNonce),
  };
}

function toText(value: object | undefined): string | null {
  return value ? JSON.stringify(value) : null;
}
export interface Retention {
  readonly journalDays: number;
  readonly journalEntries: number;
}
const dayMs = 86400000;
const batch = 1000;
const maxPrunedPerRun = 20000;
const findOldest = sql<{ limit: number }, { number: number; at: number }>`
  select number, at from journal order by number limit ${'limit'}`;
const removeUpTo = sql<{ number: number }>`delete from journal where number <= ${'number'}`;
/** Answers how many went. */

export async function pruneJournal(
  database: Database,
  now: number,
  { journalDays, journalEntries }: Retention,
): Promise<number> {
  const { number: last } = await readHead(database);
  const isOld = ({ number, at }: { number: number; at: number }) =>
    number <= last - journalEntries || at <= now - journalDays * dayMs;
  let pruned = 0;
  while (pruned < maxPrunedPerRun) {
    const oldest = await database.all(findOldest, { limit: batch });
    // Up to the first that is kept, so that what is left has no gap even if clocks disagreed.
    const kept = oldest.findIndex((entry) => !isOld(entry));
    const { number } = (kept < 0 ? oldest.at(-1) : oldest[kept - 1]) ?? {};
    if (number === undefined) break;
    pruned += await runChange(database, (transaction) => transaction.run(removeUpTo, { number }), {
      takesLong: true,
    });
    if (kept >= 0) break;
    await new Promise(setImmediate);
  }
  return pruned;
}
