/**
 * Idempotency keys: if a client sends a change again under the same key, because the response was lost, the change is not made
 * again. The result is stored in the change's own transaction. The key and the input are stored only as keyed digests.
 */

import { createHmac } from 'node:crypto';
import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Database, Reader, Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { Refusal } from '../refusal.ts';
import type { JournalPosition } from './journal-entry.ts';
import type { RightsHolder } from './journal.ts';
import { pruneInBatches, pruneStatements } from './prune.ts';

/** Identifies one change of one request. */
export interface ChangeIdentity {
  readonly userId: string;
  /** Digest of the change's path in the response, keyed with the idempotency key. */
  readonly keyDigest: Uint8Array;
  /** Digest of the change and its input, keyed in the same way. */
  readonly changeDigest: Uint8Array;
}

interface StoredResult extends JournalPosition {
  readonly changeDigest: Uint8Array;
  readonly result: string;
}

const retentionMs = 86_400_000;
const batchSize = 1_000;
const maxBatches = 20;

const findByKey = sql<Omit<ChangeIdentity, 'changeDigest'>, StoredResult>`
  select change_digest as "changeDigest", result, journal_number as number, journal_nonce as nonce
  from idempotency_keys where user_id = ${'userId'} and key_digest = ${'keyDigest'}`;

const insert = sql<ChangeIdentity & StoredResult & { now: number }>`
  insert into idempotency_keys
    (user_id, key_digest, change_digest, result, journal_number, journal_nonce, created_at)
  values (${'userId'}, ${'keyDigest'}, ${'changeDigest'}, ${'result'}, ${'number'}, ${'nonce'}, ${'now'})`;

const expiredKeys = pruneStatements<{ before: number }>(
  sql`delete from idempotency_keys`,
  sql`user_id, key_digest`,
  sql`from idempotency_keys where created_at <= ${'before'}`,
);

/** Identifies one of the changes in a request. Its path in the response is unique in the request. Each API key has its own idempotency keys. */
export function identifyChange(
  { userId, apiKeyId }: RightsHolder,
  key: string,
  { path, name, input }: { readonly path: string; readonly name: string; readonly input: unknown },
): ChangeIdentity {
  // The digests are keyed, because the input may contain a password, which could be guessed from a plain digest. The digests are
  // stored, so the words 'place' and 'change' must stay the same.
  const digestOf = (value: unknown) => createHmac('sha256', key).update(JSON.stringify(value)).digest();
  return {
    userId,
    keyDigest: digestOf(apiKeyId === undefined ? ['place', path] : ['place', path, apiKeyId]),
    changeDigest: digestOf(['change', name, input]),
  };
}

export function findStoredResult(
  reader: Reader,
  { userId, keyDigest }: ChangeIdentity,
): PromiseOrValue<StoredResult | undefined> {
  return reader.get(findByKey, { userId, keyDigest });
}

/** Returns the result and the position of a change that was made earlier. Refuses a key that was used for another change. */
export function toResult<T, Stored>(
  stored: StoredResult,
  { changeDigest }: ChangeIdentity,
  fromStored: (stored: Stored) => T,
): { readonly result: T; readonly position: JournalPosition } {
  if (!Buffer.from(changeDigest).equals(stored.changeDigest)) {
    throw new Refusal(
      'BAD_INPUT',
      'This Idempotency-Key was used for another change. Use a new key for each change.',
    );
  }
  const { result, number, nonce } = stored;
  return { result: fromStored(JSON.parse(result) as Stored), position: { number, nonce } };
}

/** Call it in the transaction of the change, after `findStoredResult()` has found no result under the lock. */
export function storeResult(
  transaction: Transaction,
  identity: ChangeIdentity,
  { result, position: { number, nonce }, now }: { result: unknown; position: JournalPosition; now: number },
): void {
  transaction.queue(insert, { ...identity, result: JSON.stringify(result), number, nonce, now });
}

/** Deletes the stored results that are older than a day, in batches. */
export async function pruneIdempotencyKeys(database: Database, now: number): Promise<void> {
  const before = now - retentionMs;
  await pruneInBatches(database, expiredKeys, { before, batch: batchSize }, maxBatches);
}
