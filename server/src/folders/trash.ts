/**
 * What was deleted: off the tree, kept for a time with all that was inside, then purged a little at a time. What an
 * interrupted import left behind is off the tree in the same way, and goes sooner.
 */

import { accessLevels, type AccessLevel } from '../access/access-level.ts';
import { readAccess } from '../access/access-book.ts';
import type { Access } from '../access/access.ts';
import { recordPurgedGrants } from '../access/grants.ts';
import type { Database, Transaction } from '../database/database.ts';
import { list, sql } from '../database/statement.ts';
import { changeInTurn, record } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import {
  addChildren,
  checkNameIsFree,
  checkNobodyGains,
  checkVersion,
  writableFolder,
} from './change-folders.ts';
import { lastTime } from './cursor.ts';
import { checkDepthWith } from './depth.ts';
import { isRowId, lastId } from '../database/row-id.ts';
import { toFolderName } from './folder-name.ts';
import { foldStored } from './folded-text.ts';
import { readFolder, requireFolder, viewTree, type Folder, type TreeView } from './folders.ts';
import { sortKey } from './sort-key.ts';

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
export interface TrashPlace {
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
const mostPerSweep = 10_000;

const trashedColumns = sql`id, name, title, version, detached_at as "deletedAt", detached_from as "formerParentId"`;

const findTrashed = sql<{ id: string }, TrashedFolder>`
  select ${trashedColumns} from folders where id = ${'id'} and detached_because = 'delete'`;

const listTrashed = sql<TrashPlace & { limit: number }, TrashedFolder>`
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
const giveUp = sql<{ ids: readonly string[] }>`
  update folders set detached_because = 'purge' where id in (select value from ${list('ids')})`;

const findGivenUp = sql<{ limit: number }, { id: string }>`
  select id from folders where detached_because = 'purge' and detached_at is not null limit ${'limit'}`;

const findInside = sql<{ ids: readonly string[]; limit: number }, { id: string }>`
  select id from folders where parent_id in (select value from ${list('ids')}) limit ${'limit'}`;

const erase = sql<{ ids: readonly string[] }>`
  delete from folders where id in (select value from ${list('ids')})`;

/** What was deleted then or before is gone. */
export function keptSince(now: number, trashDays: number): number {
  return now - trashDays * dayMs;
}

export function purgeTime(deletedAt: number, trashDays: number): number {
  return deletedAt + trashDays * dayMs;
}

export interface TrashPage {
  readonly found: readonly TrashedFolder[];
  /** Where the next page continues, maybe at a folder that the viewer may not see; undefined if this is the last one. */
  readonly next: TrashPlace | undefined;
}

/** The latest deleted folders that the viewer may restore, after a place. A page examines a bounded number of rows. */
export async function readTrash(
  view: TreeView,
  { after, first, keptAfter }: { after: TrashPlace | undefined; first: number; keptAfter: number },
): Promise<TrashPage> {
  const { reader, access } = view;
  const found: TrashedFolder[] = [];
  if (!access.writesSomething) return { found, next: undefined };
  let from: TrashPlace = after ?? { deletedAt: lastTime, id: lastId };
  for (let examined = 0; examined < maxExamined; examined += portion) {
    const rows = await reader.all(listTrashed, { ...from, limit: portion }, portion);
    const levels = await levelsOf(view, rows);
    for (const row of rows) {
      if (row.deletedAt <= keptAfter) return { found, next: undefined };
      if (!levels.get(row.id)!.isWritable) continue;
      if (found.length === first) return { found, next: found.at(-1) ?? after ?? from };
      found.push(row);
    }
    const last = rows.at(-1);
    if (!last || rows.length < portion) return { found, next: undefined };
    from = last;
  }
  return { found, next: from };
}

/** Puts a deleted folder back, with all that was inside. */
export async function restoreFolder(
  transaction: Transaction,
  access: Access,
  given: Restoration,
  { now, trashDays }: { now: number; trashDays: number },
): Promise<void> {
  const view = viewTree(transaction, access);
  const trashed = isRowId(given.id) ? await transaction.get(findTrashed, { id: given.id }) : undefined;
  const levels = trashed && (await levelsOf(view, [trashed])).get(trashed.id);
  // Whatever may be purged is gone already: it may be missing a part.
  if (!trashed || !levels?.isWritable || trashed.deletedAt <= keptSince(now, trashDays)) {
    throw new Refusal('NOT_FOUND', 'There is no folder with this id in the trash.');
  }
  checkVersion(trashed, given.expectedVersion);
  const parent = await destination(view, given, trashed);
  const wayIn = (id: string) => [...(view.ancestry.wayTo(id) ?? []), trashed.id];
  await checkNobodyGains(transaction, levels.level, wayIn(trashed.formerParentId), wayIn(parent.id));
  const inside = await checkDepthWith(transaction, view, parent, trashed.id);
  const name = typeof given.name === 'string' ? toFolderName(given.name) : trashed.name;
  await checkNameIsFree(transaction, parent.id, name, 'Say in `name` how it shall be called.');
  await transaction.run(attach, {
    id: trashed.id,
    parentId: parent.id,
    name,
    sortKey: sortKey(name),
    foldedName: foldStored(name),
    now,
  });
  const parentWay = view.ancestry.wayTo(parent.id)!;
  await addChildren(transaction, parentWay, { count: 1, levels: inside });
  record(transaction, {
    kind: 'RESTORE_FOLDER',
    at: now,
    byUserId: access.userId,
    folderId: trashed.id,
    way: [...parentWay, trashed.id],
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
  way: readonly string[],
): Promise<{ view: TreeView; folder: Folder }> {
  const { reader, access } = now;
  const id = way.at(-1)!;
  const restored = await readFolder(now, id);
  if (restored) return { view: now, folder: restored };
  const view = viewTree(reader, await readAccess(reader, access.userId, access.isAdministrator, way));
  view.ancestry.noteWay(way);
  return { view, folder: await requireFolder(view, id) };
}

async function destination(view: TreeView, { parentId }: Restoration, { formerParentId }: TrashedFolder) {
  if (typeof parentId === 'string') return writableFolder(view, parentId);
  await view.ancestry.load([formerParentId]);
  if (view.ancestry.wayTo(formerParentId)) return writableFolder(view, formerParentId);
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
      const inherited = access.levelAlong(ancestry.wayTo(formerParentId) ?? []);
      const own = owns.get(id);
      const level = own ?? inherited;
      return [id, { level, isWritable: Math.min(level, inherited) >= WRITE }];
    }),
  );
}

/** Purges some of what has been off the tree for long enough. Answers how many folders went. */
export async function sweepTrash(database: Database, now: number, trashDays: number): Promise<number> {
  await giveUpExpired(database, { because: 'delete', before: keptSince(now, trashDays) }, now);
  await giveUpExpired(database, { because: 'import', before: now - abandonedImportMs }, now);
  for (let purged = 0; ;) {
    const tops = (await database.all(findGivenUp, { limit: purgeBatch })).map(({ id }) => id);
    if (tops.length === 0 || purged >= mostPerSweep) return purged;
    purged += await purge(database, tops, { now, most: mostPerSweep - purged });
  }
}

async function giveUpExpired(database: Database, expired: Expired, now: number): Promise<void> {
  for (let count = 0; count < mostPerSweep; count += purgeBatch) {
    const search = { ...expired, limit: purgeBatch };
    if ((await database.all(findExpired, { ...search, limit: 1 })).length === 0) return;
    await changeInTurn(
      database,
      async (transaction) => {
        const tops = await transaction.all(findExpired, search);
        await transaction.run(giveUp, { ids: tops.map(({ id }) => id) });
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
export async function purge(
  database: Database,
  topIds: readonly string[],
  { now, most = Infinity }: { readonly now: number; readonly most?: number },
): Promise<number> {
  let purged = 0;
  for (let isDone = false; !isDone && purged < most;) {
    await changeInTurn(
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
