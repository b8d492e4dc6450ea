/**
 * Sessions that were ended before their auth tokens are: by somebody, not by a plain logout, which leaves the auth token
 * alone. Kept in memory for as long as an auth token can live, and fed by the journal: so to look at a token costs no
 * read, and yet what one node ends is over on all of them.
 */

import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import type { JournalFeed } from '../journal/journal-feed.ts';
import { longestAuthTokenMs } from './revocation.ts';

export interface EndedSessions {
  has(session: { readonly userId: string; readonly sessionId: string }): boolean;
  /** Forgets those whose auth tokens have ended by now. */
  sweep(): void;
}

export interface EndedSessionsOptions {
  readonly database: Database;
  readonly feed: JournalFeed;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

interface Ended {
  readonly id: string;
  readonly at: number;
}

const isEnded = sql`revoked_at > ${'since'} and revoked_because <> 'logout'`;
const findEnded = sql<{ since: number }, Ended>`select id, revoked_at as at from sessions where ${isEnded}`;
const findEndedOf = sql<{ since: number; userId: string }, Ended>`
  select id, revoked_at as at from sessions where user_id = ${'userId'} and ${isEnded}`;

/** The rows of a user who was deleted are gone; the journal still knows. */
const findDeletedUsers = sql<{ since: number }, Ended>`
  select user_id as id, at from journal where kind = 'DELETE_USER' and at > ${'since'}`;

export async function watchEndedSessions(options: EndedSessionsOptions): Promise<EndedSessions> {
  const { database, feed, clock, onError } = options;
  const since = () => clock.now() - longestAuthTokenMs;
  const sessions = new Map<string, number>();
  const users = new Map<string, number>();
  const note = (known: Map<string, number>, ended: readonly Ended[]) =>
    ended.forEach(({ id, at }) => known.set(id, at));

  feed.onEntry(({ kind, userId, at }) => {
    if (!userId) return;
    if (kind === 'DELETE_USER') users.set(userId, at);
    if (kind === 'END_SESSION') noteEndedOf(userId).catch(onError);
  });
  note(sessions, await database.all(findEnded, { since: since() }));
  note(users, await database.all(findDeletedUsers, { since: since() }));

  async function noteEndedOf(userId: string): Promise<void> {
    note(sessions, await database.all(findEndedOf, { since: since(), userId }));
  }

  return {
    has: ({ userId, sessionId }) => sessions.has(sessionId) || users.has(userId),
    sweep() {
      for (const known of [sessions, users]) {
        for (const [id, at] of known) if (at <= since()) known.delete(id);
      }
    },
  };
}
