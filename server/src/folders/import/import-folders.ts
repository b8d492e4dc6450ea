/**
 * Imports many folders in one step: either all of them or none. A large import is checked and then written in slices outside of the
 * tree, so that other changes can run in between. One transaction attaches it to the tree. The folders of an interrupted import
 * stay invisible and are purged later. An import can merge with existing folders; their texts change in that last transaction.
 */

import type { Access } from '../../access/access.ts';
import type { Transaction } from '../../database/database.ts';
import { sql } from '../../database/statement.ts';
import type { Caller, Changed, ChangeRunner, ResultCodec } from '../../journal/change-runner.ts';
import { readHead } from '../../journal/journal.ts';
import { Refusal } from '../../refusal.ts';
import { checkDepth, requireWritable } from '../change-rules.ts';
import { readJournalPath } from '../journal-paths.ts';
import { insertRows, type NewRow } from '../new-folder-rows.ts';
import { viewTree, type Folder, type TreeView } from '../tree-view.ts';
import {
  matchImport,
  slices,
  yieldEventLoop,
  type ImportMatch,
  type OnExisting,
  type ParentFolder,
} from './import-match.ts';
import { planImport, type ImportInput, type ImportPlan, type PlanOptions } from './import-plan.ts';
import { finishImport, maxRowsPerTransaction, newRowsOf, writeStaged } from './import-writes.ts';

export interface FolderImport extends ImportInput {
  readonly parentId?: string | null | undefined;
  /** The version of the parent. */
  readonly expectedVersion?: number | null | undefined;
  readonly onExisting: OnExisting;
}

export interface ImportOptions extends Pick<PlanOptions, 'beforeRows'> {
  /** A dry run checks the import and changes nothing. */
  readonly isDryRun: boolean;
}

export interface ImportResult {
  readonly parentId: string;
  readonly createdCount: number;
  readonly updatedCount: number;
  /** Includes folders that occur only as ancestors in a path of the input. */
  readonly keptCount: number;
}

/** An import that has been compared with one state of the tree. */
interface CheckedImport {
  readonly destination: ParentFolder;
  readonly match: ImportMatch;
}

const topsPerSlice = 1_000;

const publish = sql<{ id: string; parentId: string; name: string }>`
  update folders set parent_id = ${'parentId'}, name = ${'name'} where id = ${'id'}`;

const importResult: ResultCodec<ImportResult, ImportResult> = {
  toStored: ({ parentId, createdCount, updatedCount, keptCount }) => ({
    parentId,
    createdCount,
    updatedCount,
    keptCount,
  }),
  fromStored: (imported) => imported,
};

export function importFolders(
  changes: ChangeRunner<Access>,
  caller: Caller,
  input: FolderImport,
  { isDryRun, ...options }: ImportOptions & Pick<PlanOptions, 'maxFolders'>,
): Promise<Changed<ImportResult>> {
  const { identity, ...withoutKey } = caller;
  const repeatableCaller = isDryRun ? withoutKey : { ...withoutKey, identity };
  return changes.runUnlessMade(repeatableCaller, importResult, async () => {
    const now = changes.clock.now();
    // The viewer's rights are checked before the plan is made, and the plan is checked before it is written. The last transaction
    // checks both again.
    await changes.read(caller, (snapshot, access) => requireParent(viewTree(snapshot, access), input));
    const updatesExisting = input.onExisting === 'UPDATE';
    const plan = await planImport(input, { ...options, updatesExisting, now });
    const { checked, head } = await changes.read(caller, async (snapshot, access) => ({
      head: await readHead(snapshot),
      checked: await checkImport(viewTree(snapshot, access), input, plan),
    }));
    if (isDryRun) {
      const { number, nonce, accessNumber } = head;
      return { result: toImported(plan, checked), position: { number, nonce }, accessNumber };
    }
    const newRows = newRowsOf(plan, checked.match);
    let ownResult: ImportResult | undefined;
    const write = (writeRows: (transaction: Transaction, match: ImportMatch) => Promise<void>) =>
      changes.run(caller, {
        codec: importResult,
        takesLong: true,
        work: async (transaction, access, by) => {
          const current = await checkImport(viewTree(transaction, access), input, plan, checked.match);
          await writeRows(transaction, current.match);
          await finishImport(transaction, plan, current, { ...by, now });
          return (ownResult = toImported(plan, current));
        },
      });
    if (newRows.length <= maxRowsPerTransaction) {
      return write((transaction, match) => {
        const rows = newRowsOf(plan, match);
        // Other users may have deleted existing folders meanwhile, so that many more rows are new.
        if (rows.length > maxRowsPerTransaction) throw changedMeanwhile();
        return insertRows(transaction, rows);
      });
    }
    const rows = toStagedRows(newRows, checked.match);
    return writeStaged(
      changes,
      { rows, parentId: checked.destination.id, now },
      (unstage) =>
        write(async (transaction, match) => {
          requireSameTops(match, checked.match);
          await publishTops(transaction, match);
          await unstage(transaction);
        }),
      (result) => result === ownResult,
    );
  });
}

/**
 * In the stage, the topmost rows have their ids as names. Names are unique only among siblings, and these rows may get different
 * parents.
 */
function toStagedRows(newRows: readonly NewRow[], { tops }: ImportMatch): NewRow[] {
  const topIds = new Set(tops.map(({ row }) => row.id));
  return newRows.map((row) => (topIds.has(row.id) ? { ...row, parentId: null, name: row.id } : row));
}

async function publishTops(transaction: Transaction, { tops }: ImportMatch): Promise<void> {
  for (const some of slices(tops, topsPerSlice)) {
    const parameters = some.map(({ row: { id, name }, parent }) => ({ id, parentId: parent.id, name }));
    await transaction.runEach(publish, parameters);
    await yieldEventLoop();
  }
}

function requireSameTops(current: ImportMatch, staged: ImportMatch): void {
  const isSame =
    current.tops.length === staged.tops.length &&
    current.tops.every(({ row, parent }, index) => {
      const other = staged.tops[index]!;
      return row === other.row && parent.id === other.parent.id;
    });
  if (!isSame) throw changedMeanwhile();
}

function changedMeanwhile(): Refusal {
  return new Refusal(
    'CONFLICT',
    'Folders that this import merges with were created, moved or deleted during the import. Import again.',
  );
}

function toImported({ rows: all }: ImportPlan, { destination, match }: CheckedImport): ImportResult {
  const updatedCount = match.updates.size;
  return {
    parentId: destination.id,
    createdCount: all.length - match.existing.size,
    updatedCount,
    keptCount: match.existing.size - updatedCount,
  };
}

async function checkImport(
  view: TreeView,
  input: FolderImport,
  plan: ImportPlan,
  earlierMatch?: ImportMatch,
): Promise<CheckedImport> {
  const parent = await requireParent(view, input);
  checkDepth(view, parent, plan.height);
  const { id, name, version, accessLevel } = parent;
  const pathIds = view.ancestry.pathTo(id)!;
  const path = await readJournalPath(view, pathIds, name);
  const destination = { id, name, version, accessLevel, pathIds, path };
  const { onExisting } = input;
  const match = await matchImport(view, plan, { destination, onExisting, earlierMatch });
  return { destination, match };
}

function requireParent(view: TreeView, { parentId, expectedVersion }: FolderImport): Promise<Folder> {
  return requireWritable(view, parentId ?? view.access.rootId, expectedVersion);
}
