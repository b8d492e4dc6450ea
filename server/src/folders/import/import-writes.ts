/**
 * Writes an import in a transaction: the new folders, the texts of existing folders, and the journal entries. If there are many
 * rows, they are first written in slices outside of the tree (`writeStaged`), so that other changes can run in between. Rows that
 * are not published stay invisible and are purged.
 */

import type { Access } from '../../access/access.ts';
import type { Transaction } from '../../database/database.ts';
import { sql } from '../../database/statement.ts';
import type { Changed, ChangeRunner } from '../../journal/change-runner.ts';
import {
  differences,
  recordAll,
  runChange,
  type ChangeOrigin,
  type NewEntry,
} from '../../journal/journal.ts';
import { Refusal } from '../../refusal.ts';
import { addChildren } from '../change-rules.ts';
import { truncate, updateTexts } from '../folder-writes.ts';
import { insertRow, insertRows, newRow, type NewRow } from '../new-folder-rows.ts';
import { purgeFolders } from '../purge.ts';
import {
  slices,
  yieldEventLoop,
  type ImportMatch,
  type ParentFolder,
  type TextsUpdate,
} from './import-match.ts';
import type { ImportPlan } from './import-plan.ts';

/** An existing folder in which the import creates folders. */
interface ExtendedFolder {
  readonly folder: ParentFolder;
  childCount: number;
  /** The number of new folders below it, without those that are also below a deeper existing folder. */
  newCount: number;
}

interface CountAndHeight {
  readonly id: string;
  readonly childCount: number;
  readonly height: number;
}

const addCountAndHeight = sql<CountAndHeight>`
  update folders set child_count = child_count + ${'childCount'},
    height = case when height < ${'height'} then ${'height'} else height end
  where id = ${'id'}`;

const sliceRows = 1_000;
/** Texts may be long. */
const textsPerSlice = 250;

/** Returns the rows of the plan that do not exist yet, each with its parent. */
export function newRowsOf({ rows: all }: ImportPlan, { tops, existing }: ImportMatch): NewRow[] {
  const parentIds = new Map(tops.map(({ row, parent }) => [row, parent.id]));
  return all
    .filter((row) => !existing.has(row))
    .map((row) => {
      const parentId = parentIds.get(row);
      return parentId === undefined ? row : { ...row, parentId };
    });
}

/** Completes an import after the new rows are written: updates the existing folders and writes the journal entries. */
export async function finishImport(
  transaction: Transaction,
  plan: ImportPlan,
  { match, destination }: { readonly match: ImportMatch; readonly destination: ParentFolder },
  by: ChangeOrigin,
): Promise<void> {
  const extendedFolders = findExtended(plan, match);
  await updateExisting(transaction, plan, match, extendedFolders);
  if (extendedFolders.size > 0) {
    const count = extendedFolders.get(destination.id)?.childCount ?? 0;
    await addChildren(transaction, destination.pathIds, { count, addedDepth: plan.height });
  }
  const imports = [...extendedFolders.values()].map(
    ({ folder: { id, pathIds, path }, newCount }): NewEntry => ({
      kind: 'IMPORT_FOLDERS',
      ...by,
      folderId: id,
      pathIds,
      path,
      after: { count: newCount },
    }),
  );
  for (const some of slices(imports, sliceRows)) {
    await recordAll(transaction, some);
    await yieldEventLoop();
  }
  for (const some of slices([...match.updates.values()], textsPerSlice)) {
    await writeUpdates(transaction, some, by);
    await yieldEventLoop();
  }
}

/** Returns the folders that are the nearest existing ancestor of a new folder, by id. */
function findExtended(plan: ImportPlan, { tops, existing }: ImportMatch): Map<string, ExtendedFolder> {
  const extendedFolders = new Map<string, ExtendedFolder>();
  const nearest = new Map<string, ExtendedFolder>();
  for (const { row, parent } of tops) {
    let found = extendedFolders.get(parent.id);
    if (!found) extendedFolders.set(parent.id, (found = { folder: parent, childCount: 0, newCount: 0 }));
    found.childCount++;
    nearest.set(row.id, found);
  }
  // Parents come before their children.
  for (const row of plan.rows) {
    if (existing.has(row)) continue;
    const found = nearest.get(row.id) ?? nearest.get(row.parentId!)!;
    nearest.set(row.id, found);
    found.newCount++;
  }
  return extendedFolders;
}

/** Updates counts and heights. A height in the plan also counts levels of existing folders, so it is correct after the import. */
async function updateExisting(
  transaction: Transaction,
  { rows: all }: ImportPlan,
  { existing }: ImportMatch,
  extendedFolders: ReadonlyMap<string, ExtendedFolder>,
): Promise<void> {
  const changed: CountAndHeight[] = [];
  for (const row of all) {
    const folder = existing.get(row);
    if (!folder) continue;
    const childCount = extendedFolders.get(folder.id)?.childCount ?? 0;
    if (childCount > 0 || row.height > folder.height) {
      changed.push({ id: folder.id, childCount, height: row.height });
    }
  }
  for (const folders of slices(changed, sliceRows)) {
    await transaction.runEach(addCountAndHeight, folders);
    await yieldEventLoop();
  }
}

async function writeUpdates(
  transaction: Transaction,
  updates: readonly TextsUpdate[],
  by: ChangeOrigin,
): Promise<void> {
  const texts = updates.map(({ folder: { id }, after }) => ({ ...after, id, now: by.now }));
  await transaction.runEach(updateTexts, texts);
  await recordAll(
    transaction,
    updates.map(
      ({ folder: { id, pathIds, path }, before, after: { foldedTitle: _, ...after } }): NewEntry => {
        const changed = differences({ ...before }, after);
        return {
          kind: 'UPDATE_FOLDER',
          ...by,
          folderId: id,
          pathIds,
          path,
          before: truncate(changed.before),
          after: truncate(changed.after),
        };
      },
    ),
  );
}

/** If there are more rows, they are first written outside of the tree. */
export const maxRowsPerTransaction = 1_000;

const markStaged = sql<{ id: string; parentId: string; now: number }>`
  update folders set detached_at = ${'now'}, detached_from = ${'parentId'}, detached_because = 'import'
  where id = ${'id'}`;

const removeStage = sql<{ id: string }>`
  delete from folders where id = ${'id'} and detached_because = 'import'`;

interface StagedRows {
  /** Parents come before their children. Rows at the top have no parent yet. */
  readonly rows: readonly NewRow[];
  /** The folder in which the import creates the rows. */
  readonly parentId: string;
  readonly now: number;
}

/**
 * `publish` runs the change that moves the rows at the top into the tree. It must call `unstage` in its transaction. If the same
 * request was sent twice, the other one may finish first. `publish` then returns its result, and `isOwn` is false for it.
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
    const change = await publish(async (transaction) => {
      // After a very long time, the stage may have been marked for purging, and part of it may be missing.
      if ((await transaction.run(removeStage, { id: stage.id })) > 0) return;
      throw new Refusal('UNAVAILABLE', 'The change took too long. Make it in smaller parts.');
    });
    if (!isOwn(change.result)) await purgeFolders(database, [stage.id], { now });
    return change;
  } catch (error) {
    await purgeFolders(database, [stage.id], { now });
    throw error;
  }
}
