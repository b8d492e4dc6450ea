/**
 * Revokes sessions: their refresh token becomes invalid, and the row stores the reason. A cache of revoked sessions makes their auth
 * tokens invalid on all nodes, except after a logout.
 */

import { readRevokedApiKeys } from '../accounts/api-keys.ts';
import { requireAdministrator, requireUser, type ViewerRights } from '../accounts/users.ts';
import type { Clock } from '../clock.ts';
import { maxAuthTokenSeconds } from '../config/settings-table.ts';
import type { Database, Transaction } from '../database/database.ts';
import { firstId, list, sql, type Statement } from '../database/statement.ts';
import {
  numberCodec,
  voidCodec,
  type Caller,
  type Changed,
  type ChangeRunner,
} from '../journal/change-runner.ts';
import { detailsOf } from '../journal/journal-entry.ts';
import type { JournalFeed } from '../journal/journal-feed.ts';
import { record, runChange, type ChangeOrigin, type Details } from '../journal/journal.ts';
import { pruneInBatches } from '../journal/prune.ts';
import { Refusal } from '../refusal.ts';
import { readActiveSession } from './session-reads.ts';

interface Revocation extends ChangeOrigin {
  readonly because:
    | 'logout'
    | 'replay'
    | 'revoked'
    | 'password'
    | 'second-factor'
    | 'disabled'
    | 'limit'
    | 'provider';
  /** Further details for the journal. */
  readonly details?: Details;
}

type RevocationColumns = Pick<Revocation, 'because' | 'now'>;

/** A session with its user, as journal entries name them. */
export interface SessionOfUser {
  readonly sessionId: string;
  readonly userId: string;
}

/** The maximum lifetime of an auth token. */
export const maxAuthTokenMs = maxAuthTokenSeconds * 1000;

/** The auth token of a session that was last refreshed before this time has expired. */
export function tokenSince(now: number): number {
  return now - maxAuthTokenMs;
}

/** A read checks these conditions first, so that useless requests do not wait for the write lock. The update checks them again. */
const isRevocable = sql`id = ${'sessionId'} and revoked_at is null`;
/** A session that was logged out also has a valid auth token, until the token expires. */
export const mayHaveToken = sql`(revoked_at is null or (revoked_because = 'logout' and refreshed_at > ${'since'}))`;
const isRevocableDigest = sql`refresh_digest = ${'digest'} and revoked_at is null and refresh_expires_at > ${'now'}`;

const findRevocable = sql<{ sessionId: string }, SessionOfUser>`
  select id as "sessionId", user_id as "userId" from sessions where ${isRevocable}`;
const findRevocableByDigest = sql<{ digest: Uint8Array; now: number }, SessionOfUser>`
  select id as "sessionId", user_id as "userId" from sessions where ${isRevocableDigest}`;

const revokeWhere = <More>(condition: Statement) => sql<RevocationColumns & More>`
  update sessions set revoked_at = ${'now'}, revoked_because = ${'because'} where ${condition}`;
const updateById = revokeWhere<{ sessionId: string }>(isRevocable);
/** The time of a logout stays, because the session is deleted some time after it. */
const updateByIdWithToken = sql<RevocationColumns & { sessionId: string; since: number }>`
  update sessions set revoked_at = coalesce(revoked_at, ${'now'}), revoked_because = ${'because'}
  where id = ${'sessionId'} and ${mayHaveToken}`;
const updateByDigest = revokeWhere<{ digest: Uint8Array }>(isRevocableDigest);
const updateByUser = revokeWhere<{ userId: string; exceptId: string }>(sql`user_id = ${'userId'}
  and id <> ${'exceptId'} and revoked_at is null and refresh_expires_at > ${'now'}`);
const updateByIds = revokeWhere<{ ids: readonly string[] }>(sql`
  id in (select value from ${list('ids')}) and revoked_at is null`);

/** Also revokes sessions that were logged out or have expired but may still have a valid auth token. */
const updateWithValidToken = sql<RevocationColumns & { userId: string; exceptId: string; since: number }>`
  update sessions set revoked_at = coalesce(revoked_at, ${'now'}), revoked_because = ${'because'}
  where user_id = ${'userId'} and id <> ${'exceptId'} and refreshed_at > ${'since'} and ${mayHaveToken}`;

/** The active sessions of a user beyond the limit, except the new one. SQLite requires a limit before the offset. */
const findExcess = sql<{ userId: string; newId: string; now: number; offset: number }, { id: string }>`
  select id from sessions
  where user_id = ${'userId'} and id <> ${'newId'} and revoked_at is null and refresh_expires_at > ${'now'}
  order by refreshed_at desc, created_at desc, id desc limit 2147483647 offset ${'offset'}`;

/** Revokes a session and its auth token, unless it is already revoked. A session that was logged out can still have a valid auth token. */
export async function revokeSession(
  transaction: Transaction,
  { sessionId, userId }: SessionOfUser,
  revocation: Revocation,
): Promise<void> {
  const { because, now } = revocation;
  const parameters = { sessionId, because, now, since: tokenSince(now) };
  const changed = await transaction.run(updateByIdWithToken, parameters);
  if (changed > 0) recordEnd(transaction, { sessionId, userId }, revocation);
}

/** Logs out a session. Waits for the write lock only if the session is not revoked yet. */
export async function logOutSession(
  database: Database,
  clock: Clock,
  { sessionId, userId }: SessionOfUser,
): Promise<void> {
  if (!(await database.get(findRevocable, { sessionId }))) return;
  await runChange(database, async (transaction) => {
    const revocation = { because: 'logout', now: clock.now() } as const;
    const changed = await transaction.run(updateById, { sessionId, ...revocation });
    if (changed > 0) recordEnd(transaction, { sessionId, userId }, { ...revocation, byUserId: userId });
  });
}

/**
 * Logs out the session whose current refresh token has this digest. Returns false if there is none. Any client can send an
 * unknown token. Only a request with a known token waits for the write lock.
 */
export async function logOutByDigest(database: Database, clock: Clock, digest: Uint8Array): Promise<boolean> {
  const session = await database.get(findRevocableByDigest, { digest, now: clock.now() });
  if (!session) return false;
  return runChange(database, async (transaction) => {
    const revocation = { because: 'logout', now: clock.now() } as const;
    const changed = await transaction.run(updateByDigest, { digest, ...revocation });
    if (changed > 0) recordEnd(transaction, session, { ...revocation, byUserId: session.userId });
    return changed > 0;
  });
}

/** Revokes all active sessions of a user, or all but one. Returns their number. */
export async function revokeUserSessions(
  transaction: Transaction,
  // No session has the id `firstId`.
  { userId, exceptId = firstId }: { userId: string; exceptId?: string | undefined },
  revocation: Revocation,
): Promise<number> {
  const { because, now } = revocation;
  const parameters = { userId, exceptId, because, now, since: tokenSince(now) };
  const count = await transaction.run(updateByUser, parameters);
  const withToken = await transaction.run(updateWithValidToken, parameters);
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
  const excess = await transaction.all(findExcess, { userId, newId, now, offset: max - 1 });
  const ids = excess.map(({ id }) => id);
  const [sessionId, ...otherIds] = ids;
  if (sessionId === undefined) return ids;
  const revocation = { because: 'limit', now, byUserId: null } as const;
  await transaction.run(updateByIds, { ids, ...revocation });
  if (otherIds.length === 0) recordEnd(transaction, { userId, sessionId }, revocation);
  else recordEnd(transaction, { userId }, revocation, ids.length);
  return ids;
}

/** `count` is set if the entry is about several sessions. */
function recordEnd(
  transaction: Transaction,
  target: { readonly userId: string; readonly sessionId?: string },
  { because, details, ...by }: Revocation,
  count?: number,
): void {
  const after = { because, count, ...details };
  record(transaction, { kind: 'END_SESSION', ...by, ...target, after });
}

/** The revocations that a viewer can request. Users can revoke their own sessions, and administrators all sessions. */
export class SessionRevocations {
  readonly #changes: ChangeRunner<ViewerRights>;

  constructor(changes: ChangeRunner<ViewerRights>) {
    this.#changes = changes;
  }

  revoke(caller: Caller, id: string): Promise<Changed<void>> {
    return this.#changes.run(caller, {
      codec: voidCodec,
      work: async (transaction, { userId, isAdministrator }, by) => {
        const session = await readActiveSession(transaction, id, by.now);
        const isOwn = session?.userId === userId && caller.sessionId !== undefined;
        if (!session || !(isOwn || isAdministrator)) {
          throw new Refusal('NOT_FOUND', 'There is no session with this id, or it has already ended.');
        }
        const revoked = { sessionId: id, userId: session.userId };
        await revokeSession(transaction, revoked, { because: 'revoked', ...by });
      },
    });
  }

  /** Revokes all sessions of a user, by default the caller, or all but the caller's session. Returns their number. */
  revokeAll(
    caller: Caller,
    input: { readonly userId?: string | null | undefined; readonly keepCurrent: boolean },
  ): Promise<Changed<number>> {
    const userId = input.userId ?? caller.userId;
    return this.#changes.run(caller, {
      codec: numberCodec,
      ...((userId !== caller.userId || caller.sessionId === undefined) && { check: requireAdministrator }),
      work: async (transaction, _, by) => {
        await requireUser(transaction, userId);
        const exceptId = input.keepCurrent ? caller.sessionId : undefined;
        return revokeUserSessions(transaction, { userId, exceptId }, { because: 'revoked', ...by });
      },
    });
  }
}

interface RevocationCacheOptions {
  readonly database: Database;
  readonly feed: JournalFeed;
  readonly clock: Clock;
  /** Called for a failed read. The read is retried. */
  readonly onError: (error: unknown) => void;
}

/** A revoked session, a revoked API key, or a disabled or deleted user. */
interface RevokedId {
  readonly id: string;
  readonly at: number;
}

const retryMs = 500;

const isRevoked = sql`revoked_at > ${'since'} and revoked_because <> 'logout'`;
const findRevoked = sql<{ since: number }, RevokedId>`
  select id, revoked_at as at from sessions where ${isRevoked}`;
const findRevokedOfUser = sql<{ since: number; userId: string }, RevokedId>`
  select id, revoked_at as at from sessions where user_id = ${'userId'} and ${isRevoked}`;

/** Deleting a user also deletes the rows of the sessions. */
const findDeletedUsers = sql<{ since: number }, RevokedId>`
  select id, deleted_at as at from deleted_users where deleted_at > ${'since'}`;
/** Disabling a user revokes the sessions. The API keys stay, and work again when the user is enabled. */
const findDisabledUsers = sql<object, RevokedId>`
  select id, disabled_at as at from users
  where disabled_at is not null and exists (select 1 from api_keys where user_id = users.id)`;
const deletedUsersUpTo = {
  findAny: sql<{ upTo: number }, object>`
    select id from deleted_users where deleted_at <= ${'upTo'} limit 1`,
  prune: sql<{ upTo: number }>`delete from deleted_users where deleted_at <= ${'upTo'}`,
};

/** The session or the API key of a viewer. */
interface Credential {
  readonly userId: string;
  readonly sessionId: string | undefined;
  readonly apiKeyId?: string | undefined;
}

/**
 * Caches revoked sessions and API keys in memory as long as their auth tokens and sockets can be open. The journal feeds the cache, so
 * that checking a token needs no database read and a revocation on one node applies to all nodes. After a plain
 * logout, the auth token stays valid until it expires, as the API promises.
 */
export class RevocationCache {
  readonly #options: RevocationCacheOptions;
  readonly #sessions = new Map<string, number>();
  readonly #users = new Map<string, number>();
  readonly #apiKeys = new Map<string, number>();
  #disabledUsers = new Set<string>();
  /** Whether users were disabled or enabled since the last read of the disabled users began. These changes are later than the read. */
  #changesDuringRead = new Map<string, boolean>();

  static async open(options: RevocationCacheOptions): Promise<RevocationCache> {
    const cache = new RevocationCache(options);
    const { feed } = options;
    feed.onEntry(({ kind, userId, sessionId, at, before, after }): void | Promise<void> => {
      if (!userId) return;
      if (kind === 'DELETE_USER') cache.#users.set(userId, at);
      if (kind === 'REVOKE_API_KEY') cache.#apiKeys.set(String(detailsOf(before)['apiKeyId']), at);
      if (kind === 'UPDATE_USER') cache.#setDisabled(userId, detailsOf(after)['isDisabled']);
      if (kind !== 'END_SESSION' || detailsOf(after)['because'] === 'logout') return;
      if (!sessionId) return cache.#loadWithRetry(() => cache.#loadUser(userId));
      cache.add(sessionId, at);
    });
    feed.onGap(() => void cache.#loadWithRetry(() => cache.#loadAll()));
    await cache.#loadAll();
    return cache;
  }

  private constructor(options: RevocationCacheOptions) {
    this.#options = options;
  }

  /** Applies a revocation immediately on this node. Optional, because the journal delivers every revocation. */
  add(sessionId: string, at: number): void {
    this.#sessions.set(sessionId, at);
  }

  has({ userId, sessionId, apiKeyId }: Credential): boolean {
    if (this.#users.has(userId)) return true;
    if (apiKeyId !== undefined) return this.#apiKeys.has(apiKeyId) || this.#disabledUsers.has(userId);
    return sessionId !== undefined && this.#sessions.has(sessionId);
  }

  /** `isDisabled` is undefined if the entry did not change it. */
  #setDisabled(userId: string, isDisabled: unknown): void {
    if (typeof isDisabled !== 'boolean') return;
    this.#changesDuringRead.set(userId, isDisabled);
    if (isDisabled) this.#disabledUsers.add(userId);
    else this.#disabledUsers.delete(userId);
  }

  /** Deletes entries whose auth tokens have expired. */
  async prune(): Promise<void> {
    const upTo = this.#since();
    for (const entries of [this.#sessions, this.#users, this.#apiKeys]) {
      for (const [id, at] of entries) if (at <= upTo) entries.delete(id);
    }
    await pruneInBatches(this.#options.database, deletedUsersUpTo, { upTo }, 1);
  }

  #since(): number {
    return tokenSince(this.#options.clock.now());
  }

  async #loadAll(): Promise<void> {
    const { database } = this.#options;
    const since = this.#since();
    for (const { id, at } of await database.all(findRevoked, { since })) this.#sessions.set(id, at);
    for (const { id, at } of await database.all(findDeletedUsers, { since })) this.#users.set(id, at);
    for (const { id, at } of await readRevokedApiKeys(database)) this.#apiKeys.set(id, at);
    const changes = new Map<string, boolean>();
    this.#changesDuringRead = changes;
    const disabled = await database.all(findDisabledUsers, {});
    // A later read has begun, after a second gap. This older result must not replace that of the later read.
    if (changes !== this.#changesDuringRead) return;
    this.#disabledUsers = new Set(disabled.map(({ id }) => id));
    for (const [userId, isDisabled] of changes) this.#setDisabled(userId, isDisabled);
  }

  async #loadUser(userId: string): Promise<void> {
    const { database } = this.#options;
    const revoked = await database.all(findRevokedOfUser, { since: this.#since(), userId });
    for (const { id, at } of revoked) this.#sessions.set(id, at);
  }

  /** Retries until the read succeeds, because a failed read must not keep a revoked session valid. */
  #loadWithRetry(load: () => Promise<void>): Promise<void> {
    return load().catch((error: unknown) => {
      if (this.#options.feed.isClosed) return;
      this.#options.onError(error);
      setTimeout(() => void this.#loadWithRetry(load), retryMs).unref();
    });
  }
}
