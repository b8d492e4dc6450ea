/**
 * Purges deleted folders: when their time in the trash is over, or when a viewer requests it. A folder is first marked, and then
 * removed with its subtree in small transactions. The folders of an interrupted import are purged in the same way. The periodic
 * work in `startup/housekeeping.ts` calls `purgeTrash`.
 */

import { accessLevels, type Access } from '../access/access.ts';
import { Ancestry } from '../access/ancestry.ts';
import { recordPurgedGrants } from '../access/grants.ts';
import type { Database, Transaction } from '../database/database.ts';
import { firstId, list, sql } from '../database/statement.ts';
import {
  numberCodec,
  type Caller,
  type Changed,
  type ChangeRunner,
  type ResultCodec,
} from '../journal/change-runner.ts';
import { record, runChange, type ChangeOrigin } from '../journal/journal.ts';
import { requireLevel } from './change-rules.ts';
import { readJournalPath, readNames } from './journal-paths.ts';
import {
  findInTrash,
  maxExamined,
  purgeCutoff,
  readTrash,
  requireInTrash,
  type RestorableFolder,
  type TrashedFolder,
} from './trash.ts';
import { viewTree } from './tree-view.ts';

const { MANAGE } = accessLevels;
const interruptedImportMs = 3_600_000;
const pageSize = 200;
const purgeBatchSize = 500;
const maxPerPurge = 10_000;

interface ExpiryCondition {
  readonly because: string;
  readonly before: number;
}

/** The folder whose deletion put a subtree into the trash. */
type DeletedTop = Pick<TrashedFolder, 'id' | 'name' | 'formerParentId'>;

const findExpired = sql<ExpiryCondition & { limit: number }, DeletedTop>`
  select id, name, detached_from as "formerParentId" from folders
  where detached_because = ${'because'} and detached_at <= ${'before'} limit ${'limit'}`;

/** Marked folders can no longer be restored. */
const markForPurge = sql<{ ids: readonly string[] }>`
  update folders set detached_because = 'purge' where id in (select value from ${list('ids')})`;

const findMarked = sql<{ limit: number }, { id: string }>`
  select id from folders where detached_because = 'purge' and detached_at is not null limit ${'limit'}`;

const findInside = sql<{ ids: readonly string[]; limit: number }, { id: string }>`
  select id from folders where parent_id in (select value from ${list('ids')}) limit ${'limit'}`;

/** Skips folders without subfolders, which a count does not need. */
const findParents = sql<{ ids: readonly string[] }, CountedParent>`
  select id, child_count as "childCount" from folders
  where id in (select value from ${list('ids')}) and child_count > 0`;

const findParentsInside = sql<{ ids: readonly string[] }, CountedParent>`
  select id, child_count as "childCount" from folders
  where parent_id in (select value from ${list('ids')}) and child_count > 0`;

const purgeByIds = sql<{ ids: readonly string[] }>`
  delete from folders where id in (select value from ${list('ids')})`;

interface CountedParent {
  readonly id: string;
  readonly childCount: number;
}

interface PurgeOptions {
  readonly trashDays: number;
}

/** Purges a folder in the trash. The folder cannot be restored after that, so this needs MANAGE. */
export function purgeFolder(
  changes: ChangeRunner<Access>,
  caller: Caller,
  id: string,
  { trashDays }: PurgeOptions,
): Promise<Changed<number>> {
  return changes.run(caller, {
    codec: numberCodec,
    work: async (transaction, access, by) => {
      const view = viewTree(transaction, access);
      const folder = await requireInTrash(view, id, purgeCutoff(by.now, trashDays));
      requireLevel(folder, MANAGE);
      await purgeTops(transaction, [folder], by);
      return 1;
    },
  });
}

export interface EmptyTrash {
  /** Purges only folders that were deleted before this time. */
  readonly deletedBefore?: number | null | undefined;
}

export interface EmptyTrashOptions {
  /** A dry run only counts the folders. */
  readonly isDryRun: boolean;
  /** Called before `count` folders are examined. A returned promise is awaited first. */
  readonly beforeRows: (count: number) => Promise<void> | undefined;
}

export interface EmptiedTrash {
  /** Without the folders inside. */
  readonly folderCount: number;
  /** Null if the folders were purged and not only counted. */
  readonly insideCount: number | null;
}

const emptiedCodec: ResultCodec<EmptiedTrash, number> = {
  toStored: ({ folderCount }) => folderCount,
  fromStored: (folderCount) => ({ folderCount, insideCount: null }),
};

/**
 * Purges all folders in the trash that the viewer manages, page by page, so that other changes can run in between. If the
 * request is interrupted, some folders stay in the trash.
 */
export function emptyTrash(
  changes: ChangeRunner<Access>,
  caller: Caller,
  input: EmptyTrash,
  options: PurgeOptions & EmptyTrashOptions,
): Promise<Changed<EmptiedTrash>> {
  if (options.isDryRun) return countTrash(changes, caller, input, options);
  return changes.runUnlessMade(caller, emptiedCodec, async () => {
    let folderCount = 0;
    for await (const { ids, cutoff } of managedPages(changes, caller, input, options)) {
      folderCount += (await purgePage(changes, caller, ids, cutoff)).result;
    }
    return changes.run(caller, { codec: emptiedCodec, work: () => ({ folderCount, insideCount: null }) });
  });
}

async function countTrash(
  changes: ChangeRunner<Access>,
  caller: Caller,
  input: EmptyTrash,
  options: PurgeOptions & EmptyTrashOptions,
): Promise<Changed<EmptiedTrash>> {
  let folderCount = 0;
  let insideCount = 0;
  for await (const { ids } of managedPages(changes, caller, input, options)) {
    folderCount += ids.length;
    insideCount += await countInside(changes.database, ids, options);
  }
  return changes.run(caller, { codec: undefined, work: () => ({ folderCount, insideCount }) });
}

/** The folders in the trash that the viewer manages, without folders that are deleted meanwhile: these come before the next page. */
async function* managedPages(
  changes: ChangeRunner<Access>,
  caller: Caller,
  { deletedBefore }: EmptyTrash,
  { trashDays, beforeRows }: PurgeOptions & EmptyTrashOptions,
): AsyncGenerator<{ readonly ids: readonly string[]; readonly cutoff: number }> {
  const cutoff = purgeCutoff(changes.clock.now(), trashDays);
  let after = typeof deletedBefore === 'number' ? { deletedAt: deletedBefore, id: firstId } : undefined;
  do {
    await beforeRows(maxExamined);
    const { folders, next } = await changes.read(caller, (snapshot, access) =>
      readTrash(viewTree(snapshot, access), { after, first: pageSize, cutoff }),
    );
    const ids = folders.filter(isManaged).map(({ id }) => id);
    if (ids.length > 0) yield { ids, cutoff };
    after = next;
  } while (after);
}

/** Counts the folders inside deleted folders, level by level. */
async function countInside(
  database: Database,
  ids: readonly string[],
  { beforeRows }: EmptyTrashOptions,
): Promise<number> {
  let count = 0;
  let parents = await database.all(findParents, { ids });
  while (parents.length > 0) {
    const inside: CountedParent[] = [];
    for (let start = 0; start < parents.length; start += pageSize) {
      const some = parents.slice(start, start + pageSize);
      const children = some.reduce((sum, { childCount }) => sum + childCount, 0);
      count += children;
      await beforeRows(children);
      inside.push(...(await database.all(findParentsInside, { ids: some.map(({ id }) => id) })));
    }
    parents = inside;
  }
  return count;
}

function purgePage(
  changes: ChangeRunner<Access>,
  caller: Caller,
  ids: readonly string[],
  cutoff: number,
): Promise<Changed<number>> {
  return changes.run(caller, {
    codec: undefined,
    takesLong: true,
    work: async (transaction, access, by) => {
      const folders = (await findInTrash(viewTree(transaction, access), ids, cutoff)).filter(isManaged);
      await purgeTops(transaction, folders, by);
      return folders.length;
    },
  });
}

function isManaged({ accessLevel }: RestorableFolder): boolean {
  return accessLevel >= MANAGE;
}

/** Marks folders, so that the next `purgeTrash` removes them. */
async function purgeTops(
  transaction: Transaction,
  folders: readonly DeletedTop[],
  by: ChangeOrigin,
): Promise<void> {
  await transaction.run(markForPurge, { ids: folders.map(({ id }) => id) });
  await recordPurges(transaction, folders, by);
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

async function markExpired(database: Database, expired: ExpiryCondition, now: number): Promise<void> {
  for (let count = 0; count < maxPerPurge; count += purgeBatchSize) {
    const search = { ...expired, limit: purgeBatchSize };
    if ((await database.all(findExpired, { ...search, limit: 1 })).length === 0) return;
    await runChange(
      database,
      async (transaction) => {
        const folders = await transaction.all(findExpired, search);
        // The folders of an interrupted import were never visible, so the journal has no entry for them.
        if (expired.because === 'delete') await purgeTops(transaction, folders, { now, byUserId: null });
        else await transaction.run(markForPurge, { ids: folders.map(({ id }) => id) });
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

/** Purges detached folders in small transactions, the innermost folders first. Stops soon after `max` folders. */
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
