/** What people do with folders, in the tree and on a folder's page: shown at once, told when done, and taken back by Undo. */

import {
  createFolder,
  deleteFolder,
  moveFolder,
  restoreFolder,
  updateFolder,
  type FolderTexts,
} from '../../actions/folder-actions.ts';
import { perform, tellDone, tellFailure } from '../../actions/perform.ts';
import { folderVersions } from '../../actions/undo-steps.ts';
import type { BackStep } from '../../actions/task.ts';
import { describeProblem } from '../../graph/problem.ts';
import type { GraphQueryKey } from '../../graph/use-graph.ts';
import {
  moveOptimistically,
  removeOptimistically,
  updateTextsOptimistically,
} from '../state/optimistic-changes.ts';
import { shownTree } from '../tree.ts';

/** As much as is needed to do something with a folder and to take it back. */
export interface WorkFolder {
  readonly id: string;
  readonly name: string;
  readonly parentId: string | null;
}

const { store } = shownTree;

function about(...ids: readonly (string | null)[]): GraphQueryKey[] {
  return ids.flatMap((id): GraphQueryKey[] => (id === null ? [] : [['folder', id]]));
}

/** Rejects with the refusal, for a form to tell. Answers with the id of the new folder. */
export async function makeFolder(parentId: string, texts: FolderTexts & { name: string }): Promise<string> {
  const stale = about(parentId);
  const { createFolder: made } = await perform({
    action: createFolder,
    variables: { input: { parentId, ...texts } },
    done: `Created “${texts.name}”`,
    stale,
    back: ({ createFolder: { folder } }) => [
      {
        what: `“${folder.name}”`,
        // What others have put into it since is not deleted.
        conflict: `“${folder.name}” has folders inside by now.`,
        task: () => ({
          action: deleteFolder,
          variables: {
            input: { id: folder.id, recursive: false, expectedVersion: versionNow(folder) },
          },
          foresee: () => removeOptimistically(store, folder.id),
          stale,
        }),
      },
    ],
  });
  store.upsert({
    ...made.folder,
    title: texts.title ?? made.folder.name,
    icon: texts.icon ?? null,
    accessLevel: store.folder(parentId)?.accessLevel ?? 'WRITE',
    parent: { id: parentId },
    folders: { totalCount: 0 },
  });
  return made.folder.id;
}

/** Rejects with the refusal. Answers with the folder's version. */
export async function changeFolder(
  folder: WorkFolder,
  changes: FolderTexts & { expectedVersion?: number },
  before: FolderTexts,
): Promise<number> {
  const stale = about(folder.id, folder.parentId);
  const { updateFolder: changed } = await perform({
    action: updateFolder,
    variables: { input: { id: folder.id, ...changes } },
    done: changes.name === undefined ? `Changed “${folder.name}”` : `Renamed to “${changes.name}”`,
    foresee: () => updateTextsOptimistically(store, folder.id, changes),
    stale,
    back: ({ updateFolder: { folder: made } }) => [
      {
        what: `“${made.name}”`,
        task: () => ({
          action: updateFolder,
          variables: { input: { id: folder.id, ...before, expectedVersion: versionNow(made) } },
          foresee: () => updateTextsOptimistically(store, folder.id, before),
          stale,
        }),
        onDone: noteBack(made, ({ updateFolder: { folder: back } }: typeof updateFolder.result & {}) => back),
      },
    ],
  });
  return changed.folder.version;
}

/** Tells a refusal by a message. */
export async function moveFolders(
  folders: readonly WorkFolder[],
  parent: { id: string; name: string },
): Promise<void> {
  const moving = folders.filter(({ parentId }) => parentId !== parent.id);
  const task = (id: string, from: string | null, to: string, expectedVersion?: number) => ({
    action: moveFolder,
    variables: { input: { id, parentId: to, ...(expectedVersion !== undefined && { expectedVersion }) } },
    foresee: () => moveOptimistically(store, id, to),
    stale: about(id, from, to),
  });
  const back: BackStep[] = [];
  const affected = new Set<string>();
  let mostOfOneMove = 0;
  try {
    for (const { id, name, parentId } of moving) {
      const { moveFolder: moved } = await perform(task(id, parentId, parent.id));
      const { items = [], totalCount = 0 } = moved.accessChanges ?? {};
      for (const { user } of items) affected.add(user.id);
      mostOfOneMove = Math.max(mostOfOneMove, totalCount);
      back.unshift({
        what: `“${name}”`,
        task: () => task(id, parent.id, parentId!, versionNow(moved.folder)),
        onDone: noteBack(moved.folder, ({ moveFolder: { folder } }: typeof moveFolder.result & {}) => folder),
      });
    }
  } catch (error) {
    tellFailure(`${moveFolder.label}: ${describeProblem(error).text}`);
  }
  const [first] = moving;
  if (!first || back.length === 0) return;
  const what = moving.length === 1 ? `“${first.name}”` : `${back.length} folders`;
  const call = moving.length === 1 ? task(first.id, first.parentId, parent.id) : undefined;
  tellDone(
    `Moved ${what} into “${parent.name}”${withAccess(Math.max(affected.size, mostOfOneMove))}`,
    back,
    call,
  );
}

/** With all that is inside. Rejects with the refusal; those before it are deleted. */
export async function deleteFolders(folders: readonly WorkFolder[]): Promise<void> {
  const stale = (parentId: string | null): GraphQueryKey[] => [...about(parentId), ['trash']];
  const deleted: (WorkFolder & { readonly count: number })[] = [];
  try {
    for (const folder of folders) {
      const { deleteFolder: done } = await perform({
        action: deleteFolder,
        variables: { input: { id: folder.id, recursive: true } },
        foresee: () => removeOptimistically(store, folder.id),
        stale: stale(folder.parentId),
      });
      deleted.push({ ...folder, count: done.folderCount });
    }
  } finally {
    const [first] = deleted;
    const restore = ({ id, name, parentId }: WorkFolder): BackStep => ({
      what: `“${name}”`,
      task: () => ({ action: restoreFolder, variables: { input: { id } }, stale: stale(parentId) }),
      // Deleting it has made one version, restoring it another.
      onDone: ({ restoreFolder: { folder } }: typeof restoreFolder.result & {}) =>
        folderVersions.note(id, folder.version - 2, folder.version),
    });
    if (first) {
      const inside = deleted.reduce((sum, { count }) => sum + count - 1, 0);
      const what = deleted.length === 1 ? `“${first.name}”` : `${deleted.length} folders`;
      tellDone(`Deleted ${what}${withInside(inside)}`, deleted.toReversed().map(restore), {
        action: deleteFolder,
        variables: { input: { id: first.id, recursive: true } },
      });
    }
  }
}

interface Versioned {
  readonly id: string;
  readonly version: number;
}

function versionNow({ id, version }: Versioned): number {
  return folderVersions.now(id, version);
}

/** What made a version has been taken back: the folder is what it was one version before. */
function noteBack<Result>({ id, version }: Versioned, folderOf: (result: Result) => Versioned) {
  return (result: Result) => {
    const { version: undone } = folderOf(result);
    if (undone > version) folderVersions.note(id, version - 1, undone);
  };
}

/** Dragging and pasting do not ask beforehand. */
function withAccess(count: number): string {
  if (count === 0) return '';
  return count === 1
    ? '; one person has other access there'
    : `; ${count.toLocaleString('en')} people have other access there`;
}

function withInside(count: number): string {
  return count === 0 ? '' : ` with ${count.toLocaleString('en')} inside`;
}
