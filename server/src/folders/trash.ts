/** Deleted folders: they are detached from the tree, can be restored for some days, and are then purged (`purge.ts`). */

import { accessLevels, type AccessLevel } from '../access/access.ts';
import { readViewerAccess } from '../access/access-cache.ts';
import type { Transaction } from '../database/database.ts';
import { isRowId, lastId, list, sql } from '../database/statement.ts';
import { record, type ChangeOrigin } from '../journal/journal.ts';
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
import { readJournalPath } from './journal-paths.ts';
import { readFolder, requireFolder, viewTree, type Folder, type TreeView } from './tree-view.ts';

export interface TrashedFolder {
  readonly id: string;
  readonly name: string;
  readonly title: string | null;
  readonly version: number;
  readonly deletedAt: number;
  readonly formerParentId: string;
}

/** A deleted folder that the viewer may restore. */
export interface RestorableFolder extends TrashedFolder {
  /**
   * The lower of the levels on the folder and on its former parent, because deleting it needs both. At most WRITE if the viewer
   * does not manage all folders inside: the viewer may then restore them all, but not purge them.
   */
  readonly accessLevel: AccessLevel;
  /** The level on the folder itself. */
  readonly ownLevel: AccessLevel;
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

const { WRITE, MANAGE } = accessLevels;
const dayMs = 86_400_000;
const batchSize = 200;
/** The maximum number of deleted folders that one page examines. */
export const maxExamined = 1_000;

const trashedColumns = sql`id, name, title, version, detached_at as "deletedAt", detached_from as "formerParentId"`;

const findTrashed = sql<{ ids: readonly string[] }, TrashedFolder>`
  select ${trashedColumns} from folders
  where id in (select value from ${list('ids')}) and detached_because = 'delete'`;

const listTrashed = sql<TrashPosition & { limit: number }, TrashedFolder>`
  select ${trashedColumns} from folders
  where detached_at is not null and detached_because = 'delete'
    and (detached_at, id) < (${'deletedAt'}, ${'id'})
  order by detached_at desc, id desc limit ${'limit'}`;

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

/** Folders that were deleted at this time or earlier can no longer be restored. */
export function purgeCutoff(now: number, trashDays: number): number {
  return now - trashDays * dayMs;
}

export function purgeTime(deletedAt: number, trashDays: number): number {
  return deletedAt + trashDays * dayMs;
}

interface TrashPage {
  readonly folders: readonly RestorableFolder[];
  /** The position after which the next page begins. It may belong to a hidden folder. Undefined on the last page. */
  readonly next: TrashPosition | undefined;
}

/** Reads the deleted folders that the viewer may restore. A page examines a bounded number of rows. */
export async function readTrash(
  view: TreeView,
  { after, first, cutoff }: { after: TrashPosition | undefined; first: number; cutoff: number },
): Promise<TrashPage> {
  const { reader, access } = view;
  const folders: RestorableFolder[] = [];
  if (!access.writesSomething) return { folders, next: undefined };
  let from: TrashPosition = after ?? { deletedAt: lastTime, id: lastId };
  for (let examined = 0; examined < maxExamined; examined += batchSize) {
    const rows = await reader.all(listTrashed, { ...from, limit: batchSize }, batchSize);
    for (const folder of await withLevels(view, rows)) {
      if (folder.deletedAt <= cutoff) return { folders, next: undefined };
      if (folder.accessLevel < WRITE) continue;
      if (folders.length === first) return { folders, next: folders.at(-1) ?? after ?? from };
      folders.push(folder);
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
  const trashed = await requireInTrash(view, input.id, purgeCutoff(by.now, trashDays));
  checkVersion(trashed, input.expectedVersion);
  const parent = await findDestination(view, input, trashed);
  const pathIn = (id: string) => [...(view.ancestry.pathTo(id) ?? []), trashed.id];
  await checkAccessNotWidened(
    transaction,
    trashed.ownLevel,
    pathIn(trashed.formerParentId),
    pathIn(parent.id),
  );
  const addedDepth = await checkSubtreeDepth(transaction, view, parent, trashed.id);
  const name = typeof input.name === 'string' ? toFolderName(input.name) : trashed.name;
  await checkNameIsFree(transaction, parent.id, name);
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
 * Returns the deleted folder with its former path, for the response of the deletion. If the folder was restored meanwhile, returns it with its current path.
 */
export async function viewBeforeDeletion(
  currentView: TreeView,
  pathIds: readonly string[],
): Promise<{ view: TreeView; folder: Folder }> {
  const { reader, access } = currentView;
  const id = pathIds.at(-1)!;
  const restored = await readFolder(currentView, id);
  if (restored) return { view: currentView, folder: restored };
  const view = viewTree(reader, await readViewerAccess(reader, access, pathIds));
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

/** Refuses a folder that the viewer may not restore. */
export async function requireInTrash(view: TreeView, id: string, cutoff: number): Promise<RestorableFolder> {
  const [found] = isRowId(id) ? await findInTrash(view, [id], cutoff) : [];
  if (found) return found;
  throw new Refusal('NOT_FOUND', 'There is no folder with this id in the trash.');
}

/** Returns the folders with these ids that the viewer may restore. After the cutoff, a subtree may already be partly purged. */
export async function findInTrash(
  view: TreeView,
  ids: readonly string[],
  cutoff: number,
): Promise<readonly RestorableFolder[]> {
  const found = await withLevels(view, await view.reader.all(findTrashed, { ids }, ids.length));
  return found.filter(({ accessLevel, deletedAt }) => accessLevel >= WRITE && deletedAt > cutoff);
}

async function withLevels(
  { access, ancestry }: TreeView,
  trashed: readonly TrashedFolder[],
): Promise<readonly RestorableFolder[]> {
  await ancestry.load(trashed.map(({ formerParentId }) => formerParentId));
  return trashed.map((folder) => {
    const formerPathIds = ancestry.pathTo(folder.formerParentId) ?? [];
    const ownLevel = access.levelAt([...formerPathIds, folder.id]);
    const levelInside = access.managesInside(folder.id) ? MANAGE : WRITE;
    return {
      ...folder,
      ownLevel,
      accessLevel: Math.min(ownLevel, access.levelAt(formerPathIds), levelInside) as AccessLevel,
    };
  });
}
