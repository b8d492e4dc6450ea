/** Reading sessions. A list has the living ones only: not revoked and not expired; the newest first. */

import { whenDone, type PromiseOrValue, type Reader } from '../database/database.ts';
import { isRowId, lastId } from '../database/row-id.ts';
import { list, sql, type Statement } from '../database/statement.ts';
import type { Client } from './client.ts';

export interface Session extends Client {
  readonly id: string;
  readonly userId: string;
  readonly createdAt: number;
  readonly refreshedAt: number;
  readonly expiresAt: number;
}

/** An exchange of a refresh token of a session, and what was seen of the spent token since. */
export interface SessionRefresh extends Client {
  readonly sessionId: string;
  readonly at: number;
  readonly replays: number;
  readonly replayedAt: number | null;
  readonly replayAddress: string | null;
  readonly replayAgent: string | null;
}

/** Everybody's sessions, or those of one user. */
export interface SessionFilter {
  readonly userId?: string | undefined;
  readonly now: number;
}

/** The place of a session in a list. */
export type SessionPlace = Pick<Session, 'createdAt' | 'id'>;

const selectSession = sql`
  select id, user_id as "userId", created_at as "createdAt", refreshed_at as "refreshedAt",
    refresh_expires_at as "expiresAt", address, agent
  from sessions`;
const isLiving = sql`revoked_at is null and refresh_expires_at > ${'now'}`;

const findById = sql<{ id: string }, Session>`${selectSession} where id = ${'id'}`;
const findLiving = sql<{ id: string; now: number }, Session>`
  ${selectSession} where id = ${'id'} and ${isLiving}`;
const findOfUsers = sql<{ userIds: readonly string[]; now: number }, Session>`
  ${selectSession} where user_id in (select value from ${list('userIds')}) and ${isLiving}
  order by created_at desc, id desc`;

/** The latest of each session. */
const mostRefreshes = 20;
const findRefreshes = sql<{ sessionIds: readonly string[]; most: number }, SessionRefresh>`
  select session_id as "sessionId", spent_at as at, address, agent, replays, replayed_at as "replayedAt",
    replay_address as "replayAddress", replay_agent as "replayAgent"
  from ${list('sessionIds')} join spent_refresh_tokens on digest in (
    select digest from spent_refresh_tokens where session_id = each.value order by spent_at desc limit ${'most'})
  order by session_id, spent_at desc`;

/** The statements of one kind of list; `chosen` says which rows it has. */
const statementsOf = (chosen: Statement) => ({
  page: sql<SessionFilter & SessionPlace & { limit: number }, Session>`
    ${selectSession} where ${chosen} and (created_at, id) < (${'createdAt'}, ${'id'})
    order by created_at desc, id desc limit ${'limit'}`,
  count: sql<SessionFilter, { count: number }>`select count(*) as count from sessions where ${chosen}`,
  downTo: sql<SessionFilter & SessionPlace, { id: string }>`
    select id from sessions where ${chosen} and (created_at, id) >= (${'createdAt'}, ${'id'}) limit 1`,
});

const everybodys = statementsOf(isLiving);
const ofOneUser = statementsOf(sql`user_id = ${'userId'} and ${isLiving}`);

const beforeAll: SessionPlace = { createdAt: Number.MAX_SAFE_INTEGER, id: lastId };

/** Living or not. */
export function readSession(reader: Reader, id: string): PromiseOrValue<Session | undefined> {
  return reader.get(findById, { id });
}

export function readLivingSession(
  reader: Reader,
  id: string,
  now: number,
): PromiseOrValue<Session | undefined> {
  return isRowId(id) ? reader.get(findLiving, { id, now }) : undefined;
}

/** The sessions of each user; a user without any is not in the map. */
export function readSessionsOf(
  reader: Reader,
  userIds: readonly string[],
  now: number,
): PromiseOrValue<Map<string, Session[]>> {
  return whenDone(reader.all(findOfUsers, { userIds, now }), (rows) =>
    Map.groupBy(rows, ({ userId }) => userId),
  );
}

/** The latest refreshes of each session, the newest first; a session without any is not in the map. */
export function readRefreshesOf(
  reader: Reader,
  sessionIds: readonly string[],
): PromiseOrValue<Map<string, SessionRefresh[]>> {
  return whenDone(reader.all(findRefreshes, { sessionIds, most: mostRefreshes }), (rows) =>
    Map.groupBy(rows, ({ sessionId }) => sessionId),
  );
}

export function listSessions(
  reader: Reader,
  filter: SessionFilter,
  { after = beforeAll, limit }: { after: SessionPlace | undefined; limit: number },
): PromiseOrValue<Session[]> {
  return reader.all(statementsFor(filter).page, { ...filter, ...after, limit });
}

export function countSessions(reader: Reader, filter: SessionFilter): PromiseOrValue<number> {
  return whenDone(reader.get(statementsFor(filter).count, filter), (row) => row!.count);
}

/** Whether the list begins at or before the place. */
export function hasSessionsDownTo(
  reader: Reader,
  filter: SessionFilter,
  { createdAt, id }: SessionPlace,
): PromiseOrValue<boolean> {
  return whenDone(reader.get(statementsFor(filter).downTo, { ...filter, createdAt, id }), Boolean);
}

function statementsFor({ userId }: SessionFilter) {
  return userId === undefined ? everybodys : ofOneUser;
}
