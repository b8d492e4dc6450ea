/** Creates, changes, moves and deletes folders for the tree and the folder pages. Each operation is shown immediately and can be undone. */

import {
  createFolder,
  deleteFolder,
  duplicateFolder,
  moveFolder,
  restoreFolder,
  updateFolder,
  type FolderTexts,
} from '../../actions/folder-actions.ts';
import { performEach, type BulkAction } from '../../actions/bulk.ts';
import { perform, performOrReport, reportFailure } from '../../actions/perform.ts';
import { toasts } from '../../actions/toasts.ts';
import { folderVersions } from '../../actions/undo-steps.ts';
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

/** After this time, a toast reports that the copy is still running. */
const announcedMs = 1_000;

/** Copies a folder with everything inside into the same parent. Reports an error as a toast. */
export async function copyFolder({ id, name, parentId }: FolderRef): Promise<void> {
  const staleQueries = folderKeys(parentId);
  const announce = () => toasts.add({ tone: 'note', text: `Duplicating “${name}”…` });
  const timer = setTimeout(announce, announcedMs);
  const result = await performOrReport({
    action: duplicateFolder,
    variables: { input: { id } },
    doneText: ({ duplicateFolder: { folder, folderCount } }) =>
      `Duplicated “${name}” as “${folder.name}”${formatCountInside(folderCount - 1)}`,
    staleQueries,
    undoSteps: ({ duplicateFolder: { folder } }) => [
      {
        subject: `“${folder.name}”`,
        task: () => ({
          action: deleteFolder,
          variables: { input: { id: folder.id, recursive: true, expectedVersion: currentVersion(folder) } },
          optimisticUpdate: () => removeOptimistically(store, folder.id),
          staleQueries: [...staleQueries, ['trash']],
        }),
      },
    ],
  });
  clearTimeout(timer);
  if (result) store.upsert(result.duplicateFolder.folder);
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

interface Move {
  readonly id: string;
  readonly from: string | null;
  readonly to: string;
  /** The new name, if it changes. */
  readonly name?: string | undefined;
  readonly expectedVersion?: number;
}

export function moveInput({ id, to, name, expectedVersion }: Omit<Move, 'from'>): MoveInput {
  return {
    id,
    parentId: to,
    ...(name !== undefined && { name }),
    ...(expectedVersion !== undefined && { expectedVersion }),
  };
}

function moveTask(move: Move) {
  const { id, from, to, name } = move;
  return {
    action: moveFolder,
    variables: { input: moveInput(move) },
    optimisticUpdate: () => moveOptimistically(store, id, to, name),
    staleQueries: folderKeys(id, from, to),
  };
}

type MoveResult = NonNullable<typeof moveFolder.result>;
type MoveInput = Parameters<NonNullable<typeof moveFolder.cliArguments>>[0]['input'];

/** `newName` is for one folder. */
export function createMoveAction(
  parent: { readonly id: string; readonly name: string },
  newName?: string,
): BulkAction<FolderRef, { input: MoveInput }, MoveResult> {
  return {
    taskOf: ({ id, name, parentId }) => ({
      ...moveTask({ id, from: parentId, to: parent.id, name: newName }),
      undoSteps: ({ moveFolder: moved }) => [
        {
          subject: `“${newName ?? name}”`,
          task: () =>
            moveTask({
              id,
              from: parent.id,
              to: parentId!,
              expectedVersion: currentVersion(moved.folder),
              ...(newName !== undefined && { name }),
            }),
          onDone: recordUndo(moved.folder, ({ moveFolder: { folder } }: MoveResult) => folder),
        },
      ],
    }),
    doneText(done) {
      const changes = done.map(({ result }) => result.moveFolder.accessChanges);
      const affected = new Set(changes.flatMap((one) => one?.items.map(({ user }) => user.id) ?? []));
      const count = Math.max(affected.size, ...changes.map((one) => one?.totalCount ?? 0));
      const renamed = newName === undefined ? '' : ` as “${newName}”`;
      return `Moved ${formatSubject(done)} into “${parent.name}”${renamed}${formatAccessEffect(count)}`;
    },
  };
}

/** For moves without a dialog. Reports errors as toasts. */
export async function moveFolders(
  folders: readonly FolderRef[],
  parent: { id: string; name: string },
): Promise<void> {
  const foldersToMove = folders.filter(({ parentId }) => parentId !== parent.id);
  const { failures, untriedItems } = await performEach(foldersToMove, createMoveAction(parent));
  const [first] = failures;
  if (!first) return;
  const others = failures.length + untriedItems.length - 1;
  reportFailure(
    `${moveFolder.label} “${first.item.name}”: ${first.text}${others > 0 ? ` ${others} more were not moved.` : ''}`,
  );
}

type DeleteResult = NonNullable<typeof deleteFolder.result>;

/** Deletes folders with everything inside. */
export const deleteAction: BulkAction<
  FolderRef,
  { input: { id: string; recursive: boolean } },
  DeleteResult
> = {
  taskOf: ({ id, name, parentId }) => ({
    action: deleteFolder,
    variables: { input: { id, recursive: true } },
    optimisticUpdate: () => removeOptimistically(store, id),
    staleQueries: [...folderKeys(parentId), ['trash']],
    undoSteps: () => [
      {
        subject: `“${name}”`,
        task: () => ({
          action: restoreFolder,
          variables: { input: { id } },
          staleQueries: [...folderKeys(parentId), ['trash']],
        }),
        // Deleting and restoring each add one version.
        onDone: ({ restoreFolder: { folder } }: NonNullable<typeof restoreFolder.result>) =>
          folderVersions.record(id, folder.version - 2, folder.version),
      },
    ],
  }),
  doneText(done) {
    const inside = done.reduce((sum, { result }) => sum + result.deleteFolder.folderCount - 1, 0);
    return `Deleted ${formatSubject(done)}${formatCountInside(inside)}`;
  },
};

function formatSubject(done: readonly { readonly item: FolderRef }[]): string {
  return done.length === 1 ? `“${done[0]!.item.name}”` : `${done.length.toLocaleString('en')} folders`;
}

interface FolderVersion {
  readonly id: string;
  readonly version: number;
}

function currentVersion({ id, version }: FolderVersion): number {
  return folderVersions.resolve(id, version);
}

/** Records that an undo restored the content of the previous version. */
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
  if (count === 0) return '';
  return count === 1 ? ' with one folder inside' : ` with ${count.toLocaleString('en')} folders inside`;
}
