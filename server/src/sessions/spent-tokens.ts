/** Stores spent refresh tokens as digests, to detect replays and to repeat a lost response. */

import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Database, Reader } from '../database/database.ts';
import { sql, type Statement } from '../database/statement.ts';
import { pruneInBatches, pruneStatements } from '../journal/prune.ts';
import type { ClientInfo } from './session-reads.ts';

/** One use of a refresh token by a client. */
export interface TokenUse extends ClientInfo {
  readonly digest: Uint8Array;
  readonly now: number;
}

export interface SpentToken {
  readonly sessionId: string;
  readonly userId: string;
  readonly spentAt: number;
  readonly successor: Uint8Array | null;
  /** The time at which its session was revoked, or null. */
  readonly revokedAt: number | null;
}

/** Replays of a spent token. `now`, `address` and `agent` belong to the last replay. */
interface Replays extends TokenUse {
  readonly times: number;
}

/** How long a spent token is recognized as a replay. */
export const spentTokenRetentionMs = 7 * 86_400_000;

export const insertSpent = sql<TokenUse & Pick<SpentToken, 'sessionId' | 'successor'>>`
  insert into spent_refresh_tokens (digest, session_id, spent_at, sealed_successor, address, agent)
  values (${'digest'}, ${'sessionId'}, ${'now'}, ${'successor'}, ${'address'}, ${'agent'})`;

export const countReplays = sql<Replays>`
  update spent_refresh_tokens set replays = replays + ${'times'}, replayed_at = ${'now'},
    replay_address = ${'address'}, replay_agent = ${'agent'}
  where digest = ${'digest'}`;

const findSpentToken = sql<{ digest: Uint8Array }, SpentToken>`
  select session_id as "sessionId", user_id as "userId", spent_at as "spentAt", sealed_successor as "successor", revoked_at as "revokedAt"
  from spent_refresh_tokens join sessions on sessions.id = session_id where digest = ${'digest'}`;

const pruneStatementsFor = (change: Statement, condition: Statement) =>
  pruneStatements<{ bound: number }>(change, sql`digest`, sql`from spent_refresh_tokens where ${condition}`);
const eraseSuccessor = sql`update spent_refresh_tokens set sealed_successor = null`;
const spentBefore = pruneStatementsFor(sql`delete from spent_refresh_tokens`, sql`spent_at < ${'bound'}`);
const successorBefore = pruneStatementsFor(
  eraseSuccessor,
  sql`spent_at < ${'bound'} and sealed_successor is not null`,
);
const successorAfter = pruneStatementsFor(
  eraseSuccessor,
  sql`spent_at > ${'bound'} and sealed_successor is not null`,
);

export function findSpent(reader: Reader, digest: Uint8Array): PromiseOrValue<SpentToken | undefined> {
  return reader.get(findSpentToken, { digest });
}

/** Deletes tokens that were spent long ago and erases expired successors, in small batches. */
export async function pruneSpentTokens(database: Database, now: number, retrySeconds: number): Promise<void> {
  const prune = (statements: typeof spentBefore, bound: number) =>
    pruneInBatches(database, statements, { bound, batch: 1_000 });
  const retryMs = retrySeconds * 1000;
  await prune(spentBefore, now - spentTokenRetentionMs);
  await prune(successorBefore, now - retryMs);
  // After the clock was set back, a successor must not become available again when the clock reaches its time a second
  // time. A time up to `retryMs` in the future may come from a node whose clock is ahead.
  await prune(successorAfter, now + retryMs);
}

/** The maximum number of tokens with a count in memory. Replays of further tokens are not counted. */
const maxReplayedTokens = 10_000;

/**
 * Counts replays within the tolerance, which lost responses and second tabs cause. Counts are stored periodically, because a
 * client that replays thousands of times must not cause thousands of writes.
 */
export class ReplayCounts {
  #counts = new Map<string, Replays>();

  add(use: TokenUse): void {
    const key = Buffer.from(use.digest).toString('base64');
    const previous = this.#counts.get(key);
    if (!previous && this.#counts.size >= maxReplayedTokens) return;
    this.#counts.set(key, { ...use, times: (previous?.times ?? 0) + 1 });
  }

  async store(database: Database): Promise<void> {
    if (this.#counts.size === 0) return;
    const stored = [...this.#counts.values()];
    this.#counts = new Map();
    await database.change((transaction) => transaction.runEach(countReplays, stored));
  }
}
