/**
 * Prunes old rows in small changes, so that other changes do not wait long: journal entries beyond the configured age or number, and old rows
 * of other tables. The periodic work in `startup/housekeeping.ts`
 * calls it.
 */

import type { Database } from '../database/database.ts';
import { sql, type Statement } from '../database/statement.ts';
import { readHead, runChange } from './journal.ts';

interface Retention {
  readonly journalDays: number;
  readonly journalEntries: number;
}

const dayMs = 86_400_000;
const pruneBatchSize = 1_000;
const maxPrunedPerRun = 20_000;

const findOldest = sql<{ limit: number }, { number: number; at: number }>`
  select number, at from journal order by number limit ${'limit'}`;

const pruneUpTo = sql<{ number: number }>`delete from journal where number <= ${'number'}`;

/**
 * Deletes old entries in batches, and returns their number. For a cursor before the remaining entries, a subscription to folders then
 * returns RESYNC, and a subscription to the journal returns NOT_FOUND.
 */
export async function pruneJournal(
  database: Database,
  now: number,
  { journalDays, journalEntries }: Retention,
): Promise<number> {
  const { number: lastNumber } = await readHead(database);
  const isOld = ({ number, at }: { number: number; at: number }) =>
    number <= lastNumber - journalEntries || at <= now - journalDays * dayMs;
  let prunedCount = 0;
  while (prunedCount < maxPrunedPerRun) {
    const oldestEntries = await database.all(findOldest, { limit: pruneBatchSize });
    // Stops at the first entry to keep, so that no gap appears even if the clocks of nodes differ.
    const firstToKeep = oldestEntries.findIndex((entry) => !isOld(entry));
    const { number } = (firstToKeep < 0 ? oldestEntries.at(-1) : oldestEntries[firstToKeep - 1]) ?? {};
    if (number === undefined) break;
    prunedCount += await runChange(database, (transaction) => transaction.run(pruneUpTo, { number }), {
      takesLong: true,
    });
    if (firstToKeep >= 0) break;
    await new Promise(setImmediate);
  }
  return prunedCount;
}

/** Statements that delete or change rows in batches. `rows` is the SQL that begins with `from`, with the condition; `key` is the primary key. */
export function pruneStatements<P>(change: Statement, key: Statement, rows: Statement) {
  type Parameters = P & { readonly batch: number };
  return {
    findAny: sql<Parameters, object>`select ${key} ${rows} limit 1`,
    prune: sql<Parameters>`${change} where (${key}) in (select ${key} ${rows} limit ${'batch'})`,
  };
}

/** Prunes rows in small changes until `findAny` finds no row. Each change locks the counter of the journal. */
export async function pruneInBatches<P>(
  database: Database,
  { findAny, prune }: { readonly findAny: Statement<P, object>; readonly prune: Statement<P, never> },
  parameters: P,
  maxBatches = Infinity,
): Promise<void> {
  for (let count = 0; count < maxBatches && (await database.get(findAny, parameters)); count++) {
    await runChange(database, (transaction) => transaction.run(prune, parameters), { takesLong: true });
  }
}
