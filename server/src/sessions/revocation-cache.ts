/**
 * Sessions that were ended before their auth tokens are: by somebody, not by a plain logout, which leaves the auth token
 * alone. Kept in memory for as long as an auth token can live, and fed by the journal: so to look at a token costs no
 * read, and yet what one node ends is over on all of them.
 */

import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { runChange } from '../journal/journal.ts';
import { detailsOf } from '../journal/journal-entry.ts';
import type { JournalFeed } from '../journal/journal-feed.ts';
import { maxAuthTokenMs } from './revocation.ts';

export interface RevocationCache {
  /** What this node has ended itself, when it is committed: it need not wait to hear of it. */
  add(sessionId: string, at: number): void;
  has(session: { readonly userId: string; readonly sessionId: string }): boolean;
  /** Forgets those whose auth tokens have ended by now. */
  sweep(): Promise<void>;
}

export interface RevocationCacheOptions {
  readonly database: Database;
  readonly feed: JournalFeed;
  readonly clock: Clock;
  /** What could not be read is tried again. */
  readonly onError: (error: unknown) => void;
}

interface Ended {
  readonly id: string;
  readonly at: number;
}

const tryAgainMs = 500;

const isEnded = sql`revoked_at > ${'since'} and revoked_because <> 'logout'`;
const findEnded = sql<{ since: number }, Ended>`select id, revoked_at as at from sessions where ${isEnded}`;
const findEndedOf = sql<{ since: number; userId: string }, Ended>`
  select id, revoked_at as at from sessions where user_id = ${'userId'} and ${isEnded}`;

/** With a user the rows of the sessions go, too. */
const findDeletedUsers = sql<{ since: number }, Ended>`
  select id, deleted_at as at from deleted_users where deleted_at > ${'since'}`;
const findForgettable = sql<{ since: number }, { id: string }>`
  select id from deleted_users where deleted_at <= ${'since'} limit 1`;
const forgetDeletedUsers = sql<{ since: number }>`delete from deleted_users where deleted_at <= ${'since'}`;

export async function createRevocationCache(options: RevocationCacheOptions): Promise<RevocationCache> {
  const { database, feed, clock, onError } = options;
  const since = () => clock.now() - maxAuthTokenMs;
  const sessions = new Map<string, number>();
  const users = new Map<string, number>();
  const note = (known: Map<string, number>, ended: readonly Ended[]) =>
    ended.forEach(({ id, at }) => known.set(id, at));

  async function loadAll(): Promise<void> {
    note(sessions, await database.all(findEnded, { since: since() }));
    note(users, await database.all(findDeletedUsers, { since: since() }));
  }

  async function loadOf(userId: string): Promise<void> {
    note(sessions, await database.all(findEndedOf, { since: since(), userId }));
  }

  /** Until it has been read: a session that was ended must not go on because of one failed read. */
  function insist(load: () => Promise<void>): Promise<void> {
    return load().catch((error: unknown) => {
      if (feed.isClosed) return;
      onError(error);
      setTimeout(() => void insist(load), tryAgainMs).unref();
    });
  }

  feed.onEntry(({ kind, userId, sessionId, at, after }): void | Promise<void> => {
    if (!userId) return;
    if (kind === 'DELETE_USER') users.set(userId, at);
    if (kind !== 'END_SESSION' || detailsOf(after)['because'] === 'logout') return;
    if (!sessionId) return insist(() => loadOf(userId));
    sessions.set(sessionId, at);
  });
  feed.onGap(() => void insist(loadAll));
  await loadAll();

  return {
    add: (sessionId, at) => void sessions.set(sessionId, at),
    has: ({ userId, sessionId }) => sessions.has(sessionId) || users.has(userId),
    async sweep() {
      for (const known of [sessions, users]) {
        for (const [id, at] of known) if (at <= since()) known.delete(id);
      }
      if (!(await database.get(findForgettable, { since: since() }))) return;
      await runChange(database, (transaction) => transaction.run(forgetDeletedUsers, { since: since() }));
    },
  };
}
