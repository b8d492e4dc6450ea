/**
 * The record of changes that were made under a key of the client's: by it a change that is asked for again, because its
 * answer was lost, is known and not made again. It is part of the change's own transaction. The key itself is not kept,
 * and without it nothing can be learned of what was asked for.
 */

import { createHmac } from 'node:crypto';
import { whenDone, type Database, type PromiseOrValue, type Reader } from '../database/database.ts';
import type { Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import type { JournalPlace } from './journal-entry.ts';
import { changeInTurn } from './journal.ts';

/** What tells one change from all others. */
export interface ChangeIdentity {
  readonly userId: string;
  /** Of the key, and of the change's place in the request. */
  readonly digest: Uint8Array;
  /** Of what was asked for. */
  readonly changeDigest: Uint8Array;
}

/** One of the changes that a request asks for. */
export interface AskedChange {
  /** In the answer; no two of a request have the same. */
  readonly path: string;
  readonly name: string;
  readonly input: unknown;
}

export interface DoneChange {
  /** Small: ids and numbers. */
  readonly result: unknown;
  /** The journal's last entry when it was made. */
  readonly place: JournalPlace;
}

interface Row {
  readonly changeDigest: Uint8Array;
  readonly result: string;
  readonly number: number;
  readonly nonce: number;
}

const keptMs = 86_400_000;
const batch = 1_000;
const mostBatches = 20;

const find = sql<ChangeIdentity, Row>`
  select change_digest as "changeDigest", result, number, nonce from done_changes
  where user_id = ${'userId'} and digest = ${'digest'}`;

const insert = sql<ChangeIdentity & Row & { now: number }>`
  insert into done_changes (user_id, digest, change_digest, result, number, nonce, done_at)
  values (${'userId'}, ${'digest'}, ${'changeDigest'}, ${'result'}, ${'number'}, ${'nonce'}, ${'now'})`;

const anyBefore = sql<{ before: number }, { doneAt: number }>`
  select done_at as "doneAt" from done_changes where done_at <= ${'before'} limit 1`;

const forget = sql<{ before: number; batch: number }>`
  delete from done_changes where (user_id, digest) in (
    select user_id, digest from done_changes where done_at <= ${'before'} limit ${'batch'})`;

export function identify(userId: string, key: string, { path, name, input }: AskedChange): ChangeIdentity {
  // With the key, because the input may hold a password: a plain digest could be tried out.
  const digestOf = (value: unknown) => createHmac('sha256', key).update(JSON.stringify(value)).digest();
  return { userId, digest: digestOf(['place', path]), changeDigest: digestOf(['change', name, input]) };
}

/** `isOther`: under this key something else was done. */
export function findDone(
  reader: Reader,
  identity: ChangeIdentity,
): PromiseOrValue<(DoneChange & { readonly isOther: boolean }) | undefined> {
  return whenDone(reader.get(find, identity), (row) => {
    if (!row) return undefined;
    const { changeDigest, result, number, nonce } = row;
    const isOther = !Buffer.from(identity.changeDigest).equals(changeDigest);
    return { result: JSON.parse(result) as unknown, place: { number, nonce }, isOther };
  });
}

/** In the transaction of the change, which has looked for it in its turn. */
export function recordDone(
  transaction: Transaction,
  identity: ChangeIdentity,
  { result, place: { number, nonce }, now }: DoneChange & { readonly now: number },
): PromiseOrValue<number> {
  return transaction.run(insert, { ...identity, result: JSON.stringify(result), number, nonce, now });
}

/** Forgets those of over a day ago, a few at a time. */
export async function pruneDone(database: Database, now: number): Promise<void> {
  const before = now - keptMs;
  for (let count = 0; count < mostBatches && (await database.get(anyBefore, { before })); count++) {
    await changeInTurn(database, (transaction) => transaction.run(forget, { before, batch }), {
      takesLong: true,
    });
  }
}
