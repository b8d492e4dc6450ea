/**
 * Prunes old rows in small changes, so that other changes do not wait long: the entries of the journal that are older than the
 * configured days or beyond the configured number, and old rows of any other table. The periodic work in `startup/housekeeping.ts`
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
 * Deletes old entries in batches, and returns their number. After that, a cursor before the remaining entries leads to RESYNC in a
 * subscription to folders, and to NOT_FOUND in a subscription to the journal.
 */
export async function pruneJournal(
  database: Database,
  now: number,
  { journalDays, journalEntries }: Retention,
): Promise<number> {
  const { number: last } = await readHead(database);
  const isOld = ({ number, at }: { number: number; at: number }) =>
    number <= last - journalEntries || at <= now - journalDays * dayMs;
  let pruned = 0;
  while (pruned < maxPrunedPerRun) {
    const oldest = await database.all(findOldest, { limit: pruneBatchSize });
    // Stops at the first entry to keep, so that no gap appears even if the clocks of nodes differ.
    const firstToKeep = oldest.findIndex((entry) => !isOld(entry));
    const { number } = (firstToKeep < 0 ? oldest.at(-1) : oldest[firstToKeep - 1]) ?? {};
    if (number === undefined) break;
    pruned += await runChange(database, (transaction) => transaction.run(pruneUpTo, { number }), {
      takesLong: true,
    });
    if (firstToKeep >= 0) break;
    await new Promise(setImmediate);
  }
  return pruned;
}

/** Statements that delete or change rows, a batch at a time. `rows` is SQL from `from` on, with the condition; `key` is the primary key. */
export function pruneStatements<P>(change: Statement, key: Statement, rows: Statement) {
  type Parameters = P & { readonly batch: number };
  return {
    findAny: sql<Parameters, object>`select ${key} ${rows} limit 1`,
    prune: sql<Parameters>`${change} where (${key}) in (select ${key} ${rows} limit ${'batch'})`,
  };
}

/** Prunes rows until `findAny` finds none, in small changes. Each change locks the journal's counter. */
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
