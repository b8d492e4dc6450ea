/** Ending sessions before their time: their refresh token is useless from then on, and the row says why. */

import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { firstId } from '../database/statement.ts';
import { list, sql } from '../database/statement.ts';
import { record, type ChangedBy, type Details } from '../journal/journal.ts';
import { maxAuthTokenSeconds } from '../config/token-settings.ts';
import { type ViewerRights, requireAdministrator } from '../accounts/users.ts';
import { requireUser } from '../accounts/users.ts';
import { type Caller, type Changed, type Changes, nothing, numberResult } from '../journal/changes.ts';
import { Refusal } from '../refusal.ts';
import { readActiveSession } from './list-sessions.ts';

export interface Revocation extends ChangedBy {
  readonly because: 'logout' | 'replay' | 'revoked' | 'password' | 'disabled' | 'limit';
  /** What else the journal tells of it. */
  readonly details?: Details;
}

type Stored = Pick<Revocation, 'because' | 'now'>;

/** No auth token lives longer. */
export const maxAuthTokenMs = maxAuthTokenSeconds * 1000;

const byId = sql<Stored & { id: string }>`
  update sessions set revoked_at = ${'now'}, revoked_because = ${'because'}
  where id = ${'id'} and revoked_at is null`;

const byDigest = sql<Stored & { digest: Uint8Array }>`
  update sessions set revoked_at = ${'now'}, revoked_because = ${'because'}
  where refresh_digest = ${'digest'} and revoked_at is null and refresh_expires_at > ${'now'}`;

const byUser = sql<Stored & { userId: string; exceptId: string }>`
  update sessions set revoked_at = ${'now'}, revoked_because = ${'because'}
  where user_id = ${'userId'} and id <> ${'exceptId'} and revoked_at is null and refresh_expires_at > ${'now'}`;

/**
 * A session that was logged out, or was not refreshed in time, may have an auth token that lives. What ends all
 * sessions of a user ends those, too.
 */
const withTokenLeft = sql<Stored & { userId: string; exceptId: string; since: number }>`
  update sessions set revoked_at = coalesce(revoked_at, ${'now'}), revoked_because = ${'because'}
  where user_id = ${'userId'} and id <> ${'exceptId'} and refreshed_at > ${'since'}
    and (revoked_because = 'logout' or revoked_at is null)`;

/** The living sessions of a user without the newest login and the most recently used others. */
const findExcess = sql<
  { userId: string; newId: string; now: number; kept: number; limit: number },
  { id: string }
>`
  select id from sessions
  where user_id = ${'userId'} and id <> ${'newId'} and revoked_at is null and refresh_expires_at > ${'now'}
  order by refreshed_at desc, created_at desc, id desc limit ${'limit'} offset ${'kept'}`;

const byIds = sql<Stored & { ids: readonly string[] }>`
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

/** Whether `revokeById` or `revokeByDigest` may have something to revoke. Takes no lock: the update itself decides. */
export async function isRevocable(
  reader: Reader,
  session: { readonly id: string } | { readonly digest: Uint8Array; readonly now: number },
): Promise<boolean> {
  const find = (): PromiseOrValue<object | undefined> =>
    'id' in session ? reader.get(findRevocable, session) : reader.get(findRevocableByDigest, session);
  return (await find()) !== undefined;
}

/** Changes nothing if it has ended already. */
export async function revokeById(
  transaction: Transaction,
  id: string,
  revocation: Revocation,
): Promise<void> {
  const { because, now } = revocation;
  if ((await transaction.run(byId, { id, because, now })) === 0) return;
  const { userId } = (await transaction.get(findOwner, { id }))!;
  recordEnd(transaction, { userId, sessionId: id }, revocation);
}

/** Answers false if it is not the current token of a living session. */
export async function revokeByDigest(
  transaction: Transaction,
  digest: Uint8Array,
  { because, now }: Stored,
): Promise<boolean> {
  if ((await transaction.run(byDigest, { digest, because, now })) === 0) return false;
  const { id, userId } = (await transaction.get(findByDigest, { digest }))!;
  recordEnd(transaction, { userId, sessionId: id }, { because, now, byUserId: userId });
  return true;
}

/** Ends all living sessions of a user, or all but one; answers how many. */
export async function revokeUserSessions(
  transaction: Transaction,
  { userId, exceptId = firstId }: { userId: string; exceptId?: string | undefined },
  revocation: Revocation,
): Promise<number> {
  const { because, now } = revocation;
  const count = await transaction.run(byUser, { userId, exceptId, because, now });
  const since = now - maxAuthTokenMs;
  const afterwards = await transaction.run(withTokenLeft, { userId, exceptId, because, now, since });
  if (count + afterwards > 0) recordEnd(transaction, { userId }, revocation, count);
  return count;
}

/**
 * Ends the least recently used sessions of a user until at most `max` are left with the one that has just begun. Returns
 * the ids of the ended sessions. The caller has taken its turn, so two logins cannot count the same sessions.
 */
export async function revokeExcess(
  transaction: Transaction,
  { userId, newId, max }: { userId: string; newId: string; max: number },
  now: number,
): Promise<readonly string[]> {
  const limit = 2 ** 31 - 1;
  const excess = await transaction.all(findExcess, { userId, newId, now, kept: max - 1, limit });
  const ids = excess.map(({ id }) => id);
  if (ids.length === 0) return ids;
  const revocation = { because: 'limit', now, byUserId: null } as const;
  await transaction.run(byIds, { ids, ...revocation });
  const [sessionId] = ids;
  if (ids.length === 1) recordEnd(transaction, { userId, sessionId: sessionId! }, revocation);
  else recordEnd(transaction, { userId }, revocation, ids.length);
  return ids;
}

/** `count` is how many, where it is not about one. */
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
  /** Ends all sessions of a user, by default the caller, or all but the caller's session. Answers how many. */
  revokeAll(
    caller: Caller,
    input: { userId?: string | null | undefined; keepCurrent: boolean },
  ): Promise<Changed<number>>;
}

export function manageSessions(changes: Changes<ViewerRights>): SessionRevocations {
  return {
    revoke: (caller, id) =>
      changes.run(caller, {
        memory: nothing,
        work: async (transaction, { userId, isAdministrator }, by) => {
          const session = await readActiveSession(transaction, id, by.now);
          if (!session || (session.userId !== userId && !isAdministrator)) {
            throw new Refusal('NOT_FOUND', 'There is no session with this id, or it has ended already.');
          }
          await revokeById(transaction, id, { because: 'revoked', ...by });
        },
      }),
    revokeAll: (caller, { userId: given, keepCurrent }) => {
      const userId = given ?? caller.userId;
      return changes.run(caller, {
        memory: numberResult,
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
