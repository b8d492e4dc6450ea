/**
 * Counts failed login attempts in the database, so that the counts apply to all nodes and survive restarts. Names and
 * addresses are stored as digests only, and only while the failures count.
 */

import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Database, Reader, Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { runChange } from '../journal/journal.ts';

export interface Failures {
  readonly digest: Uint8Array;
  readonly failures: number;
  /** The time of the first failure. */
  readonly startedAt: number;
  /** The time of the last failure. */
  readonly failedAt: number;
}

/** How long failures count, starting with the first one. */
export const windowMs = 15 * 60_000;
const pruneBatch = 1_000;

const find = sql<{ one: Uint8Array; other: Uint8Array }, Failures>`
  select digest, failures, started_at as "startedAt", failed_at as "failedAt"
  from login_failures where digest in (${'one'}, ${'other'})`;

const insertOrCount = sql<{ digest: Uint8Array; now: number; from: number; to: number }>`
  insert into login_failures (digest, failures, started_at, failed_at)
  values (${'digest'}, 1, ${'now'}, ${'now'})
  on conflict (digest) do update set
    failures = case when login_failures.started_at between ${'from'} and ${'to'}
      then login_failures.failures + 1 else 1 end,
    started_at = case when login_failures.started_at between ${'from'} and ${'to'}
      then login_failures.started_at else excluded.started_at end,
    failed_at = excluded.failed_at`;

const countUnchanged = sql<Failures & { now: number }>`
  update login_failures set failures = failures + 1, failed_at = ${'now'}
  where digest = ${'digest'} and failures = ${'failures'} and started_at = ${'startedAt'}
    and failed_at = ${'failedAt'}`;

const subtractOne = sql<Pick<Failures, 'digest' | 'startedAt' | 'failedAt'>>`
  update login_failures set failures = failures - 1, failed_at = ${'failedAt'}
  where digest = ${'digest'} and started_at = ${'startedAt'} and failures > 0`;

const deleteByDigest = sql<{ digest: Uint8Array }>`delete from login_failures where digest = ${'digest'}`;

const findAnyBefore = sql<{ before: number }, { startedAt: number }>`
  select started_at as "startedAt" from login_failures where started_at <= ${'before'} limit 1`;

// The age is checked twice because another node may restart the row in between.
const deleteBefore = sql<{ before: number; batch: number }>`
  delete from login_failures where started_at <= ${'before'} and digest in (
    select digest from login_failures where started_at <= ${'before'} limit ${'batch'})`;

/** Reads the failures that count now, for one or two digests. */
export async function readFailures(
  reader: Reader,
  digests: readonly Uint8Array[],
  now: number,
): Promise<Failures[]> {
  const [one, other = one] = digests as [Uint8Array, Uint8Array?];
  const { from, to } = windowAt(now);
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

/** Adds one failure to each. Safe while other nodes count as well. */
export function countFailures(
  transaction: Transaction,
  digests: readonly Uint8Array[],
  now: number,
): PromiseOrValue<void> {
  const each = digests.map((digest) => ({ digest, now, ...windowAt(now) }));
  return transaction.runEach(insertOrCount, each);
}

/** Adds one failure if the row is unchanged. Of any number of concurrent calls, on any node, exactly one succeeds. */
export async function countIfUnchanged(
  transaction: Transaction,
  failures: Failures,
  now: number,
): Promise<boolean> {
  return (await transaction.run(countUnchanged, { ...failures, now })) === 1;
}

/** Undoes the count of an attempt that succeeded. */
export async function undoCount(
  transaction: Transaction,
  { digest, startedAt, failedAt }: Failures,
): Promise<void> {
  await transaction.run(subtractOne, { digest, startedAt, failedAt });
}

export async function deleteFailures(transaction: Transaction, { digest }: Failures): Promise<void> {
  await transaction.run(deleteByDigest, { digest });
}

/** Deletes failures that no longer count, in small batches. */
export async function pruneFailures(database: Database, now: number): Promise<void> {
  const before = windowAt(now).from - 1;
  while (await database.get(findAnyBefore, { before })) {
    await runChange(database, (transaction) => transaction.run(deleteBefore, { before, batch: pruneBatch }));
  }
}

/**
 * The range of start times of failures that count now. It excludes times far in the future, because a clock that was wrong
 * must not lock users out.
 */
function windowAt(now: number): { from: number; to: number } {
  return { from: now - windowMs + 1, to: now + windowMs - 1 };
}
