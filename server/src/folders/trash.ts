/**
 * Deleted folders: they are detached from the tree, can be restored for some days, and are then purged in small transactions. The
 * folders of an interrupted import are detached in the same way and purged sooner.
 */

import { accessLevels, type AccessLevel } from '../access/access.ts';
import { readAccess } from '../access/access-cache.ts';
import { Ancestry } from '../access/ancestry.ts';
import { recordPurgedGrants } from '../access/grants.ts';
import type { Database, Transaction } from '../database/database.ts';
import { isRowId, lastId, list, sql } from '../database/statement.ts';
import { record, runChange, type ChangeOrigin } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import {
  addChildren,
  checkAccessNotWidened,
  checkNameIsFree,
  checkSubtreeDepth,
  checkVersion,
  requireWritable,
} from './change-rules.ts';
import { lastTime } from './folder-slice.ts';
import { foldForStorage, sortKey, toFolderName } from './folder-texts.ts';
import { readJournalPath, readNames } from './journal-paths.ts';
import { readFolder, requireFolder, viewTree, type Folder, type TreeView } from './tree-view.ts';

export interface TrashedFolder {
  readonly id: string;
  readonly name: string;
  readonly title: string | null;
  readonly version: number;
  readonly deletedAt: number;
  readonly formerParentId: string;
}

export interface Restoration {
  readonly id: string;
  /** Replaces the former parent. */
  readonly parentId?: string | null | undefined;
  /** Replaces the former name. */
  readonly name?: string | null | undefined;
  readonly expectedVersion?: number | null | undefined;
}

/** A position in the trash, which is ordered by the time of deletion, the latest first. */
export type TrashPosition = Pick<TrashedFolder, 'deletedAt' | 'id'>;

const { WRITE } = accessLevels;
const dayMs = 86_400_000;
const interruptedImportMs = 3_600_000;
const batchSize = 200;
/** The maximum number of deleted folders that one page examines. */
export const maxExamined = 1_000;
const purgeBatchSize = 500;
const maxPerPurge = 10_000;

const trashedColumns = sql`id, name, title, version, detached_at as "deletedAt", detached_from as "formerParentId"`;

const findTrashed = sql<{ id: string }, TrashedFolder>`
  select ${trashedColumns} from folders where id = ${'id'} and detached_because = 'delete'`;

const listTrashed = sql<TrashPosition & { limit: number }, TrashedFolder>`
  select ${trashedColumns} from folders
  where detached_at is not null and detached_because = 'delete'
    and (detached_at, id) < (${'deletedAt'}, ${'id'})
  order by detached_at desc, id desc limit ${'limit'}`;

const findOwnLevels = sql<
  { ids: readonly string[]; subjectIds: readonly string[] },
  { id: string; level: AccessLevel }
>`
  select folder_id as id, max(level) as level from grants
  where folder_id in (select value from ${list('ids')}) and subject_id in (select value from ${list('subjectIds')})
  group by folder_id`;

const attach = sql<{
  id: string;
  parentId: string;
  name: string;
  sortKey: Uint8Array;
  foldedName: string;
  now: number;
}>`
  update folders set parent_id = ${'parentId'}, name = ${'name'}, sort_key = ${'sortKey'},
    folded_name = ${'foldedName'}, detached_at = null, detached_from = null, detached_because = null,
    version = version + 1, updated_at = ${'now'}
  where id = ${'id'}`;

interface Expired {
  readonly because: string;
  readonly before: number;
}

/** The folder whose deletion put a subtree into the trash. */
type DeletedTop = Pick<TrashedFolder, 'id' | 'name' | 'formerParentId'>;

const findExpired = sql<Expired & { limit: number }, DeletedTop>`
  select id, name, detached_from as "formerParentId" from folders
  where detached_because = ${'because'} and detached_at <= ${'before'} limit ${'limit'}`;

/** Marked folders can no longer be restored. */
const markForPurge = sql<{ ids: readonly string[] }>`
  update folders set detached_because = 'purge' where id in (select value from ${list('ids')})`;

const findMarked = sql<{ limit: number }, { id: string }>`
  select id from folders where detached_because = 'purge' and detached_at is not null limit ${'limit'}`;

const findInside = sql<{ ids: readonly string[]; limit: number }, { id: string }>`
  select id from folders where parent_id in (select value from ${list('ids')}) limit ${'limit'}`;

const purgeByIds = sql<{ ids: readonly string[] }>`
  delete from folders where id in (select value from ${list('ids')})`;

/** Folders that were deleted at this time or earlier can no longer be restored. */
export function purgeCutoff(now: number, trashDays: number): number {
  return now - trashDays * dayMs;
}

export function purgeTime(deletedAt: number, trashDays: number): number {
  return deletedAt + trashDays * dayMs;
}

interface TrashPage {
  readonly folders: readonly TrashedFolder[];
  /** The position after which the next page begins. It may be that of a hidden folder. Undefined on the last page. */
  readonly next: TrashPosition | undefined;
}

/** Reads the deleted folders that the viewer may restore. A page examines a bounded number of rows. */
export async function readTrash(
  view: TreeView,
  { after, first, cutoff }: { after: TrashPosition | undefined; first: number; cutoff: number },
): Promise<TrashPage> {
  const { reader, access } = view;
  const folders: TrashedFolder[] = [];
  if (!access.writesSomething) return { folders, next: undefined };
  let from: TrashPosition = after ?? { deletedAt: lastTime, id: lastId };
  for (let examined = 0; examined < maxExamined; examined += batchSize) {
    const rows = await reader.all(listTrashed, { ...from, limit: batchSize }, batchSize);
    const rights = await rightsOf(view, rows);
    for (const row of rows) {
      if (row.deletedAt <= cutoff) return { folders, next: undefined };
      if (!rights.get(row.id)!.isWritable) continue;
      if (folders.length === first) return { folders, next: folders.at(-1) ?? after ?? from };
      folders.push(row);
    }
    const last = rows.at(-1);
    if (!last || rows.length < batchSize) return { folders, next: undefined };
    from = last;
  }
  return { folders, next: from };
}

/** Restores a deleted folder with its subtree. */
export async function restoreFolder(
  transaction: Transaction,
  view: TreeView,
  input: Restoration,
  { trashDays, ...by }: ChangeOrigin & { readonly trashDays: number },
): Promise<void> {
  const trashed = isRowId(input.id) ? await transaction.get(findTrashed, { id: input.id }) : undefined;
  const rights = trashed && (await rightsOf(view, [trashed])).get(trashed.id);
  // After the cutoff, the subtree may already be partly purged.
  if (!trashed || !rights?.isWritable || trashed.deletedAt <= purgeCutoff(by.now, trashDays)) {
    throw new Refusal('NOT_FOUND', 'There is no folder with this id in the trash.');
  }
  checkVersion(trashed, input.expectedVersion);
  const parent = await findDestination(view, input, trashed);
  const pathIn = (id: string) => [...(view.ancestry.pathTo(id) ?? []), trashed.id];
  await checkAccessNotWidened(transaction, rights.level, pathIn(trashed.formerParentId), pathIn(parent.id));
  const addedDepth = await checkSubtreeDepth(transaction, view, parent, trashed.id);
  const name = typeof input.name === 'string' ? toFolderName(input.name) : trashed.name;
  await checkNameIsFree(transaction, parent.id, name, 'Set `name` to another name.');
  await transaction.run(attach, {
    id: trashed.id,
    parentId: parent.id,
    name,
    sortKey: sortKey(name),
    foldedName: foldForStorage(name),
    now: by.now,
  });
  const parentPath = view.ancestry.pathTo(parent.id)!;
  await addChildren(transaction, parentPath, { count: 1, addedDepth });
  const pathIds = [...parentPath, trashed.id];
  record(transaction, {
    kind: 'RESTORE_FOLDER',
    ...by,
    folderId: trashed.id,
    pathIds,
    path: await readJournalPath(view, pathIds, name),
    after: { name },
    changesAccess: true,
  });
}

/**
 * The deleted folder with its former path, for the response of the deletion. If it was restored meanwhile, with its current path.
 */
export async function viewBeforeDeletion(
  currentView: TreeView,
  pathIds: readonly string[],
): Promise<{ view: TreeView; folder: Folder }> {
  const { reader, access } = currentView;
  const id = pathIds.at(-1)!;
  const restored = await readFolder(currentView, id);
  if (restored) return { view: currentView, folder: restored };
  const view = viewTree(reader, await readAccess(reader, access.userId, access.isAdministrator, pathIds));
  view.ancestry.setPath(pathIds);
  return { view, folder: await requireFolder(view, id) };
}

/** The new parent; by default the former one. */
async function findDestination(view: TreeView, { parentId }: Restoration, { formerParentId }: TrashedFolder) {
  if (typeof parentId === 'string') return requireWritable(view, parentId);
  await view.ancestry.load([formerParentId]);
  if (view.ancestry.pathTo(formerParentId)) return requireWritable(view, formerParentId);
  throw new Refusal('CONFLICT', 'The former parent folder was deleted. Set `parentId` to another folder.');
}

/** A folder is writable with WRITE on it and on its former parent, which deleting it needs as well. */
async function rightsOf({ access, ancestry, reader }: TreeView, trashed: readonly TrashedFolder[]) {
  await ancestry.load(trashed.map(({ formerParentId }) => formerParentId));
  const parameters = { ids: trashed.map(({ id }) => id), subjectIds: [...access.subjectIds] };
  const rows = access.isAdministrator ? [] : await reader.all(findOwnLevels, parameters);
  const ownLevels = new Map(rows.map(({ id, level }) => [id, level]));
  return new Map(
    trashed.map(({ id, formerParentId }) => {
      const inherited = access.levelAt(ancestry.pathTo(formerParentId) ?? []);
      const level = ownLevels.get(id) ?? inherited;
      return [id, { level, isWritable: Math.min(level, inherited) >= WRITE }] as const;
    }),
  );
}

/** Purges some of the folders whose time in the trash is over. Returns the number of purged folders. */
export async function purgeTrash(database: Database, now: number, trashDays: number): Promise<number> {
  await markExpired(database, { because: 'delete', before: purgeCutoff(now, trashDays) }, now);
  await markExpired(database, { because: 'import', before: now - interruptedImportMs }, now);
  for (let purged = 0; ;) {
    const topIds = (await database.all(findMarked, { limit: purgeBatchSize })).map(({ id }) => id);
    if (topIds.length === 0 || purged >= maxPerPurge) return purged;
    purged += await purgeFolders(database, topIds, { now, max: maxPerPurge - purged });
  }
}

async function markExpired(database: Database, expired: Expired, now: number): Promise<void> {
  for (let count = 0; count < maxPerPurge; count += purgeBatchSize) {
    const search = { ...expired, limit: purgeBatchSize };
    if ((await database.all(findExpired, { ...search, limit: 1 })).length === 0) return;
    await runChange(
      database,
      async (transaction) => {
        const folders = await transaction.all(findExpired, search);
        await transaction.run(markForPurge, { ids: folders.map(({ id }) => id) });
        // The folders of an interrupted import were never visible, so the journal has no entry for them.
        if (expired.because === 'import') return;
        await recordPurges(transaction, folders, { now, byUserId: null });
      },
      { takesLong: true },
    );
  }
}

async function recordPurges(
  transaction: Transaction,
  folders: readonly DeletedTop[],
  by: ChangeOrigin,
): Promise<void> {
  const ancestry = await Ancestry.open(transaction);
  await ancestry.load(folders.map(({ formerParentId }) => formerParentId));
  const parentPaths = folders.map(({ formerParentId }) => ancestry.pathTo(formerParentId));
  const rows = await readNames(transaction, [...new Set(parentPaths.flatMap((path) => path ?? []))]);
  for (const [index, { id: folderId, name }] of folders.entries()) {
    const parentPath = parentPaths[index];
    const path =
      parentPath && (await readJournalPath({ reader: transaction, rows }, [...parentPath, folderId], name));
    record(transaction, { kind: 'PURGE_FOLDER', ...by, folderId, path, before: { name } });
  }
}

/** Purges detached folders from the inside out, in small transactions. Stops soon after `max` folders. */
export async function purgeFolders(
  database: Database,
  topIds: readonly string[],
  { now, max = Infinity }: { readonly now: number; readonly max?: number },
): Promise<number> {
  let purged = 0;
  for (let isDone = false; !isDone && purged < max;) {
    await runChange(
      database,
      async (transaction) => {
        let ids = topIds;
        for (;;) {
          const inside = await transaction.all(findInside, { ids, limit: purgeBatchSize });
          if (inside.length === 0) break;
          ids = inside.map(({ id }) => id);
        }
        await recordPurgedGrants(transaction, ids, now);
        purged += await transaction.run(purgeByIds, { ids });
        isDone = ids === topIds;
      },
      { takesLong: true },
    );
    await new Promise(setImmediate);
  }
  return purged;
}
