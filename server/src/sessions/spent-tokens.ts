/** The record of refresh tokens that were exchanged: by it a replay is known, and a lost reply repeated. */

import type { Database, PromiseOrValue, Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { changeInTurn } from '../journal/journal.ts';
import type { Client } from './client.ts';

/** Somebody sends a refresh token. */
export interface TokenUse extends Client {
  readonly digest: Uint8Array;
  readonly now: number;
}

export interface SpentToken {
  readonly sessionId: string;
  readonly userId: string;
  readonly spentAt: number;
  readonly successor: Uint8Array | null;
  /** When its session was revoked, if it was. */
  readonly revokedAt: number | null;
}

interface NewlySpent extends TokenUse {
  readonly sessionId: string;
  readonly successor: Uint8Array | null;
}

/** Uses of a token that was spent; of several, when and from where the last. */
export interface Replays extends TokenUse {
  readonly times: number;
}

/** How long a spent token is recognised as a replay. */
export const spentKeptMs = 7 * 86_400_000;
const sweepBatch = 1_000;

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

const anySpentBefore = sql<{ before: number }, { spentAt: number }>`
  select spent_at as "spentAt" from spent_refresh_tokens where spent_at < ${'before'} limit 1`;

const forget = sql<{ before: number; batch: number }>`
  delete from spent_refresh_tokens where digest in (
    select digest from spent_refresh_tokens where spent_at < ${'before'} limit ${'batch'})`;

const anySealedBefore = sql<{ before: number }, { spentAt: number }>`
  select spent_at as "spentAt" from spent_refresh_tokens
  where spent_at < ${'before'} and sealed_successor is not null limit 1`;

const eraseSealed = sql<{ before: number; batch: number }>`
  update spent_refresh_tokens set sealed_successor = null where digest in (
    select digest from spent_refresh_tokens
    where spent_at < ${'before'} and sealed_successor is not null limit ${'batch'})`;

export async function recordSpent(transaction: Transaction, spent: NewlySpent): Promise<void> {
  await transaction.run(insert, spent);
}

export function findSpent(
  transaction: Transaction,
  digest: Uint8Array,
): PromiseOrValue<SpentToken | undefined> {
  return transaction.get(find, { digest });
}

export async function recordReplays(transaction: Transaction, replays: readonly Replays[]): Promise<void> {
  await transaction.runEach(countReplays, replays);
}

/** Forgets tokens that are long spent, and erases successors whose time is over; in small batches. */
export async function sweepSpent(database: Database, now: number, retrySeconds: number): Promise<void> {
  const inBatches = async (any: typeof anySpentBefore, clear: typeof forget, before: number) => {
    while (await database.get(any, { before })) {
      await changeInTurn(database, (transaction) => transaction.run(clear, { before, batch: sweepBatch }), {
        takesLong: true,
      });
    }
  };
  await inBatches(anySpentBefore, forget, now - spentKeptMs);
  await inBatches(anySealedBefore, eraseSealed, now - retrySeconds * 1000);
}
