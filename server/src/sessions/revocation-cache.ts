/**
 * Caches revoked sessions in memory as long as their auth tokens can be valid. The journal feeds the cache, so that checking a
 * token needs no database read and a revocation on one node applies to all nodes. A plain logout is not included: the
 * contract keeps its auth token valid.
 */

import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { runChange } from '../journal/journal.ts';
import { detailsOf } from '../journal/journal-entry.ts';
import type { JournalFeed } from '../journal/journal-feed.ts';
import { maxAuthTokenMs } from './revocation.ts';

export interface RevocationCache {
  /** Adds a revocation that this node has committed, before the journal delivers it. */
  add(sessionId: string, at: number): void;
  has(session: { readonly userId: string; readonly sessionId: string }): boolean;
  /** Deletes entries whose auth tokens have expired. */
  prune(): Promise<void>;
}

export interface RevocationCacheOptions {
  readonly database: Database;
  readonly feed: JournalFeed;
  readonly clock: Clock;
  /** Called for a failed read. The read is retried. */
  readonly onError: (error: unknown) => void;
}

interface Entry {
  readonly id: string;
  readonly at: number;
}

const retryMs = 500;

const isRevoked = sql`revoked_at > ${'since'} and revoked_because <> 'logout'`;
const findRevoked = sql<
  { since: number },
  Entry
>`select id, revoked_at as at from sessions where ${isRevoked}`;
const findRevokedOfUser = sql<{ since: number; userId: string }, Entry>`
  select id, revoked_at as at from sessions where user_id = ${'userId'} and ${isRevoked}`;

/** Deleting a user also deletes the rows of the sessions. */
const findDeletedUsers = sql<{ since: number }, Entry>`
  select id, deleted_at as at from deleted_users where deleted_at > ${'since'}`;
const findPrunableUser = sql<{ since: number }, { id: string }>`
  select id from deleted_users where deleted_at <= ${'since'} limit 1`;
const deletePrunableUsers = sql<{ since: number }>`delete from deleted_users where deleted_at <= ${'since'}`;

export async function createRevocationCache(options: RevocationCacheOptions): Promise<RevocationCache> {
  const { database, feed, clock, onError } = options;
  const since = () => clock.now() - maxAuthTokenMs;
  const sessions = new Map<string, number>();
  const users = new Map<string, number>();
  const addAll = (cache: Map<string, number>, entries: readonly Entry[]) =>
    entries.forEach(({ id, at }) => cache.set(id, at));

  async function loadAll(): Promise<void> {
    addAll(sessions, await database.all(findRevoked, { since: since() }));
    addAll(users, await database.all(findDeletedUsers, { since: since() }));
  }

  async function loadUser(userId: string): Promise<void> {
    addAll(sessions, await database.all(findRevokedOfUser, { since: since(), userId }));
  }

  /** Retries until the read succeeds: a failed read must not keep a revoked session valid. */
  function loadWithRetry(load: () => Promise<void>): Promise<void> {
    return load().catch((error: unknown) => {
      if (feed.isClosed) return;
      onError(error);
      setTimeout(() => void loadWithRetry(load), retryMs).unref();
    });
  }

  feed.onEntry(({ kind, userId, sessionId, at, after }): void | Promise<void> => {
    if (!userId) return;
    if (kind === 'DELETE_USER') users.set(userId, at);
    if (kind !== 'END_SESSION' || detailsOf(after)['because'] === 'logout') return;
    if (!sessionId) return loadWithRetry(() => loadUser(userId));
    sessions.set(sessionId, at);
  });
  feed.onGap(() => void loadWithRetry(loadAll));
  await loadAll();

  return {
    add: (sessionId, at) => void sessions.set(sessionId, at),
    has: ({ userId, sessionId }) => sessions.has(sessionId) || users.has(userId),
    async prune() {
      for (const cache of [sessions, users]) {
        for (const [id, at] of cache) if (at <= since()) cache.delete(id);
      }
      if (!(await database.get(findPrunableUser, { since: since() }))) return;
      await runChange(database, (transaction) => transaction.run(deletePrunableUsers, { since: since() }));
    },
  };
}
