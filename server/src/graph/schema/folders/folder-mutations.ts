/** The mutations that create, update and delete folders. The response shows the folder as the viewer sees it after the change. */

import type { FieldMap, InputFieldBuilder, ObjectFieldBuilder } from '@pothos/core';
import { accessLevels } from '../../../access/access.ts';
import { countDescendants } from '../../../folders/children/child-counts.ts';
import type { ChangedFolder } from '../../../folders/folder-writes.ts';
import type { DeletedFolder } from '../../../folders/folders.ts';
import {
  readFolder,
  requireFolder,
  withLevel,
  type Folder as FolderRow,
  type TreeView,
} from '../../../folders/tree-view.ts';
import { viewBeforeDeletion } from '../../../folders/trash.ts';
import { longField } from '../../field-marks.ts';
import { Folder, type ExtendedTypes, type GraphContext } from '../builder.ts';
import { changeCursor, defineMutation, type MutationResponse } from '../mutation.ts';
import { toFolderNode, type FolderNode } from './folder-batch.ts';

const otherVersion = 'has another version. The error contains the current version.';
export const expectedVersion = `The version that you have read. CONFLICT if the folder ${otherVersion}`;
export const expectedParentVersion = `The version of the parent that you have read. CONFLICT if the parent ${otherVersion}`;
export const parentOrRoot = 'The id of the parent: the root by default.';

/** Descriptions of the limits of a folder's texts. The domain checks them. */
export const limits = {
  name: 'The name: 1 to 255 characters, without slashes and control characters. Unique among the subfolders of the same parent.',
  title: 'The title: at most 255 characters.',
  icon: 'The icon: at most 255 characters.',
  description: 'The description: at most 10,000 characters.',
  properties: 'The properties: a JSON object of at most 16 KiB. For example: {"area": 120}.',
};

/** The fields of an input for the texts of a new folder. */
export function newTexts(t: InputFieldBuilder<ExtendedTypes, 'InputObject'>) {
  return {
    title: t.string({ description: limits.title }),
    icon: t.string({ description: limits.icon }),
    description: t.string({ description: limits.description }),
    properties: t.field({ type: 'JSON', description: limits.properties }),
  };
}

/** The fields of a payload with the changed folder. */
export function folderPayload(t: ObjectFieldBuilder<ExtendedTypes, FolderNode>): FieldMap {
  return {
    folder: t.field({
      type: Folder,
      description: 'The folder after the change.',
      resolve: (node) => node,
    }),
    cursor: t.string(changeCursor),
  };
}

defineMutation('createFolder', {
  description: 'Create a folder. Requires WRITE on the parent.',
  input: (t) => ({
    parentId: t.id({ description: parentOrRoot }),
    name: t.string({ required: true, description: limits.name }),
    ...newTexts(t),
    expectedVersion: t.int({ description: expectedParentVersion }),
  }),
  change: ({ folders }, caller, input) => folders.create(caller, input),
  seenIn: ({ seen }) => seen,
  toPayload: toCurrentFolder,
  payload: folderPayload,
  last: ['input', 'payload'],
});

const removalText = 'Null or "" removes it.';

defineMutation('updateFolder', {
  description:
    'Change the name and the texts of a folder. Fields that you omit do not change. Requires WRITE.',
  input: (t) => ({
    id: t.id({ required: true, description: 'The id of the folder.' }),
    name: t.string({ description: `${limits.name} Null changes nothing.` }),
    title: t.string({ description: `${limits.title} ${removalText} The title is then the name.` }),
    icon: t.string({ description: `${limits.icon} ${removalText}` }),
    description: t.string({ description: `${limits.description} ${removalText}` }),
    properties: t.field({
      type: 'JSON',
      description: `${limits.properties} Replaces all properties. Null removes them.`,
    }),
    expectedVersion: t.int({ description: expectedVersion }),
  }),
  change: ({ folders }, caller, input) => folders.update(caller, input),
  seenIn: ({ seen }) => seen,
  toPayload: toCurrentFolder,
  payload: folderPayload,
  last: ['input', 'payload'],
});

interface DeletionResult extends DeletedFolder {
  /** Counted once, however often the query selects it. */
  count?: Promise<number>;
}

defineMutation('deleteFolder', {
  description:
    'Delete a folder. Requires WRITE on the folder and on its parent. You can restore a deleted folder for some days. Then the server purges it.',
  input: (t) => ({
    id: t.id({ required: true, description: 'The id of the folder.' }),
    recursive: t.boolean({
      required: true,
      defaultValue: false,
      description:
        'If true, also deletes the folders inside. If false, a folder with subfolders is refused with CONFLICT.',
    }),
    expectedVersion: t.int({ description: expectedVersion }),
  }),
  change: ({ folders }, caller, { recursive, ...deletion }) =>
    folders.delete(caller, { ...deletion, isRecursive: recursive }),
  toPayload: ({ pathIds }): DeletionResult => ({ pathIds }),
  payload: (t) => ({
    folderId: t.id({
      description: 'The id of the deleted folder, for `restoreFolder`.',
      resolve: ({ pathIds }) => pathIds.at(-1)!,
    }),
    folderCount: t.int({
      description: 'The number of deleted folders that you saw: the folder itself and all folders inside.',
      extensions: longField,
      resolve: (deleted, _, { view, budget }, info) =>
        (deleted.count ??= countDeleted(view, deleted.pathIds, (count) => budget.scan(count, info))),
    }),
    cursor: t.string(changeCursor),
  }),
  last: ['input'],
});

/**
 * Returns a folder that was just changed, as the viewer may see it in the snapshot of the response. Between the commit and the
 * snapshot, the folder may have been deleted, or hidden from the viewer. The response then contains its name, and nothing that
 * needs a right. If the change was made earlier under the same idempotency key, a folder that the viewer no longer sees is
 * NOT_FOUND.
 */
export async function nodeOfChanged(
  { id, folder: changed, pathIds }: ChangedFolder,
  { view }: GraphContext,
  since?: Omit<MutationResponse, 'context'>,
): Promise<FolderNode> {
  if (!changed) return toFolderNode(view, await requireFolder(view, id));
  // The ancestors have not changed since the commit, so they need not be read.
  if (pathIds && since?.isAccessSame) view.ancestry.setPath(pathIds);
  const folder = since?.isLatest ? changed : await readFolder(view, id);
  return toFolderNode(view, folder ?? withLevel(changed, accessLevels.NONE));
}

function toCurrentFolder(changed: ChangedFolder, response: MutationResponse): Promise<FolderNode> {
  return nodeOfChanged(changed, response.context, response);
}

/** Counts with the viewer's current rights. Refuses with NOT_FOUND if these rights would not let the viewer see the folder. */
async function countDeleted(
  now: TreeView,
  pathIds: readonly string[],
  onRead: (count: number) => void,
): Promise<number> {
  const { view, folder } = await viewBeforeDeletion(now, pathIds);
  return countWithFolder(view, folder, onRead);
}

/** Counts a folder and the folders inside it. */
export async function countWithFolder(
  view: TreeView,
  folder: FolderRow,
  onRead: (count: number) => void,
): Promise<number> {
  return 1 + (await countDescendants(view, folder, { onRead }));
}
