/** Journal entries: their kinds (with the names of the mutations), their cursors, and the functions that read and list them. */

import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { encodeCursor, decodeCursor } from '../database/cursor-encoding.ts';
import type { Reader } from '../database/database.ts';
import { list, sql, type Statement } from '../database/statement.ts';
import { Refusal } from '../refusal.ts';

export const journalKinds = [
  'CREATE_FOLDER',
  'UPDATE_FOLDER',
  'MOVE_FOLDER',
  'DELETE_FOLDER',
  'RESTORE_FOLDER',
  'DUPLICATE_FOLDER',
  'IMPORT_FOLDERS',
  'PURGE_FOLDER',
  'GRANT_ACCESS',
  'REVOKE_ACCESS',
  'CREATE_USER',
  'UPDATE_USER',
  'CHANGE_PASSWORD',
  'ENROL_SECOND_FACTOR',
  'REMOVE_SECOND_FACTOR',
  'RESET_SECOND_FACTOR',
  'CREATE_RECOVERY_CODES',
  'USE_RECOVERY_CODE',
  'DELETE_USER',
  'CREATE_GROUP',
  'UPDATE_GROUP',
  'DELETE_GROUP',
  'ADD_TO_GROUP',
  'REMOVE_FROM_GROUP',
  'END_SESSION',
  'ROTATE_KEY',
  'RETIRE_KEY',
  'VIEW_AS',
  'CREATE_API_KEY',
  'REVOKE_API_KEY',
  'LINK_IDENTITY',
  'UNLINK_IDENTITY',
] as const;

export type JournalKind = (typeof journalKinds)[number];

/** Identifies an entry. The nonce is random, because a database restored from a backup uses the numbers again. */
export interface JournalPosition {
  readonly number: number;
  readonly nonce: number;
}

export interface JournalEntry extends JournalPosition {
  readonly at: number;
  readonly kind: JournalKind;
  readonly changesAccess: boolean;
  readonly byUserId: string | null;
  /** The API key that the user used, if any. */
  readonly byApiKeyId: string | null;
  readonly folderId: string | null;
  readonly userId: string | null;
  readonly groupId: string | null;
  readonly sessionId: string | null;
  readonly pathIds: readonly string[] | null;
  readonly oldPathIds: readonly string[] | null;
  /** Null in entries of older versions. */
  readonly path: string | null;
  readonly formerPath: string | null;
  /** JSON objects, as text. */
  readonly before: string | null;
  readonly after: string | null;
}

export type EntryRow = Omit<JournalEntry, 'changesAccess' | 'pathIds' | 'oldPathIds'> & {
  readonly changesAccess: number;
  readonly pathIds: string | null;
  readonly oldPathIds: string | null;
};

const selectEntry = sql`
  select number, at, kind, changes_access as "changesAccess", by_user_id as "byUserId", by_api_key_id as "byApiKeyId", folder_id as "folderId",
    user_id as "userId", group_id as "groupId", session_id as "sessionId", path_ids as "pathIds",
    old_path_ids as "oldPathIds", path, former_path as "formerPath", before, after, nonce
  from journal`;

const findAfter = sql<{ number: number; limit: number }, EntryRow>`
  ${selectEntry} where number > ${'number'} order by number limit ${'limit'}`;

const findNonce = sql<{ number: number }, { nonce: number }>`
  select nonce from journal where number = ${'number'}`;

const findOldest = sql<object, { number: number | null }>`select min(number) as number from journal`;

/** Whether the entry exists with this nonce. Number 0 is the position before the first entry. */
export function hasEntry(reader: Reader, { number, nonce }: JournalPosition): PromiseOrValue<boolean> {
  if (number === 0) return whenDone(readOldest(reader), (oldest) => nonce === 0 && oldest === 1);
  return whenDone(reader.get(findNonce, { number }), (found) => found?.nonce === nonce);
}

/** Reads entries in order. If entries were pruned, the first one does not follow `after` directly. */
export function readEntries(
  reader: Reader,
  after: number,
  limit: number,
): PromiseOrValue<readonly JournalEntry[]> {
  return whenDone(reader.all(findAfter, { number: after, limit }), (rows) => rows.map(toEntry));
}

/** The number of the oldest entry; undefined if there is none. */
export function readOldest(reader: Reader): PromiseOrValue<number | undefined> {
  return whenDone(reader.get(findOldest, {}), (row) => row?.number ?? undefined);
}

/** Parses the `before` or `after` of an entry. */
export function detailsOf(text: string | null): Readonly<Record<string, unknown>> {
  return text === null ? {} : (JSON.parse(text) as Record<string, unknown>);
}

function toEntry(row: EntryRow): JournalEntry {
  return {
    ...row,
    changesAccess: row.changesAccess === 1,
    pathIds: parsePathIds(row.pathIds),
    oldPathIds: parsePathIds(row.oldPathIds),
  };
}

function parsePathIds(text: string | null): readonly string[] | null {
  return text === null ? null : (JSON.parse(text) as string[]);
}

const cursorList = 'journal';
/** Enough for 281 trillion entries. */
const numberBytes = 6;
const nonceBytes = 4;

export function toJournalCursor({ number, nonce }: JournalPosition): string {
  const bytes = Buffer.alloc(numberBytes + nonceBytes);
  bytes.writeUIntBE(number, 0, numberBytes);
  bytes.writeUInt32BE(nonce, numberBytes);
  return encodeCursor(cursorList, bytes);
}

/** Refuses a text that is not a cursor of the journal. Does not check that the entry exists. */
export function fromJournalCursor(cursor: string, argument: string): JournalPosition {
  const bytes = decodeCursor(cursorList, cursor);
  if (bytes?.length !== numberBytes + nonceBytes) {
    throw new Refusal(
      'BAD_INPUT',
      `\`${argument}\` is not a valid cursor. Pass the \`cursor\` of a query, a mutation, a change or a journal entry.`,
    );
  }
  return { number: bytes.readUIntBE(0, numberBytes), nonce: bytes.readUInt32BE(numberBytes) };
}

/** Selects the entries that meet all conditions. */
export interface JournalFilter {
  /** The user who made the change. */
  readonly byUserId?: string | undefined;
  /** The user whom the change affects. */
  readonly userId?: string | undefined;
  readonly groupId?: string | undefined;
  readonly folderId?: string | undefined;
  readonly kinds?: readonly JournalKind[] | undefined;
  readonly from?: number | undefined;
  /** Exclusive. */
  readonly until?: number | undefined;
}

const conditions: Readonly<Record<keyof JournalFilter, Statement>> = {
  byUserId: sql`by_user_id = ${'byUserId'}`,
  userId: sql`user_id = ${'userId'}`,
  groupId: sql`group_id = ${'groupId'}`,
  folderId: sql`folder_id = ${'folderId'}`,
  kinds: sql`kind in (select value from ${list('kinds', 'texts')})`,
  from: sql`at >= ${'from'}`,
  until: sql`at < ${'until'}`,
};

/** Applies the conditions to an entry in memory. */
export function fitsFilter(entry: JournalEntry, filter: JournalFilter): boolean {
  const { byUserId, userId, groupId, folderId, kinds, from, until } = filter;
  return (
    (byUserId === undefined || entry.byUserId === byUserId) &&
    (userId === undefined || entry.userId === userId) &&
    (groupId === undefined || entry.groupId === groupId) &&
    (folderId === undefined || entry.folderId === folderId) &&
    (kinds === undefined || kinds.includes(entry.kind)) &&
    (from === undefined || entry.at >= from) &&
    (until === undefined || entry.at < until)
  );
}

type Name = keyof JournalFilter;
const names = Object.keys(conditions) as Name[];
/** By the names of the conditions. Each combination has its own statements, so that the database can use the best index. */
const statements = new Map<string, ReturnType<typeof createStatements>>();

export function listJournal(
  reader: Reader,
  filter: JournalFilter,
  { before = Number.MAX_SAFE_INTEGER, limit }: { before: number | undefined; limit: number },
): PromiseOrValue<readonly JournalEntry[]> {
  const rows = reader.all(statementsFor(filter).page, { ...filter, before, limit });
  return whenDone(rows, (found) => found.map(toEntry));
}

export function countJournal(reader: Reader, filter: JournalFilter): PromiseOrValue<number> {
  return whenDone(reader.get(statementsFor(filter).count, filter), (row) => row!.count);
}

function statementsFor(filter: JournalFilter) {
  const filterNames = names.filter((name) => filter[name] !== undefined);
  let found = statements.get(filterNames.join());
  if (!found) statements.set(filterNames.join(), (found = createStatements(filterNames)));
  return found;
}

function createStatements(filterNames: readonly Name[]) {
  const condition = filterNames.reduce<Statement>((all, name) => sql`${all} and ${conditions[name]}`, sql``);
  return {
    page: sql<JournalFilter & { before: number; limit: number }, EntryRow>`
      ${selectEntry} where number < ${'before'} ${condition} order by number desc limit ${'limit'}`,
    count: sql<JournalFilter, { count: number }>`
      select count(*) as count from journal where number > 0 ${condition}`,
  };
}
