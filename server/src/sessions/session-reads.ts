/** Reads sessions. Lists contain only active sessions, which are neither revoked nor expired, with the newest first. */

import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { KeyedSlice } from '../accounts/users.ts';
import type { Reader } from '../database/database.ts';
import {
  isRowId,
  lastId,
  list,
  listForEach,
  readCounts,
  readListsOfEach,
  selectAs,
  sql,
  type ColumnsOf,
  type CountOfEach,
  type ListOfEach,
} from '../database/statement.ts';

/** The client of a login or a refresh, as users see it in the list of sessions. */
export interface ClientInfo {
  readonly address: string | null;
  /** The `User-Agent` header. */
  readonly agent: string | null;
}

export interface Session extends ClientInfo {
  readonly id: string;
  readonly userId: string;
  readonly createdAt: number;
  readonly refreshedAt: number;
  readonly expiresAt: number;
}

/** A refresh, and the replays of the spent token since. */
export interface SessionRefresh extends ClientInfo {
  readonly sessionId: string;
  readonly at: number;
  readonly replays: number;
  readonly replayedAt: number | null;
  readonly replayAddress: string | null;
  readonly replayAgent: string | null;
}

/** The position of a session in a list. */
export type SessionPosition = Pick<Session, 'createdAt' | 'id'>;

type SessionSlice = KeyedSlice<SessionPosition> & { readonly now: number };

const columns: ColumnsOf<Session> = {
  id: 'id',
  userId: 'user_id',
  createdAt: 'created_at',
  refreshedAt: 'refreshed_at',
  expiresAt: 'refresh_expires_at',
  address: 'address',
  agent: 'agent',
};
const selectSession = sql`select ${selectAs(columns)} from sessions`;
const isActive = sql`revoked_at is null and refresh_expires_at > ${'now'}`;

const findById = sql<{ id: string }, Session>`${selectSession} where id = ${'id'}`;
const findActive = sql<{ id: string; now: number }, Session>`
  ${selectSession} where id = ${'id'} and ${isActive}`;

const maxRefreshes = 20;
const findRefreshes = sql<{ sessionIds: readonly string[]; max: number }, SessionRefresh>`
  select session_id as "sessionId", spent_at as at, address, agent, replays, replayed_at as "replayedAt",
    replay_address as "replayAddress", replay_agent as "replayAgent"
  from ${list('sessionIds')} join spent_refresh_tokens on digest in (
    select digest from spent_refresh_tokens where session_id = each.value order by spent_at desc limit ${'max'})
  order by session_id, spent_at desc`;

type SliceParameters = SessionPosition & Pick<SessionSlice, 'limit' | 'now'>;

const isAfter = sql`${isActive} and (created_at, id) < (${'createdAt'}, ${'id'})`;
const newestFirst = sql`created_at desc, id desc`;
const findPage = sql<SliceParameters, Session>`
  ${selectSession} where ${isAfter} order by ${newestFirst} limit ${'limit'}`;
const countActive = sql<{ now: number }, { count: number }>`
  select count(*) as count from sessions where ${isActive}`;
const pageOfEachUser = sql<SliceParameters & { userIds: readonly string[] }, ListOfEach>`
  ${listForEach('userIds', {
    table: 'sessions',
    columns: Object.values(columns),
    where: sql`user_id = each.value and ${isAfter}`,
    orderBy: newestFirst,
    limit: sql`${'limit'}`,
  })}`;
const countOfEachUser = sql<{ userIds: readonly string[]; now: number }, CountOfEach>`
  select user_id as id, count(*) as count from sessions
  where user_id in (select value from ${list('userIds')}) and ${isActive} group by user_id`;

const beforeFirst: SessionPosition = { createdAt: Number.MAX_SAFE_INTEGER, id: lastId };

/** Reads a session, active or not. */
export function readSession(reader: Reader, id: string): PromiseOrValue<Session | undefined> {
  return reader.get(findById, { id });
}

export function readActiveSession(
  reader: Reader,
  id: string,
  now: number,
): PromiseOrValue<Session | undefined> {
  return isRowId(id) ? reader.get(findActive, { id, now }) : undefined;
}

/** Lists the sessions of each user. Users without sessions are left out. */
export function listSessionsOf(
  reader: Reader,
  userIds: readonly string[],
  { after = beforeFirst, limit, now }: SessionSlice,
): PromiseOrValue<Map<string, Session[]>> {
  return whenDone(reader.all(pageOfEachUser, { userIds, ...after, limit, now }), (lists) =>
    readListsOfEach<Session>(userIds, lists, columns),
  );
}

/** Counts the sessions of each user. Users without sessions are left out. */
export function countSessionsOf(
  reader: Reader,
  userIds: readonly string[],
  now: number,
): PromiseOrValue<Map<string, number>> {
  return whenDone(reader.all(countOfEachUser, { userIds, now }), readCounts);
}

/** Reads the latest refreshes of each session, the newest first. Sessions without refreshes are left out. */
export function readRefreshesOf(
  reader: Reader,
  sessionIds: readonly string[],
): PromiseOrValue<Map<string, SessionRefresh[]>> {
  return whenDone(reader.all(findRefreshes, { sessionIds, max: maxRefreshes }), (rows) =>
    Map.groupBy(rows, ({ sessionId }) => sessionId),
  );
}

/** Lists the sessions of all users. */
export function listSessions(
  reader: Reader,
  { after = beforeFirst, limit, now }: SessionSlice,
): PromiseOrValue<Session[]> {
  return reader.all(findPage, { ...after, limit, now });
}

export function countSessions(reader: Reader, now: number): PromiseOrValue<number> {
  return whenDone(reader.get(countActive, { now }), (row) => row!.count);
}
