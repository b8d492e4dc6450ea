/**
 * The journal of changes to the tree, rights and accounts. Every change locks the counter of the journal before it reads
 * the data that it changes, so two changes never rely on the same old state. The counter numbers the entries without gaps, in the
 * order of the commits.
 */

import { randomInt } from 'node:crypto';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { ChangeOptions, Database, Reader, Transaction } from '../database/database.ts';
import { forUpdate, list, sql } from '../database/statement.ts';
import type { EntryRow, JournalKind, JournalPosition } from './journal-entry.ts';

/** Whose rights apply: those of a user, or of an API key of the user. */
export interface RightsHolder {
  readonly userId: string;
  /** Set if the request has an API key instead of an auth token. */
  readonly apiKeyId?: string | undefined;
}

/** The user who makes a change, and its time. */
export interface ChangeOrigin {
  /** Null for the server itself. */
  readonly byUserId: string | null;
  /** The API key that the user used, if any. */
  readonly byApiKeyId?: string | undefined;
  readonly now: number;
}

export interface NewEntry extends ChangeOrigin {
  readonly kind: JournalKind;
  readonly folderId?: string;
  readonly userId?: string;
  readonly groupId?: string;
  readonly sessionId?: string;
  /** The ids from the root to the folder itself, after the change or before its removal. */
  readonly pathIds?: readonly string[];
  /** The ids of the path before a move. */
  readonly oldPathIds?: readonly string[];
  /** The path of the folder as text. */
  readonly path?: string | undefined;
  /** The path before a move or a rename. */
  readonly formerPath?: string | undefined;
  readonly before?: Details;
  readonly after?: Details;
  /** Whether the access of users may change, so that cached rights must be read again. */
  readonly changesAccess?: boolean;
}

/** Several entries that differ only in the user. */
type NewEntries = Omit<NewEntry, 'userId'> & { readonly userIds: readonly string[] };

export type Details = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** The end of the journal. */
export interface JournalHead extends JournalPosition {
  /** Changes with every change of access. */
  readonly accessNumber: number;
}

const maxNonce = 2 ** 32;
const maxAccessStep = 2 ** 20;

type EntryValues = Omit<EntryRow, 'number' | 'userId'>;

/** The nonce and the access step are random, so that a database restored from a backup never repeats the same head. */
const advance = sql<JournalHead>`
  update journal_counter set number = ${'number'}, access_number = ${'accessNumber'}, nonce = ${'nonce'}`;

const columns = sql`number, user_id, at, kind, changes_access, by_user_id, folder_id, group_id, session_id,
  path_ids, old_path_ids, path, former_path, before, after, nonce, by_api_key_id`;
const valueParameters = sql`${'at'}, ${'kind'}, ${'changesAccess'}, ${'byUserId'}, ${'folderId'}, ${'groupId'}, ${'sessionId'},
  ${'pathIds'}, ${'oldPathIds'}, ${'path'}, ${'formerPath'}, ${'before'}, ${'after'}, ${'nonce'}, ${'byApiKeyId'}`;

const insert = sql<EntryValues & { number: number; userId: string | null }>`
  insert into journal (${columns}) values (${'number'}, ${'userId'}, ${valueParameters})`;

const insertEach = sql<EntryValues & { userIds: readonly string[]; last: number }>`
  insert into journal (${columns})
  select ${'last'} + 1 + each.position, each.value, ${valueParameters} from ${list('userIds')}`;

const selectHead = sql<object, JournalHead>`
  select number, nonce, access_number as "accessNumber" from journal_counter`;
const lockHead = sql<object, JournalHead>`${selectHead} ${forUpdate}`;

/** The key of the locked head in the cache of a transaction. The head includes the transaction's own entries. */
const headKey = Symbol('the head of the journal');

/**
 * Runs the first statement of every change: waits until earlier changes are committed, and returns the head of the journal. A change
 * that shares the transaction of an earlier change does not wait again.
 */
export function lockForChange(transaction: Transaction): PromiseOrValue<JournalHead> {
  const lockedHead = transaction.cache.get(headKey);
  if (lockedHead) return lockedHead as JournalHead;
  return whenDone(transaction.get(lockHead, {}), (head) => {
    transaction.cache.set(headKey, head!);
    return head!;
  });
}

/** The head of the journal, including the entries of this transaction. The transaction must hold the lock. */
export function readLockedHead(transaction: Transaction): JournalHead {
  const head = transaction.cache.get(headKey);
  if (!head) throw new Error('A change must call lockForChange() before it is recorded.');
  return head as JournalHead;
}

/**
 * Runs a change that no viewer requests, under the lock of the journal's counter. Changes of all nodes run one after the other. For
 * a change that a viewer requests, use `ChangeRunner`.
 */
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

/** Records an entry in the transaction of the change. */
export function record(transaction: Transaction, entry: NewEntry): void {
  const values = toValues(entry);
  const { number } = advanceCounter(transaction, { ...values, by: 1 });
  transaction.queue(insert, { ...values, number, userId: entry.userId ?? null });
}

/** Records many entries that do not change access. */
export async function recordAll(transaction: Transaction, entries: readonly NewEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const allValues = entries.map(toValues);
  const { nonce } = allValues.at(-1)!;
  const { number } = advanceCounter(transaction, { by: entries.length, nonce, changesAccess: 0 });
  const first = number - entries.length + 1;
  const rows = allValues.map((values, index) => ({ ...values, number: first + index, userId: null }));
  await transaction.runEach(insert, rows);
}

/** Records one entry for each user, with one statement. */
export function recordEach(transaction: Transaction, { userIds, ...entry }: NewEntries): void {
  if (userIds.length === 0) return;
  const values = toValues(entry);
  const { number } = advanceCounter(transaction, { ...values, by: userIds.length });
  transaction.queue(insertEach, { ...values, last: number - userIds.length, userIds });
}

function advanceCounter(
  transaction: Transaction,
  { by, nonce, changesAccess }: Pick<EntryValues, 'nonce' | 'changesAccess'> & { readonly by: number },
): JournalHead {
  const before = readLockedHead(transaction);
  const accessStep = changesAccess ? randomInt(1, maxAccessStep) : 0;
  const head = { number: before.number + by, nonce, accessNumber: before.accessNumber + accessStep };
  transaction.cache.set(headKey, head);
  transaction.announce();
  transaction.queue(advance, head);
  return head;
}

export function readHead(reader: Reader): PromiseOrValue<JournalHead> {
  return whenDone(reader.get(selectHead, {}), (head) => head!);
}

/** Checks that a new snapshot is not older than an earlier read, and reports the result to the database. */
export async function checkCurrent(database: Database): Promise<void> {
  const { number } = await readHead(database);
  const laterHead = await database.shortSnapshot(async (reader) => readHead(reader));
  if (laterHead.number < number) database.reportStale();
  else database.confirmCurrent();
}

function toValues(entry: Omit<NewEntry, 'userId'>): EntryValues {
  const { now, kind, byUserId, folderId, groupId, sessionId, pathIds, oldPathIds, before, after } = entry;
  return {
    at: now,
    kind,
    changesAccess: entry.changesAccess ? 1 : 0,
    byUserId,
    byApiKeyId: entry.byApiKeyId ?? null,
    folderId: folderId ?? null,
    groupId: groupId ?? null,
    sessionId: sessionId ?? null,
    pathIds: toText(pathIds),
    oldPathIds: toText(oldPathIds),
    path: entry.path ?? null,
    formerPath: entry.formerPath ?? null,
    before: toText(before),
    after: toText(after),
    nonce: randomInt(1, maxNonce),
  };
}

/** Returns the values that differ, before and after a change. */
export function differences<T extends Details>(
  before: T,
  after: T,
): { readonly before: Details; readonly after: Details } {
  const keys = Object.keys(after).filter((key) => before[key] !== after[key]);
  const pick = (values: T) => Object.fromEntries(keys.map((key) => [key, values[key]]));
  return { before: pick(before), after: pick(after) };
}

function toText(value: object | undefined): string | null {
  return value ? JSON.stringify(value) : null;
}
