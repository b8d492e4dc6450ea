/** Reads sessions. Lists contain only active sessions, which are neither revoked nor expired, with the newest first. */

import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Reader } from '../database/database.ts';
import {
  isRowId,
  lastId,
  list,
  listForEach,
  readListsOfEach,
  sql,
  type ListOfEach,
} from '../database/statement.ts';

export interface Session extends Client {
  readonly id: string;
  readonly userId: string;
  readonly createdAt: number;
  readonly refreshedAt: number;
  readonly expiresAt: number;
}

/** An exchange of a refresh token, and the replays of the spent token since. */
export interface SessionRefresh extends Client {
  readonly sessionId: string;
  readonly at: number;
  readonly replays: number;
  readonly replayedAt: number | null;
  readonly replayAddress: string | null;
  readonly replayAgent: string | null;
}

/** The position of a session in a list. */
export type SessionPosition = Pick<Session, 'createdAt' | 'id'>;

export interface SessionSlice {
  readonly after: SessionPosition | undefined;
  readonly limit: number;
  readonly now: number;
}

const selectSession = sql`
  select id, user_id as "userId", created_at as "createdAt", refreshed_at as "refreshedAt",
    refresh_expires_at as "expiresAt", address, agent
  from sessions`;
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

type SliceParameters = SessionPosition & { readonly limit: number; readonly now: number };

const follows = sql`${isActive} and (created_at, id) < (${'createdAt'}, ${'id'})`;
const newestFirst = sql`created_at desc, id desc`;
const page = sql<SliceParameters, Session>`
  ${selectSession} where ${follows} order by ${newestFirst} limit ${'limit'}`;
const count = sql<{ now: number }, { count: number }>`
  select count(*) as count from sessions where ${isActive}`;
const pageOfEachUser = sql<SliceParameters & { userIds: readonly string[] }, ListOfEach>`
  ${listForEach('userIds', {
    table: 'sessions',
    columns: ['id', 'user_id', 'created_at', 'refreshed_at', 'refresh_expires_at', 'address', 'agent'],
    where: sql`user_id = each.value and ${follows}`,
    orderBy: newestFirst,
    limit: sql`${'limit'}`,
  })}`;
const countOfEachUser = sql<{ userIds: readonly string[]; now: number }, { userId: string; count: number }>`
  select user_id as "userId", count(*) as count from sessions
  where user_id in (select value from ${list('userIds')}) and ${isActive} group by user_id`;

type SessionColumns = [
  id: string,
  userId: string,
  createdAt: number,
  refreshedAt: number,
  expiresAt: number,
  address: string | null,
  agent: string | null,
];

const beforeAll: SessionPosition = { createdAt: Number.MAX_SAFE_INTEGER, id: lastId };

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
  { after = beforeAll, limit, now }: SessionSlice,
): PromiseOrValue<Map<string, Session[]>> {
  return whenDone(reader.all(pageOfEachUser, { userIds, ...after, limit, now }), (lists) =>
    readListsOfEach(userIds, lists, toSession),
  );
}

/** Counts the sessions of each user. Users without sessions are left out. */
export function countSessionsOf(
  reader: Reader,
  userIds: readonly string[],
  now: number,
): PromiseOrValue<Map<string, number>> {
  return whenDone(
    reader.all(countOfEachUser, { userIds, now }),
    (rows) => new Map(rows.map(({ userId, count }) => [userId, count])),
  );
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
  { after = beforeAll, limit, now }: SessionSlice,
): PromiseOrValue<Session[]> {
  return reader.all(page, { ...after, limit, now });
}

export function countSessions(reader: Reader, now: number): PromiseOrValue<number> {
  return whenDone(reader.get(count, { now }), (row) => row!.count);
}

function toSession([id, userId, createdAt, refreshedAt, expiresAt, address, agent]: SessionColumns): Session {
  return { id, userId, createdAt, refreshedAt, expiresAt, address, agent };
}

/** The client of a login or a refresh, as users see it in the list of sessions. */
export interface Client {
  readonly address: string | null;
  /** The `User-Agent` header. */
  readonly agent: string | null;
}
