/**
 * Idempotency keys: a change that a client sends again under the same key, because its response was lost, is recognised and not made
 * again. The record is part of the change's own transaction. The key itself is not stored, and without it nothing can be learned
 * about the request.
 */

import { createHmac } from 'node:crypto';
import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Database, Reader, Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { Refusal } from '../refusal.ts';
import type { JournalPosition } from './journal-entry.ts';
import { pruneInBatches, pruneStatements } from './prune-in-batches.ts';

/** Identifies one change of one request. */
export interface ChangeIdentity {
  readonly userId: string;
  /** Digest of the key and of the change's path in the request. */
  readonly digest: Uint8Array;
  /** Digest of the change and its input. */
  readonly changeDigest: Uint8Array;
}

interface MadeRow extends JournalPosition {
  readonly changeDigest: Uint8Array;
  readonly result: string;
}

const retentionMs = 86_400_000;
const batch = 1_000;
const maxBatches = 20;

const find = sql<Omit<ChangeIdentity, 'changeDigest'>, MadeRow>`
  select change_digest as "changeDigest", result, journal_number as number, journal_nonce as nonce
  from idempotency_keys where user_id = ${'userId'} and key_digest = ${'digest'}`;

const insert = sql<ChangeIdentity & MadeRow & { now: number }>`
  insert into idempotency_keys
    (user_id, key_digest, change_digest, result, journal_number, journal_nonce, created_at)
  values (${'userId'}, ${'digest'}, ${'changeDigest'}, ${'result'}, ${'number'}, ${'nonce'}, ${'now'})`;

const outdated = pruneStatements<{ before: number }>(
  sql`delete from idempotency_keys`,
  sql`user_id, key_digest`,
  sql`from idempotency_keys where created_at <= ${'before'}`,
);

/** Identifies one of the changes in a request. Its path in the response is unique in the request. */
export function identifyChange(
  userId: string,
  key: string,
  { path, name, input }: { readonly path: string; readonly name: string; readonly input: unknown },
): ChangeIdentity {
  // Keyed, because the input may contain a password: a plain digest would allow guessing it. The digests are stored, so
  // the words in them never change.
  const digestOf = (value: unknown) => createHmac('sha256', key).update(JSON.stringify(value)).digest();
  return { userId, digest: digestOf(['place', path]), changeDigest: digestOf(['change', name, input]) };
}

export function readMade(
  reader: Reader,
  { userId, digest }: ChangeIdentity,
): PromiseOrValue<MadeRow | undefined> {
  return reader.get(find, { userId, digest });
}

/** The result and the position of a change that was made earlier. Refuses a key that was used for another change. */
export function toMade<T, Stored>(
  row: MadeRow,
  { changeDigest }: ChangeIdentity,
  fromStored: (stored: Stored) => T,
): { readonly result: T; readonly position: JournalPosition } {
  if (!Buffer.from(changeDigest).equals(row.changeDigest)) {
    throw new Refusal(
      'BAD_INPUT',
      'This Idempotency-Key was used for another change. Use a new key for each change.',
    );
  }
  const { result, number, nonce } = row;
  return { result: fromStored(JSON.parse(result) as Stored), position: { number, nonce } };
}

/** Runs in the transaction of the change, which has called `readMade` under the lock. */
export function recordMade(
  transaction: Transaction,
  identity: ChangeIdentity,
  { result, position: { number, nonce }, now }: { result: unknown; position: JournalPosition; now: number },
): void {
  transaction.queue(insert, { ...identity, result: JSON.stringify(result), number, nonce, now });
}

/** Deletes the records that are older than a day, a few at a time. */
export async function pruneIdempotencyKeys(database: Database, now: number): Promise<void> {
  const before = now - retentionMs;
  await pruneInBatches(database, outdated, { before, batch }, maxBatches);
}
