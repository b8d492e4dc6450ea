/** Deletes or changes old rows of any table, in small changes, so that other changes do not wait long. */

import type { Database } from '../database/database.ts';
import { sql, type Statement } from '../database/statement.ts';
import { runChange } from './journal.ts';

/** Statements that delete or change rows, a batch at a time. `rows` is the from and where clause; `key` is the primary key. */
export function pruneStatements<P>(change: Statement, key: Statement, rows: Statement) {
  type Parameters = P & { readonly batch: number };
  return {
    findAny: sql<Parameters, object>`select ${key} ${rows} limit 1`,
    prune: sql<Parameters>`${change} where (${key}) in (select ${key} ${rows} limit ${'batch'})`,
  };
}

/** Prunes rows in small changes, each of which locks the journal's counter, as long as `findAny` finds a row. */
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
