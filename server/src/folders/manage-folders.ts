/**
 * The changes of the tree that a viewer can request. Each opens its transaction, checks the viewer's rights inside it, writes
 * its journal entry, and is made once for an idempotency key.
 */

import type { Access } from '../access/access.ts';
import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Transaction } from '../database/database.ts';
import { isRowId } from '../database/statement.ts';
import type { Caller, Changed, Changes, ResultCodec } from '../journal/changes.ts';
import {
  checkMove,
  createFolder,
  deleteFolder,
  moveFolder,
  updateFolder,
  type FolderDeletion,
  type FolderMove,
  type FolderUpdate,
  type MovedPaths,
  type NewFolder,
  type WrittenFolder,
} from './folder-writes.ts';
import { requireFolder, viewTree, type FirstRead, type Folder, type FolderRow } from './folders.ts';
import { readFirst } from './first-read.ts';
import {
  importFolders,
  type FolderImport,
  type Imported,
  type ImportOptions,
} from './import/import-folders.ts';
import { restoreFolder, type Restoration } from './trash.ts';

export interface ChangedFolder {
  readonly id: string;
  /** The folder after the change. Missing if the change was made earlier, under the same idempotency key. */
  readonly folder?: Folder;
  /** Its path after the change. */
  readonly pathIds?: readonly string[];
  /** Missing if not all ancestors were read. */
  readonly seen?: SeenFolder | undefined;
}

/** What the viewer sees of a folder at the moment of the change: enough for a response with its path without another read. */
export interface SeenFolder {
  readonly access: Access;
  readonly rows: ReadonlyMap<string, FolderRow>;
}

export interface DeletedFolder {
  /** Its path before the deletion. */
  readonly pathIds: readonly string[];
}

export interface MovedFolder extends ChangedFolder {
  readonly paths: MovedPaths;
}

export interface Folders {
  create(caller: Caller, input: NewFolder): Promise<Changed<ChangedFolder>>;
  update(caller: Caller, input: FolderUpdate): Promise<Changed<ChangedFolder>>;
  /** A dry run checks the move and changes nothing. */
  move(caller: Caller, input: FolderMove, options: { isDryRun: boolean }): Promise<Changed<MovedFolder>>;
  delete(caller: Caller, input: FolderDeletion): Promise<Changed<DeletedFolder>>;
  restore(caller: Caller, input: Restoration): Promise<Changed<ChangedFolder>>;
  import(caller: Caller, input: FolderImport, options: ImportOptions): Promise<Changed<Imported>>;
}

const folderMemory: ResultCodec<ChangedFolder, string> = {
  toStored: ({ id }) => id,
  fromStored: (id) => ({ id }),
};

// `ways` is the name of the stored JSON key.
const moveMemory: ResultCodec<MovedFolder, { id: string; ways: MovedPaths }> = {
  toStored: ({ id, paths }) => ({ id, ways: paths }),
  fromStored: ({ id, ways }) => ({ id, paths: ways }),
};

const deletionMemory: ResultCodec<DeletedFolder, readonly string[]> = {
  toStored: ({ pathIds }) => pathIds,
  fromStored: (pathIds) => ({ pathIds }),
};

export interface FolderLimits {
  readonly trashDays: number;
  readonly maxImportFolders: number;
}

/** Reads the folder with its ancestors before the viewer's rights, if its id is valid. */
function prefetchFolder(
  id: string | null | undefined,
): ((transaction: Transaction) => PromiseOrValue<FirstRead>) | undefined {
  return typeof id === 'string' && isRowId(id)
    ? (transaction) => readFirst(transaction, id, { withAncestors: true })
    : undefined;
}

export function manageFolders(
  changes: Changes<Access>,
  { trashDays, maxImportFolders }: FolderLimits,
): Folders {
  return {
    create: (caller, input) =>
      changes.run(caller, {
        codec: folderMemory,
        prefetch: prefetchFolder(input.parentId),
        work: async (transaction, access, { now }, first) =>
          toChanged(await createFolder(transaction, access, input, { now, first })),
      }),
    update: (caller, input) =>
      changes.run(caller, {
        codec: folderMemory,
        prefetch: prefetchFolder(input.id),
        work: async (transaction, access, { now }, first) =>
          toChanged(await updateFolder(transaction, access, input, { now, first })),
      }),
    move: (caller, input, { isDryRun }) =>
      changes.run(caller, {
        codec: isDryRun ? undefined : moveMemory,
        work: async (transaction, access, { now }): Promise<MovedFolder> => {
          const move = await checkMove(transaction, access, input);
          if (!isDryRun) await moveFolder(transaction, move, now);
          const folder = await requireFolder(viewTree(transaction, access), input.id);
          return { id: folder.id, folder, paths: move.paths };
        },
      }),
    delete: (caller, input) =>
      changes.run(caller, {
        codec: deletionMemory,
        work: async (transaction, access, { now }): Promise<DeletedFolder> => ({
          pathIds: await deleteFolder(transaction, access, input, now),
        }),
      }),
    restore: (caller, input) =>
      changes.run(caller, {
        codec: folderMemory,
        work: async (transaction, access, { now }) => {
          await restoreFolder(transaction, access, input, { now, trashDays });
          const folder = await requireFolder(viewTree(transaction, access), input.id);
          return { id: folder.id, folder };
        },
      }),
    import: (caller, input, options) =>
      importFolders(changes, caller, input, { ...options, maxFolders: maxImportFolders }),
  };
}

function toChanged({ folder, pathIds, view }: WrittenFolder): ChangedFolder {
  const { access, rows } = view;
  const { id } = folder;
  const hasAllAncestors = pathIds.every((each) => each === id || rows.has(each));
  const seen = hasAllAncestors ? { access, rows: new Map([...rows, [id, folder]]) } : undefined;
  return { id, folder, pathIds, seen };
}
