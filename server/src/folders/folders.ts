/**
 * The changes of the tree that a viewer can request. Each opens its transaction, checks the viewer's rights inside it, writes its
 * journal entry, and runs only once for each idempotency key.
 */

import type { Access } from '../access/access.ts';
import { FairQueue } from '../concurrency/fair-queue.ts';
import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Transaction } from '../database/database.ts';
import { isRowId } from '../database/statement.ts';
import {
  idCodec,
  type Caller,
  type Changed,
  type ChangeRunner,
  type ResultCodec,
} from '../journal/change-runner.ts';
import { Refusal } from '../refusal.ts';
import {
  duplicateFolder,
  type DuplicatedFolder,
  type DuplicationOptions,
  type FolderDuplication,
} from './duplicate-folder.ts';
import {
  checkMove,
  createFolder,
  deleteFolder,
  moveFolder,
  updateFolder,
  type FolderDeletion,
  type FolderMove,
  type FolderUpdate,
  type ChangedFolder,
  type MovedPaths,
  type NewFolder,
} from './folder-writes.ts';
import { requireFolder, viewTree, type FirstRead } from './tree-view.ts';
import { readFirst } from './first-read.ts';
import {
  importFolders,
  type FolderImport,
  type ImportResult,
  type ImportOptions,
} from './import/import-folders.ts';
import {
  emptyTrash,
  purgeFolder,
  type EmptiedTrash,
  type EmptyTrash,
  type EmptyTrashOptions,
} from './purge.ts';
import { restoreFolder, type Restoration } from './trash.ts';

export interface DeletedFolder {
  /** Its path before the deletion. */
  readonly pathIds: readonly string[];
}

interface MovedFolder extends ChangedFolder {
  readonly paths: MovedPaths;
}

// `ways` is the name of the stored JSON key.
const moveResult: ResultCodec<MovedFolder, { id: string; ways: MovedPaths }> = {
  toStored: ({ id, paths }) => ({ id, ways: paths }),
  fromStored: ({ id, ways }) => ({ id, paths: ways }),
};

const deletionResult: ResultCodec<DeletedFolder, readonly string[]> = {
  toStored: ({ pathIds }) => pathIds,
  fromStored: (pathIds) => ({ pathIds }),
};

interface FolderSettings {
  readonly trashDays: number;
  readonly maxImportFolders: number;
  readonly maxTextBytes: number;
}

/** Each copy holds a database connection and the copied folders in memory. */
const maxDuplications = 2;
const maxWaitingDuplications = 100;

/** If the id is valid, reads the folder with its ancestors before the viewer's rights are read. */
function prefetchFolder(
  id: string | null | undefined,
): ((transaction: Transaction) => PromiseOrValue<FirstRead>) | undefined {
  return typeof id === 'string' && isRowId(id)
    ? (transaction) => readFirst(transaction, id, { withAncestors: true })
    : undefined;
}

export class Folders {
  readonly #changes: ChangeRunner<Access>;
  readonly #settings: FolderSettings;
  readonly #duplications = new FairQueue({
    permits: maxDuplications,
    permitsPerKey: 1,
    maxWaiting: maxWaitingDuplications,
    maxWaitingPerKey: maxWaitingDuplications / 10,
    fullError: () =>
      new Refusal('UNAVAILABLE', 'Too many duplicates are waiting. Try again in a moment.', {
        retryAfterSeconds: 5,
      }),
  });

  constructor(changes: ChangeRunner<Access>, settings: FolderSettings) {
    this.#changes = changes;
    this.#settings = settings;
  }

  create(caller: Caller, input: NewFolder): Promise<Changed<ChangedFolder>> {
    return this.#changes.run(caller, {
      codec: idCodec,
      prefetch: prefetchFolder(input.parentId),
      work: (transaction, access, by, firstRead) =>
        createFolder(transaction, viewTree(transaction, access, firstRead), input, by),
    });
  }

  update(caller: Caller, input: FolderUpdate): Promise<Changed<ChangedFolder>> {
    return this.#changes.run(caller, {
      codec: idCodec,
      prefetch: prefetchFolder(input.id),
      work: (transaction, access, by, firstRead) =>
        updateFolder(transaction, viewTree(transaction, access, firstRead), input, by),
    });
  }

  /** A dry run checks the move and changes nothing. */
  move(
    caller: Caller,
    input: FolderMove,
    { isDryRun }: { readonly isDryRun: boolean },
  ): Promise<Changed<MovedFolder>> {
    return this.#changes.run(caller, {
      codec: isDryRun ? undefined : moveResult,
      work: async (transaction, access, by): Promise<MovedFolder> => {
        const view = viewTree(transaction, access);
        const move = await checkMove(transaction, view, input);
        if (!isDryRun) await moveFolder(transaction, view, move, by);
        const folder = await requireFolder(viewTree(transaction, access), input.id);
        return { id: folder.id, folder, paths: move.paths };
      },
    });
  }

  delete(caller: Caller, input: FolderDeletion): Promise<Changed<DeletedFolder>> {
    return this.#changes.run(caller, {
      codec: deletionResult,
      work: async (transaction, access, by): Promise<DeletedFolder> => ({
        pathIds: await deleteFolder(transaction, viewTree(transaction, access), input, by),
      }),
    });
  }

  restore(caller: Caller, input: Restoration): Promise<Changed<ChangedFolder>> {
    const { trashDays } = this.#settings;
    return this.#changes.run(caller, {
      codec: idCodec,
      work: async (transaction, access, by): Promise<ChangedFolder> => {
        await restoreFolder(transaction, viewTree(transaction, access), input, { ...by, trashDays });
        const folder = await requireFolder(viewTree(transaction, access), input.id);
        return { id: folder.id, folder };
      },
    });
  }

  /** Returns the number of purged folders, without the folders inside them. */
  purge(caller: Caller, { id }: { readonly id: string }): Promise<Changed<number>> {
    return purgeFolder(this.#changes, caller, id, this.#settings);
  }

  emptyTrash(caller: Caller, input: EmptyTrash, options: EmptyTrashOptions): Promise<Changed<EmptiedTrash>> {
    const { trashDays } = this.#settings;
    return emptyTrash(this.#changes, caller, input, { ...options, trashDays });
  }

  duplicate(
    caller: Caller,
    input: FolderDuplication,
    options: DuplicationOptions,
  ): Promise<Changed<DuplicatedFolder>> {
    const { maxImportFolders: maxFolders, maxTextBytes } = this.#settings;
    const { userId: key, signal } = caller;
    return this.#duplications.run({ key, signal }, () =>
      duplicateFolder(this.#changes, caller, input, { ...options, maxFolders, maxTextBytes }),
    );
  }

  import(caller: Caller, input: FolderImport, options: ImportOptions): Promise<Changed<ImportResult>> {
    const { maxImportFolders: maxFolders } = this.#settings;
    return importFolders(this.#changes, caller, input, { ...options, maxFolders });
  }
}
