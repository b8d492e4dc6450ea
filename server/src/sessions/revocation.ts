/** Revokes sessions: their refresh token becomes invalid, and the row stores the reason. */

import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { firstId, list, sql } from '../database/statement.ts';
import { record, type ChangedBy, type Details } from '../journal/journal.ts';
import { maxAuthTokenSeconds } from '../config/token-settings.ts';
import { requireAdministrator, requireUser, type ViewerRights } from '../accounts/users.ts';
import { type Caller, type Changed, type Changes, noResult, numberResult } from '../journal/changes.ts';
import { Refusal } from '../refusal.ts';
import { readActiveSession } from './list-sessions.ts';

export interface Revocation extends ChangedBy {
  readonly because: 'logout' | 'replay' | 'revoked' | 'password' | 'disabled' | 'limit';
  /** Further details for the journal. */
  readonly details?: Details;
}

type Stored = Pick<Revocation, 'because' | 'now'>;

/** The maximum lifetime of an auth token. */
export const maxAuthTokenMs = maxAuthTokenSeconds * 1000;

const updateById = sql<Stored & { id: string }>`
  update sessions set revoked_at = ${'now'}, revoked_because = ${'because'}
  where id = ${'id'} and revoked_at is null`;

const updateByDigest = sql<Stored & { digest: Uint8Array }>`
  update sessions set revoked_at = ${'now'}, revoked_because = ${'because'}
  where refresh_digest = ${'digest'} and revoked_at is null and refresh_expires_at > ${'now'}`;

const updateByUser = sql<Stored & { userId: string; exceptId: string }>`
  update sessions set revoked_at = ${'now'}, revoked_because = ${'because'}
  where user_id = ${'userId'} and id <> ${'exceptId'} and revoked_at is null and refresh_expires_at > ${'now'}`;

/** Also revokes sessions that were logged out or have expired but may still have a valid auth token. */
const updateWithValidToken = sql<Stored & { userId: string; exceptId: string; since: number }>`
  update sessions set revoked_at = coalesce(revoked_at, ${'now'}), revoked_because = ${'because'}
  where user_id = ${'userId'} and id <> ${'exceptId'} and refreshed_at > ${'since'}
    and (revoked_because = 'logout' or revoked_at is null)`;

/** The active sessions of a user beyond the limit, except the new one. */
const findExcess = sql<
  { userId: string; newId: string; now: number; offset: number; limit: number },
  { id: string }
>`
  select id from sessions
  where user_id = ${'userId'} and id <> ${'newId'} and revoked_at is null and refresh_expires_at > ${'now'}
  order by refreshed_at desc, created_at desc, id desc limit ${'limit'} offset ${'offset'}`;

const updateByIds = sql<Stored & { ids: readonly string[] }>`
  update sessions set revoked_at = ${'now'}, revoked_because = ${'because'}
  where id in (select value from ${list('ids')}) and revoked_at is null`;

const findOwner = sql<{ id: string }, { userId: string }>`
  select user_id as "userId" from sessions where id = ${'id'}`;
const findByDigest = sql<{ digest: Uint8Array }, { id: string; userId: string }>`
  select id, user_id as "userId" from sessions where refresh_digest = ${'digest'}`;

const findRevocable = sql<{ id: string }, { id: string }>`
  select id from sessions where id = ${'id'} and revoked_at is null`;
const findRevocableByDigest = sql<{ digest: Uint8Array; now: number }, { id: string }>`
  select id from sessions
  where refresh_digest = ${'digest'} and revoked_at is null and refresh_expires_at > ${'now'}`;

/** Whether `revokeById` or `revokeByDigest` can revoke a session. Reads without a lock: the update itself decides. */
export async function isRevocable(
  reader: Reader,
  session: { readonly id: string } | { readonly digest: Uint8Array; readonly now: number },
): Promise<boolean> {
  const find = (): PromiseOrValue<object | undefined> =>
    'id' in session ? reader.get(findRevocable, session) : reader.get(findRevocableByDigest, session);
  return (await find()) !== undefined;
}

/** Has no effect on a revoked session. */
export async function revokeById(
  transaction: Transaction,
  id: string,
  revocation: Revocation,
): Promise<void> {
  const { because, now } = revocation;
  if ((await transaction.run(updateById, { id, because, now })) === 0) return;
  const { userId } = (await transaction.get(findOwner, { id }))!;
  recordEnd(transaction, { userId, sessionId: id }, revocation);
}

/** Returns false if the token is not the current one of an active session. */
export async function revokeByDigest(
  transaction: Transaction,
  digest: Uint8Array,
  { because, now }: Stored,
): Promise<boolean> {
  if ((await transaction.run(updateByDigest, { digest, because, now })) === 0) return false;
  const { id, userId } = (await transaction.get(findByDigest, { digest }))!;
  recordEnd(transaction, { userId, sessionId: id }, { because, now, byUserId: userId });
  return true;
}

/** Revokes all active sessions of a user, or all but one. Returns how many. */
export async function revokeUserSessions(
  transaction: Transaction,
  { userId, exceptId = firstId }: { userId: string; exceptId?: string | undefined },
  revocation: Revocation,
): Promise<number> {
  const { because, now } = revocation;
  const count = await transaction.run(updateByUser, { userId, exceptId, because, now });
  const since = now - maxAuthTokenMs;
  const withToken = await transaction.run(updateWithValidToken, { userId, exceptId, because, now, since });
  if (count + withToken > 0) recordEnd(transaction, { userId }, revocation, count);
  return count;
}

/**
 * Revokes the least recently used sessions of a user until `max` remain, including the new one. Returns the ids of the revoked
 * sessions. It runs in a journal transaction, so two logins cannot count the same sessions.
 */
export async function revokeExcess(
  transaction: Transaction,
  { userId, newId, max }: { userId: string; newId: string; max: number },
  now: number,
): Promise<readonly string[]> {
  const limit = 2 ** 31 - 1;
  const excess = await transaction.all(findExcess, { userId, newId, now, offset: max - 1, limit });
  const ids = excess.map(({ id }) => id);
  if (ids.length === 0) return ids;
  const revocation = { because: 'limit', now, byUserId: null } as const;
  await transaction.run(updateByIds, { ids, ...revocation });
  const [sessionId] = ids;
  if (ids.length === 1) recordEnd(transaction, { userId, sessionId: sessionId! }, revocation);
  else recordEnd(transaction, { userId }, revocation, ids.length);
  return ids;
}

/** `count` is set if the entry is about several sessions. */
function recordEnd(
  transaction: Transaction,
  ended: { readonly userId: string; readonly sessionId?: string },
  { because, now, byUserId, details }: Revocation,
  count?: number,
): void {
  const after = { because, count, ...details };
  record(transaction, { kind: 'END_SESSION', at: now, byUserId, ...ended, after });
}

export interface SessionRevocations {
  revoke(caller: Caller, id: string): Promise<Changed<void>>;
  /** Revokes all sessions of a user, by default the caller, or all but the caller's session. Returns how many. */
  revokeAll(
    caller: Caller,
    input: { userId?: string | null | undefined; keepCurrent: boolean },
  ): Promise<Changed<number>>;
}

/** The revocations that a viewer can request: of own sessions, and for administrators of any session. */
export function manageSessions(changes: Changes<ViewerRights>): SessionRevocations {
  return {
    revoke: (caller, id) =>
      changes.run(caller, {
        codec: noResult,
        work: async (transaction, { userId, isAdministrator }, by) => {
          const session = await readActiveSession(transaction, id, by.now);
          if (!session || (session.userId !== userId && !isAdministrator)) {
            throw new Refusal('NOT_FOUND', 'There is no session with this id, or it has ended already.');
          }
          await revokeById(transaction, id, { because: 'revoked', ...by });
        },
      }),
    revokeAll: (caller, { userId: requestedId, keepCurrent }) => {
      const userId = requestedId ?? caller.userId;
      return changes.run(caller, {
        codec: numberResult,
        ...(userId !== caller.userId && { check: requireAdministrator }),
        work: async (transaction, _, by) => {
          await requireUser(transaction, userId);
          const exceptId = keepCurrent ? caller.sessionId : undefined;
          return revokeUserSessions(transaction, { userId, exceptId }, { because: 'revoked', ...by });
        },
      });
    },
  };
}
