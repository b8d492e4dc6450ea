/**
 * What was deleted: off the tree, kept for a time with all that was inside, then purged a little at a time. What an
 * interrupted import left behind is off the tree in the same way, and goes sooner.
 */

import { accessLevels, type AccessLevel } from '../access/access.ts';
import { readAccess } from '../access/access-cache.ts';
import type { Access } from '../access/access.ts';
import { recordPurgedGrants } from '../access/grants.ts';
import type { Database, Transaction } from '../database/database.ts';
import { list, sql } from '../database/statement.ts';
import { runChange, record } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import {
  addChildren,
  checkNameIsFree,
  checkAccessNotWidened,
  checkVersion,
  requireWritable,
} from './change-rules.ts';
import { lastTime } from './cursor.ts';
import { checkSubtreeDepth } from './change-rules.ts';
import { isRowId, lastId } from '../database/statement.ts';
import { toFolderName } from './folder-texts.ts';
import { foldForStorage } from './text-keys.ts';
import { readFolder, requireFolder, viewTree, type Folder, type TreeView } from './folders.ts';
import { sortKey } from './text-keys.ts';

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
  /** Instead of where it was. */
  readonly parentId?: string | null | undefined;
  /** Instead of the name it had. */
  readonly name?: string | null | undefined;
  readonly expectedVersion?: number | null | undefined;
}

/** A place in the trash, the latest first. */
export interface TrashPosition {
  readonly deletedAt: number;
  readonly id: string;
}

const { WRITE } = accessLevels;
const dayMs = 86_400_000;
const abandonedImportMs = 3_600_000;
const portion = 200;
/** Of the deleted folders, for one page. */
export const maxExamined = 1_000;
const purgeBatch = 500;
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

const findExpired = sql<Expired & { limit: number }, { id: string; name: string }>`
  select id, name from folders
  where detached_because = ${'because'} and detached_at <= ${'before'} limit ${'limit'}`;

/** From then on nobody can restore them. */
const markForPurge = sql<{ ids: readonly string[] }>`
  update folders set detached_because = 'purge' where id in (select value from ${list('ids')})`;

const findMarked = sql<{ limit: number }, { id: string }>`
  select id from folders where detached_because = 'purge' and detached_at is not null limit ${'limit'}`;

const findInside = sql<{ ids: readonly string[]; limit: number }, { id: string }>`
  select id from folders where parent_id in (select value from ${list('ids')}) limit ${'limit'}`;

const erase = sql<{ ids: readonly string[] }>`
  delete from folders where id in (select value from ${list('ids')})`;

/** What was deleted then or before is gone. */
export function purgeCutoff(now: number, trashDays: number): number {
  return now - trashDays * dayMs;
}

export function purgeTime(deletedAt: number, trashDays: number): number {
  return deletedAt + trashDays * dayMs;
}

export interface TrashPage {
  readonly folders: readonly TrashedFolder[];
  /** Where the next page continues, maybe at a folder that the viewer may not see; undefined if this is the last one. */
  readonly next: TrashPosition | undefined;
}

/** The latest deleted folders that the viewer may restore, after a place. A page examines a bounded number of rows. */
export async function readTrash(
  view: TreeView,
  { after, first, cutoff: cutoff }: { after: TrashPosition | undefined; first: number; cutoff: number },
): Promise<TrashPage> {
  const { reader, access } = view;
  const folders: TrashedFolder[] = [];
  if (!access.writesSomething) return { folders, next: undefined };
  let from: TrashPosition = after ?? { deletedAt: lastTime, id: lastId };
  for (let examined = 0; examined < maxExamined; examined += portion) {
    const rows = await reader.all(listTrashed, { ...from, limit: portion }, portion);
    const levels = await levelsOf(view, rows);
    for (const row of rows) {
      if (row.deletedAt <= cutoff) return { folders, next: undefined };
      if (!levels.get(row.id)!.isWritable) continue;
      if (folders.length === first) return { folders, next: folders.at(-1) ?? after ?? from };
      folders.push(row);
    }
    const last = rows.at(-1);
    if (!last || rows.length < portion) return { folders, next: undefined };
    from = last;
  }
  return { folders, next: from };
}

/** Puts a deleted folder back, with all that was inside. */
export async function restoreFolder(
  transaction: Transaction,
  access: Access,
  input: Restoration,
  { now, trashDays }: { now: number; trashDays: number },
): Promise<void> {
  const view = viewTree(transaction, access);
  const trashed = isRowId(input.id) ? await transaction.get(findTrashed, { id: input.id }) : undefined;
  const levels = trashed && (await levelsOf(view, [trashed])).get(trashed.id);
  // Whatever may be purged is gone already: it may be missing a part.
  if (!trashed || !levels?.isWritable || trashed.deletedAt <= purgeCutoff(now, trashDays)) {
    throw new Refusal('NOT_FOUND', 'There is no folder with this id in the trash.');
  }
  checkVersion(trashed, input.expectedVersion);
  const parent = await destination(view, input, trashed);
  const wayIn = (id: string) => [...(view.ancestry.pathTo(id) ?? []), trashed.id];
  await checkAccessNotWidened(transaction, levels.level, wayIn(trashed.formerParentId), wayIn(parent.id));
  const inside = await checkSubtreeDepth(transaction, view, parent, trashed.id);
  const name = typeof input.name === 'string' ? toFolderName(input.name) : trashed.name;
  await checkNameIsFree(transaction, parent.id, name, 'Say in `name` how it shall be called.');
  await transaction.run(attach, {
    id: trashed.id,
    parentId: parent.id,
    name,
    sortKey: sortKey(name),
    foldedName: foldForStorage(name),
    now,
  });
  const parentWay = view.ancestry.pathTo(parent.id)!;
  await addChildren(transaction, parentWay, { count: 1, levels: inside });
  record(transaction, {
    kind: 'RESTORE_FOLDER',
    at: now,
    byUserId: access.userId,
    folderId: trashed.id,
    pathIds: [...parentWay, trashed.id],
    after: { name },
    changesAccess: true,
  });
}

/**
 * A deleted folder, and the tree as the viewer would see it with the rights of today if it were still there; or as it
 * is, if it was restored.
 */
export async function beforeDeletion(
  now: TreeView,
  pathIds: readonly string[],
): Promise<{ view: TreeView; folder: Folder }> {
  const { reader, access } = now;
  const id = pathIds.at(-1)!;
  const restored = await readFolder(now, id);
  if (restored) return { view: now, folder: restored };
  const view = viewTree(reader, await readAccess(reader, access.userId, access.isAdministrator, pathIds));
  view.ancestry.setPath(pathIds);
  return { view, folder: await requireFolder(view, id) };
}

async function destination(view: TreeView, { parentId }: Restoration, { formerParentId }: TrashedFolder) {
  if (typeof parentId === 'string') return requireWritable(view, parentId);
  await view.ancestry.load([formerParentId]);
  if (view.ancestry.pathTo(formerParentId)) return requireWritable(view, formerParentId);
  throw new Refusal(
    'CONFLICT',
    'The folder in which it was is not there any more. Say in `parentId` where it shall go.',
  );
}

interface TrashedLevel {
  readonly level: AccessLevel;
  /** On the folder and on where it was: whoever could delete it may restore it. */
  readonly isWritable: boolean;
}

async function levelsOf(
  { access, ancestry, reader }: TreeView,
  trashed: readonly TrashedFolder[],
): Promise<ReadonlyMap<string, TrashedLevel>> {
  await ancestry.load(trashed.map(({ formerParentId }) => formerParentId));
  const parameters = { ids: trashed.map(({ id }) => id), subjectIds: [...access.subjectIds] };
  const rows = access.isAdministrator ? [] : await reader.all(findOwnLevels, parameters);
  const owns = new Map(rows.map(({ id, level }) => [id, level]));
  return new Map(
    trashed.map(({ id, formerParentId }) => {
      const inherited = access.levelAt(ancestry.pathTo(formerParentId) ?? []);
      const own = owns.get(id);
      const level = own ?? inherited;
      return [id, { level, isWritable: Math.min(level, inherited) >= WRITE }];
    }),
  );
}

/** Purges some of what has been off the tree for long enough. Answers how many folders went. */
export async function purgeTrash(database: Database, now: number, trashDays: number): Promise<number> {
  await markExpired(database, { because: 'delete', before: purgeCutoff(now, trashDays) }, now);
  await markExpired(database, { because: 'import', before: now - abandonedImportMs }, now);
  for (let purged = 0; ;) {
    const tops = (await database.all(findMarked, { limit: purgeBatch })).map(({ id }) => id);
    if (tops.length === 0 || purged >= maxPerPurge) return purged;
    purged += await purgeFolders(database, tops, { now, most: maxPerPurge - purged });
  }
}

async function markExpired(database: Database, expired: Expired, now: number): Promise<void> {
  for (let count = 0; count < maxPerPurge; count += purgeBatch) {
    const search = { ...expired, limit: purgeBatch };
    if ((await database.all(findExpired, { ...search, limit: 1 })).length === 0) return;
    await runChange(
      database,
      async (transaction) => {
        const tops = await transaction.all(findExpired, search);
        await transaction.run(markForPurge, { ids: tops.map(({ id }) => id) });
        // What an import left behind was never there for anybody.
        if (expired.because === 'import') return;
        for (const { id: folderId, name } of tops) {
          record(transaction, {
            kind: 'PURGE_FOLDER',
            at: now,
            byUserId: null,
            folderId,
            before: { name },
          });
        }
      },
      { takesLong: true },
    );
  }
}

/** Purges folders that are off the tree, from the inside out, in small transactions; stops soon after `most`. */
export async function purgeFolders(
  database: Database,
  topIds: readonly string[],
  { now, most = Infinity }: { readonly now: number; readonly most?: number },
): Promise<number> {
  let purged = 0;
  for (let isDone = false; !isDone && purged < most;) {
    await runChange(
      database,
      async (transaction) => {
        let ids = topIds;
        for (;;) {
          const inside = await transaction.all(findInside, { ids, limit: purgeBatch });
          if (inside.length === 0) break;
          ids = inside.map(({ id }) => id);
        }
        await recordPurgedGrants(transaction, ids, now);
        purged += await transaction.run(erase, { ids });
        isDone = ids === topIds;
      },
      { takesLong: true },
    );
    await new Promise(setImmediate);
  }
  return purged;
}
