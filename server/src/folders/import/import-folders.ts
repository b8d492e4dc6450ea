/**
 * Imports many folders at once, all or none. A large import is checked, written in slices outside of the tree, so that other
 * changes can run in between, and attached to the tree in one transaction. The folders of an interrupted import stay invisible
 * and are purged later.
 */

import type { Access } from '../../access/access.ts';
import type { ConsistentReader, Transaction } from '../../database/database.ts';
import { list, sql } from '../../database/statement.ts';
import type { Caller, Changed, ChangeRunner, ResultCodec } from '../../journal/change-runner.ts';
import { record, runChange, type ChangeOrigin } from '../../journal/journal.ts';
import { Refusal } from '../../refusal.ts';
import { addChildren, checkDepth, nameTaken, requireWritable } from '../change-rules.ts';
import { insertRow, insertRows, newRow, type NewRow } from '../new-folder-rows.ts';
import { readJournalPath } from '../journal-paths.ts';
import { noRows, viewTree, type Folder, type TreeView } from '../tree-view.ts';
import { purgeFolders } from '../purge.ts';
import { planImport, type ImportInput, type ImportPlan, type PlanOptions } from './import-plan.ts';

export interface FolderImport extends ImportInput {
  readonly parentId?: string | null | undefined;
  /** The version of the parent. */
  readonly expectedVersion?: number | null | undefined;
}

export type ImportOptions = Pick<PlanOptions, 'beforeRows'>;

export interface Imported {
  readonly parentId: string;
  readonly count: number;
}

const sliceRows = 1_000;

const markStaged = sql<{ id: string; parentId: string; now: number }>`
  update folders set detached_at = ${'now'}, detached_from = ${'parentId'}, detached_because = 'import'
  where id = ${'id'}`;

const findTaken = sql<{ parentId: string; names: readonly string[] }, { name: string }>`
  select folders.name from ${list('names', 'texts')} cross join folders
  where folders.parent_id = ${'parentId'} and folders.name = each.value order by each.position limit 1`;

const publish = sql<{ ids: readonly string[]; parentId: string }>`
  update folders set parent_id = ${'parentId'} where id in (select value from ${list('ids')})`;

const unstage = sql<{ id: string }>`
  delete from folders where id = ${'id'} and detached_because = 'import'`;

const importResult: ResultCodec<Imported, Imported> = {
  toStored: ({ parentId, count }) => ({ parentId, count }),
  fromStored: (imported) => imported,
};

export function importFolders(
  changes: ChangeRunner<Access>,
  caller: Caller,
  input: FolderImport,
  options: Omit<PlanOptions, 'now'>,
): Promise<Changed<Imported>> {
  return changes.runUnlessMade(caller, importResult, async () => {
    const now = changes.clock.now();
    // Rights are checked before the work, the plan before it is written, and both again in the last transaction.
    await changes.read(caller, (snapshot, access) => requireParent(viewTree(snapshot, access), input));
    const plan = await planImport(input, { ...options, now });
    const { parent } = await changes.read(caller, (snapshot, access) =>
      checkDestination(snapshot, access, input, plan),
    );
    const imported = { parentId: parent.id, count: plan.rows.length };
    if (plan.rows.length > sliceRows) return importStaged(changes, caller, input, { plan, imported, now });
    return changes.run(caller, {
      codec: importResult,
      takesLong: true,
      work: async (transaction, access, { byUserId }) => {
        const { parent: to, pathIds } = await checkDestination(transaction, access, input, plan);
        await insertRows(transaction, plan.rows.map(under(to.id)));
        await finishImport(transaction, plan, pathIds, { byUserId, now });
        return imported;
      },
    });
  });
}

async function importStaged(
  changes: ChangeRunner<Access>,
  caller: Caller,
  input: FolderImport,
  { plan, imported, now }: { readonly plan: ImportPlan; readonly imported: Imported; readonly now: number },
): Promise<Changed<Imported>> {
  const { database } = changes;
  const stage = newRow({ parentId: null, name: 'import' }, now);
  await runChange(database, async (transaction) => {
    insertRow(transaction, stage);
    await transaction.run(markStaged, { id: stage.id, parentId: imported.parentId, now });
  });
  try {
    for (const rows of slices(plan.rows)) {
      const write = (transaction: Transaction) => insertRows(transaction, rows.map(under(stage.id)));
      await runChange(database, write, { takesLong: true });
      await yieldEventLoop();
    }
    const made = await changes.run(caller, {
      codec: importResult,
      takesLong: true,
      work: async (transaction, access, { byUserId }) => {
        const { parent: to, pathIds } = await checkDestination(transaction, access, input, plan);
        for (const tops of slices(plan.tops)) {
          await transaction.run(publish, { ids: tops.map((top) => top.id), parentId: to.id });
          await yieldEventLoop();
        }
        await finishImport(transaction, plan, pathIds, { byUserId, now });
        // After a very long time, the stage may have been marked for purging, and a part of it may be missing.
        if ((await transaction.run(unstage, { id: stage.id })) === 0) {
          throw new Refusal('UNAVAILABLE', 'The import took too long. Import in smaller parts.');
        }
        return imported;
      },
    });
    // The same request was sent twice and the other one was faster, so this stage is not needed.
    if (made.result !== imported) await purgeFolders(database, [stage.id], { now });
    return made;
  } catch (error) {
    await purgeFolders(database, [stage.id], { now });
    throw error;
  }
}

/** Updates the parent and writes the journal entry after the rows are written. `pathIds` is the path of the parent. */
export async function finishImport(
  transaction: Transaction,
  plan: ImportPlan,
  pathIds: readonly string[],
  by: ChangeOrigin,
): Promise<void> {
  await addChildren(transaction, pathIds, { count: plan.tops.length, addedDepth: plan.height });
  const after = { count: plan.rows.length };
  const path = await readJournalPath({ reader: transaction, rows: noRows }, pathIds);
  record(transaction, { kind: 'IMPORT_FOLDERS', ...by, folderId: pathIds.at(-1)!, pathIds, path, after });
}

async function checkDestination(
  reader: ConsistentReader,
  access: Access,
  input: FolderImport,
  { tops, height }: ImportPlan,
): Promise<{ parent: Folder; pathIds: readonly string[] }> {
  const view = viewTree(reader, access);
  const parent = await requireParent(view, input);
  checkDepth(view, parent, height);
  for (const some of slices(tops)) {
    const taken = await reader.get(findTaken, { parentId: parent.id, names: some.map(({ name }) => name) });
    if (taken) {
      throw nameTaken(taken.name, 'To add folders to the existing folder, set `parentId` to its id.');
    }
    await yieldEventLoop();
  }
  return { parent, pathIds: view.ancestry.pathTo(parent.id)! };
}

function requireParent(view: TreeView, { parentId, expectedVersion }: FolderImport): Promise<Folder> {
  return requireWritable(view, parentId ?? view.access.rootId, expectedVersion);
}

function under(parentId: string): (row: NewRow) => NewRow {
  return (row) => (row.parentId ? row : { ...row, parentId });
}

function* slices<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < all.length; start += sliceRows) yield all.slice(start, start + sliceRows);
}

function yieldEventLoop(): Promise<void> {
  return new Promise(setImmediate);
}
