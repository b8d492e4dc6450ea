/**
 * Writes many rows in slices outside of the tree, so that other changes can run in between, and publishes them in one transaction.
 * Rows that were not published stay invisible and are purged.
 */

import type { Access } from '../../access/access.ts';
import type { Transaction } from '../../database/database.ts';
import { sql } from '../../database/statement.ts';
import type { Changed, ChangeRunner } from '../../journal/change-runner.ts';
import { runChange } from '../../journal/journal.ts';
import { Refusal } from '../../refusal.ts';
import { insertRow, insertRows, newRow, type NewRow } from '../new-folder-rows.ts';
import { purgeFolders } from '../purge.ts';

/** More rows are written outside of the tree first. */
export const maxRowsPerTransaction = 1_000;

const markStaged = sql<{ id: string; parentId: string; now: number }>`
  update folders set detached_at = ${'now'}, detached_from = ${'parentId'}, detached_because = 'import'
  where id = ${'id'}`;

const removeStage = sql<{ id: string }>`
  delete from folders where id = ${'id'} and detached_because = 'import'`;

interface StagedRows {
  /** Parents come before their children. Rows at the top have no parent yet. */
  readonly rows: readonly NewRow[];
  /** The folder that the rows are for. */
  readonly parentId: string;
  readonly now: number;
}

/**
 * `publish` runs the change that moves the rows at the top into the tree. It must call `unstage` in its transaction. `isOwn` is false
 * for the result of the same request that was sent twice, if the other one was faster.
 */
export async function writeStaged<T>(
  { database }: ChangeRunner<Access>,
  { rows, parentId, now }: StagedRows,
  publish: (unstage: (transaction: Transaction) => Promise<void>) => Promise<Changed<T>>,
  isOwn: (result: T) => boolean,
): Promise<Changed<T>> {
  const stage = newRow({ parentId: null, name: 'import' }, now);
  await runChange(database, async (transaction) => {
    insertRow(transaction, stage);
    await transaction.run(markStaged, { id: stage.id, parentId, now });
  });
  try {
    for (let start = 0; start < rows.length; start += maxRowsPerTransaction) {
      const some = rows.slice(start, start + maxRowsPerTransaction);
      const staged = some.map((row) => (row.parentId ? row : { ...row, parentId: stage.id }));
      await runChange(database, (transaction) => insertRows(transaction, staged), { takesLong: true });
      await new Promise(setImmediate);
    }
    const made = await publish(async (transaction) => {
      // After a very long time, the stage may have been marked for purging, and a part of it may be missing.
      if ((await transaction.run(removeStage, { id: stage.id })) > 0) return;
      throw new Refusal('UNAVAILABLE', 'The change took too long. Make it in smaller parts.');
    });
    if (!isOwn(made.result)) await purgeFolders(database, [stage.id], { now });
    return made;
  } catch (error) {
    await purgeFolders(database, [stage.id], { now });
    throw error;
  }
}
