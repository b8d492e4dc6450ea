/**
 * How often a password was wrong of late, by what it counts against; in the database, so that every node and every
 * restart knows it. Only digests are kept of names and addresses, and only for as long as they count.
 */

import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Database, Reader, Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { changeInTurn } from '../journal/journal.ts';

export interface Failures {
  readonly digest: Uint8Array;
  readonly failures: number;
  /** When the first of them was. */
  readonly startedAt: number;
  /** When the last of them was. */
  readonly failedAt: number;
}

/** How long failures count, from the first of them. */
export const windowMs = 15 * 60_000;
const sweepBatch = 1_000;

const find = sql<{ one: Uint8Array; other: Uint8Array }, Failures>`
  select digest, failures, started_at as "startedAt", failed_at as "failedAt"
  from login_failures where digest in (${'one'}, ${'other'})`;

const count = sql<{ digest: Uint8Array; now: number; from: number; to: number }>`
  insert into login_failures (digest, failures, started_at, failed_at)
  values (${'digest'}, 1, ${'now'}, ${'now'})
  on conflict (digest) do update set
    failures = case when login_failures.started_at between ${'from'} and ${'to'}
      then login_failures.failures + 1 else 1 end,
    started_at = case when login_failures.started_at between ${'from'} and ${'to'}
      then login_failures.started_at else excluded.started_at end,
    failed_at = excluded.failed_at`;

const countIfUnchanged = sql<Failures & { now: number }>`
  update login_failures set failures = failures + 1, failed_at = ${'now'}
  where digest = ${'digest'} and failures = ${'failures'} and started_at = ${'startedAt'}
    and failed_at = ${'failedAt'}`;

const takeBackOne = sql<Pick<Failures, 'digest' | 'startedAt' | 'failedAt'>>`
  update login_failures set failures = failures - 1, failed_at = ${'failedAt'}
  where digest = ${'digest'} and started_at = ${'startedAt'} and failures > 0`;

const forget = sql<{ digest: Uint8Array }>`delete from login_failures where digest = ${'digest'}`;

const anyBefore = sql<{ before: number }, { startedAt: number }>`
  select started_at as "startedAt" from login_failures where started_at <= ${'before'} limit 1`;

// Another node may begin a row anew meanwhile: so it is asked twice how old it is.
const forgetBefore = sql<{ before: number; batch: number }>`
  delete from login_failures where started_at <= ${'before'} and digest in (
    select digest from login_failures where started_at <= ${'before'} limit ${'batch'})`;

/** Those that count now, for each of one or two digests. */
export async function readFailures(
  reader: Reader,
  digests: readonly Uint8Array[],
  now: number,
): Promise<Failures[]> {
  const [one, other = one] = digests as [Uint8Array, Uint8Array?];
  const { from, to } = counting(now);
  const rows = (await reader.all(find, { one, other })).filter(
    ({ startedAt }) => startedAt >= from && startedAt <= to,
  );
  return digests.map(
    (digest) =>
      rows.find((row) => Buffer.compare(row.digest, digest) === 0) ?? {
        digest,
        failures: 0,
        startedAt: now,
        failedAt: now,
      },
  );
}

/** One more of each, whatever other nodes count at the same time. */
export function countFailures(
  transaction: Transaction,
  digests: readonly Uint8Array[],
  now: number,
): PromiseOrValue<void> {
  const each = digests.map((digest) => ({ digest, now, ...counting(now) }));
  return transaction.runEach(count, each);
}

/** One more, unless somebody else has changed it: of any number who try, on any node, one does it. */
export async function countIfStill(transaction: Transaction, known: Failures, now: number): Promise<boolean> {
  return (await transaction.run(countIfUnchanged, { ...known, now })) === 1;
}

/** It was no failure after all: as it was before. */
export async function takeBack(
  transaction: Transaction,
  { digest, startedAt, failedAt }: Failures,
): Promise<void> {
  await transaction.run(takeBackOne, { digest, startedAt, failedAt });
}

export async function forgetFailures(transaction: Transaction, { digest }: Failures): Promise<void> {
  await transaction.run(forget, { digest });
}

/** Forgets those that no longer count, in small batches. */
export async function pruneFailures(database: Database, now: number): Promise<void> {
  const before = counting(now).from - 1;
  while (await database.get(anyBefore, { before })) {
    await changeInTurn(database, (transaction) =>
      transaction.run(forgetBefore, { before, batch: sweepBatch }),
    );
  }
}

/** When failures that count now began. Not far in the future, either: a clock that was wrong must not lock anybody out. */
function counting(now: number): { from: number; to: number } {
  return { from: now - windowMs + 1, to: now + windowMs - 1 };
}
