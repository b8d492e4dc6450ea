/** Creates, changes, moves and deletes folders for the tree and the folder pages. Each operation is shown at once and can be undone. */

import {
  createFolder,
  deleteFolder,
  moveFolder,
  restoreFolder,
  updateFolder,
  type FolderTexts,
} from '../../actions/folder-actions.ts';
import { perform, reportDone, reportFailure } from '../../actions/perform.ts';
import { folderVersions } from '../../actions/undo-steps.ts';
import type { UndoStep } from '../../actions/task.ts';
import { describeProblem } from '../../graph/problem.ts';
import type { GraphQueryKey } from '../../graph/use-graph.ts';
import {
  moveOptimistically,
  removeOptimistically,
  updateTextsOptimistically,
} from '../state/optimistic-changes.ts';
import { mainTree } from '../tree.ts';

/** The data needed to change a folder and to undo the change. */
export interface FolderRef {
  readonly id: string;
  readonly name: string;
  readonly parentId: string | null;
}

export function toFolderRef({
  id,
  name,
  parent,
}: {
  readonly id: string;
  readonly name: string;
  readonly parent: { readonly id: string } | null;
}): FolderRef {
  return { id, name, parentId: parent?.id ?? null };
}

const { store } = mainTree;

function folderKeys(...ids: readonly (string | null)[]): GraphQueryKey[] {
  return ids.flatMap((id): GraphQueryKey[] => (id === null ? [] : [['folder', id]]));
}

/** Returns the id of the new folder. Rejects with the server's error, which the form displays. */
export async function createNewFolder(
  parentId: string,
  texts: FolderTexts & { name: string },
): Promise<string> {
  const staleQueries = folderKeys(parentId);
  const { createFolder: created } = await perform({
    action: createFolder,
    variables: { input: { parentId, ...texts } },
    doneText: `Created “${texts.name}”`,
    staleQueries,
    undoSteps: ({ createFolder: { folder } }) => [
      {
        subject: `“${folder.name}”`,
        // The deletion is not recursive, so it fails if other users have added folders inside.
        conflictText: `“${folder.name}” now contains folders.`,
        task: () => ({
          action: deleteFolder,
          variables: {
            input: { id: folder.id, recursive: false, expectedVersion: currentVersion(folder) },
          },
          optimisticUpdate: () => removeOptimistically(store, folder.id),
          staleQueries,
        }),
      },
    ],
  });
  store.upsert({
    ...created.folder,
    title: texts.title ?? created.folder.name,
    icon: texts.icon ?? null,
    accessLevel: store.folder(parentId)?.accessLevel ?? 'WRITE',
    parent: { id: parentId },
    folders: { totalCount: 0 },
  });
  return created.folder.id;
}

/** Returns the new version of the folder. Rejects with the server's error. */
export async function changeFolder(
  folder: FolderRef,
  changes: FolderTexts & { expectedVersion?: number },
  before: FolderTexts,
): Promise<number> {
  const staleQueries = folderKeys(folder.id, folder.parentId);
  const { updateFolder: changed } = await perform({
    action: updateFolder,
    variables: { input: { id: folder.id, ...changes } },
    doneText: changes.name === undefined ? `Changed “${folder.name}”` : `Renamed to “${changes.name}”`,
    optimisticUpdate: () => updateTextsOptimistically(store, folder.id, changes),
    staleQueries,
    undoSteps: ({ updateFolder: { folder: updated } }) => [
      {
        subject: `“${updated.name}”`,
        task: () => ({
          action: updateFolder,
          variables: { input: { id: folder.id, ...before, expectedVersion: currentVersion(updated) } },
          optimisticUpdate: () => updateTextsOptimistically(store, folder.id, before),
          staleQueries,
        }),
        onDone: recordUndo(
          updated,
          ({ updateFolder: { folder: undone } }: typeof updateFolder.result & {}) => undone,
        ),
      },
    ],
  });
  return changed.folder.version;
}

/** Reports an error as a toast. */
export async function moveFolders(
  folders: readonly FolderRef[],
  parent: { id: string; name: string },
): Promise<void> {
  const moving = folders.filter(({ parentId }) => parentId !== parent.id);
  const task = (id: string, from: string | null, to: string, expectedVersion?: number) => ({
    action: moveFolder,
    variables: { input: { id, parentId: to, ...(expectedVersion !== undefined && { expectedVersion }) } },
    optimisticUpdate: () => moveOptimistically(store, id, to),
    staleQueries: folderKeys(id, from, to),
  });
  const undoSteps: UndoStep[] = [];
  const affected = new Set<string>();
  let maxInOneMove = 0;
  try {
    for (const { id, name, parentId } of moving) {
      const { moveFolder: moved } = await perform(task(id, parentId, parent.id));
      const { items = [], totalCount = 0 } = moved.accessChanges ?? {};
      for (const { user } of items) affected.add(user.id);
      maxInOneMove = Math.max(maxInOneMove, totalCount);
      undoSteps.unshift({
        subject: `“${name}”`,
        task: () => task(id, parent.id, parentId!, currentVersion(moved.folder)),
        onDone: recordUndo(
          moved.folder,
          ({ moveFolder: { folder } }: typeof moveFolder.result & {}) => folder,
        ),
      });
    }
  } catch (error) {
    reportFailure(`${moveFolder.label}: ${describeProblem(error).text}`);
  }
  const [first] = moving;
  if (!first || undoSteps.length === 0) return;
  const subject = moving.length === 1 ? `“${first.name}”` : `${undoSteps.length} folders`;
  const call = moving.length === 1 ? task(first.id, first.parentId, parent.id) : undefined;
  reportDone(
    `Moved ${subject} into “${parent.name}”${formatAccessEffect(Math.max(affected.size, maxInOneMove))}`,
    undoSteps,
    call,
  );
}

/** Deletes folders with their subtrees, one after the other. Rejects with the first error; earlier deletions remain. */
export async function deleteFolders(folders: readonly FolderRef[]): Promise<void> {
  const staleQueries = (parentId: string | null): GraphQueryKey[] => [...folderKeys(parentId), ['trash']];
  const deleted: (FolderRef & { readonly count: number })[] = [];
  try {
    for (const folder of folders) {
      const { deleteFolder: result } = await perform({
        action: deleteFolder,
        variables: { input: { id: folder.id, recursive: true } },
        optimisticUpdate: () => removeOptimistically(store, folder.id),
        staleQueries: staleQueries(folder.parentId),
      });
      deleted.push({ ...folder, count: result.folderCount });
    }
  } finally {
    const [first] = deleted;
    const restore = ({ id, name, parentId }: FolderRef): UndoStep => ({
      subject: `“${name}”`,
      task: () => ({
        action: restoreFolder,
        variables: { input: { id } },
        staleQueries: staleQueries(parentId),
      }),
      // Deleting and restoring each add one version.
      onDone: ({ restoreFolder: { folder } }: typeof restoreFolder.result & {}) =>
        folderVersions.record(id, folder.version - 2, folder.version),
    });
    if (first) {
      const inside = deleted.reduce((sum, { count }) => sum + count - 1, 0);
      const subject = deleted.length === 1 ? `“${first.name}”` : `${deleted.length} folders`;
      reportDone(`Deleted ${subject}${formatCountInside(inside)}`, deleted.toReversed().map(restore), {
        action: deleteFolder,
        variables: { input: { id: first.id, recursive: true } },
      });
    }
  }
}

interface FolderVersion {
  readonly id: string;
  readonly version: number;
}

function currentVersion({ id, version }: FolderVersion): number {
  return folderVersions.resolve(id, version);
}

/** Records that an undo restored the content of the version before. */
function recordUndo<Result>({ id, version }: FolderVersion, getFolder: (result: Result) => FolderVersion) {
  return (result: Result) => {
    const { version: undone } = getFolder(result);
    if (undone > version) folderVersions.record(id, version - 1, undone);
  };
}

function formatAccessEffect(count: number): string {
  if (count === 0) return '';
  return count === 1
    ? '; the access of one user has changed'
    : `; the access of ${count.toLocaleString('en')} users has changed`;
}

function formatCountInside(count: number): string {
  return count === 0 ? '' : ` with ${count.toLocaleString('en')} inside`;
}
