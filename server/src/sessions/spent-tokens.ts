/** Stores exchanged refresh tokens as digests, to detect replays and to repeat a lost response. */

import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Database, Reader, Transaction } from '../database/database.ts';
import { sql, type Statement } from '../database/statement.ts';
import { runChange } from '../journal/journal.ts';
import type { Client } from './list-sessions.ts';

/** One use of a refresh token by a client. */
export interface TokenUse extends Client {
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

interface NewlySpent extends TokenUse {
  readonly sessionId: string;
  readonly successor: Uint8Array | null;
}

/** Replays of a spent token. Of several, it has the time and the client of the last. */
export interface Replays extends TokenUse {
  readonly times: number;
}

/** How long a spent token is recognised as a replay. */
export const spentTokenRetentionMs = 7 * 86_400_000;
const pruneBatch = 1_000;

const insert = sql<NewlySpent>`
  insert into spent_refresh_tokens (digest, session_id, spent_at, sealed_successor, address, agent)
  values (${'digest'}, ${'sessionId'}, ${'now'}, ${'successor'}, ${'address'}, ${'agent'})`;

const countReplays = sql<Replays>`
  update spent_refresh_tokens set replays = replays + ${'times'}, replayed_at = ${'now'},
    replay_address = ${'address'}, replay_agent = ${'agent'}
  where digest = ${'digest'}`;

const find = sql<{ digest: Uint8Array }, SpentToken>`
  select session_id as "sessionId", user_id as "userId", spent_at as "spentAt", sealed_successor as "successor", revoked_at as "revokedAt"
  from spent_refresh_tokens join sessions on sessions.id = session_id where digest = ${'digest'}`;

type Bound = { readonly bound: number };

const batchStatements = (condition: Statement, clear: Statement) => ({
  findAny: sql<
    Bound,
    { digest: Uint8Array }
  >`select digest from spent_refresh_tokens where ${condition} limit 1`,
  clear: sql<Bound & { batch: number }>`
    ${clear} where digest in (select digest from spent_refresh_tokens where ${condition} limit ${'batch'})`,
});

const eraseSealed = sql`update spent_refresh_tokens set sealed_successor = null`;
const deleteBefore = batchStatements(sql`spent_at < ${'bound'}`, sql`delete from spent_refresh_tokens`);
const eraseSealedBefore = batchStatements(
  sql`spent_at < ${'bound'} and sealed_successor is not null`,
  eraseSealed,
);
const eraseSealedAfter = batchStatements(
  sql`spent_at > ${'bound'} and sealed_successor is not null`,
  eraseSealed,
);

export async function recordSpent(transaction: Transaction, spent: NewlySpent): Promise<void> {
  await transaction.run(insert, spent);
}

export function findSpent(reader: Reader, digest: Uint8Array): PromiseOrValue<SpentToken | undefined> {
  return reader.get(find, { digest });
}

export async function recordReplays(transaction: Transaction, replays: readonly Replays[]): Promise<void> {
  await transaction.runEach(countReplays, replays);
}

/** Deletes tokens that were spent long ago and erases expired successors, in small batches. */
export async function pruneSpentTokens(database: Database, now: number, retrySeconds: number): Promise<void> {
  const inBatches = async ({ findAny, clear }: typeof deleteBefore, bound: number) => {
    while (await database.get(findAny, { bound })) {
      await runChange(database, (transaction) => transaction.run(clear, { bound, batch: pruneBatch }), {
        takesLong: true,
      });
    }
  };
  const retryMs = retrySeconds * 1000;
  await inBatches(deleteBefore, now - spentTokenRetentionMs);
  await inBatches(eraseSealedBefore, now - retryMs);
  // After the clock was set back, a successor must not become available again when the clock reaches its time once
  // more. Up to one window in the future, it may come from a node whose clock is ahead.
  await inBatches(eraseSealedAfter, now + retryMs);
}

/**
 * Counts replays within the tolerance, which lost responses and second tabs cause. Counts are stored periodically, because a
 * client that replays thousands of times must not cause thousands of writes.
 */
export interface ReplayCounts {
  add(use: TokenUse): void;
  store(database: Database): Promise<void>;
}

/** The number of different tokens. Replays of further tokens are not counted. */
const maxReplayCounts = 10_000;

export function createReplayCounts(): ReplayCounts {
  let counts = new Map<string, Replays>();
  return {
    add(use) {
      const key = Buffer.from(use.digest).toString('base64');
      const previous = counts.get(key);
      if (!previous && counts.size >= maxReplayCounts) return;
      counts.set(key, { ...use, times: (previous?.times ?? 0) + 1 });
    },
    async store(database) {
      if (counts.size === 0) return;
      const stored = [...counts.values()];
      counts = new Map();
      await database.change((transaction) => recordReplays(transaction, stored));
    },
  };
}
