/** The mutations `importFolders` and `duplicateFolder`. */

import type { ImportedTree } from '../../../folders/import/import-plan.ts';
import { requireFolder } from '../../../folders/tree-view.ts';
import { yieldingSnapshot } from '../../time-slices.ts';
import { builder, Folder } from '../builder.ts';
import { changeCursor, defineMutation } from '../mutation.ts';
import { toFolderNode, type FolderNode } from './folder-batch.ts';
import {
  expectedParentVersion,
  expectedVersion,
  limits,
  newTexts,
  nodeOfChanged,
  parentOrRoot,
} from './folder-mutations.ts';

const ImportedFolder = builder.inputRef<ImportedTree>('ImportedFolder');
ImportedFolder.implement({
  description: 'A folder with the folders inside it.',
  fields: (t) => ({
    name: t.string({ required: true, description: limits.name }),
    ...newTexts(t),
    folders: t.field({ type: [ImportedFolder], description: 'The sub-folders.' }),
  }),
});

const ImportedPath = builder.inputType('ImportedPath', {
  description: 'A folder with its path below the parent. Missing folders on the path are also created.',
  fields: (t) => ({
    path: t.string({
      required: true,
      description: 'The names, separated by slashes. For example: "Places/Floor 2".',
    }),
    ...newTexts(t),
  }),
});

defineMutation('importFolders', {
  description:
    'Create many folders at once. After an error, no folder is created. Requires WRITE on the parent. CONFLICT if a name at the top is already in use, or if the input contains a folder twice.',
  input: (t) => ({
    parentId: t.id({ description: parentOrRoot }),
    tree: t.field({
      type: [ImportedFolder],
      description: 'Folders with the folders inside them. Give either `tree` or `list`.',
    }),
    list: t.field({
      type: [ImportedPath],
      description:
        'A flat list of folders with their paths, in any order, as `exportFolders` returns it. Give either `tree` or `list`.',
    }),
    expectedVersion: t.int({ description: expectedParentVersion }),
  }),
  change: ({ folders }, caller, input, task) =>
    folders.import(caller, input, { beforeRows: (count) => task.yieldBefore(count) }),
  toPayload: (imported) => imported,
  payload: (t) => ({
    parent: t.field({
      type: Folder,
      description: 'The folder that contains the new folders.',
      resolve: async ({ parentId }, _, { view }) => toFolderNode(view, await requireFolder(view, parentId)),
    }),
    folderCount: t.exposeInt('count', { description: 'The number of new folders.' }),
    cursor: t.string(changeCursor),
  }),
  last: ['input'],
});

interface Duplicated {
  readonly node: FolderNode;
  readonly count: number;
}

defineMutation('duplicateFolder', {
  description:
    'Copy a folder, with all folders inside it that you see. Folders that you see only on the path to others are copied without their texts. Grants are not copied. After an error, nothing is copied. Requires READ on the folder and WRITE on the parent of the copy.',
  input: (t) => ({
    id: t.id({ required: true, description: 'The folder to copy.' }),
    parentId: t.id({ description: 'The parent of the copy: the parent of the folder by default.' }),
    name: t.string({
      description: `The name of the copy: ${limits.name} By default, the name of the folder in another parent, and otherwise the first free name of "NAME (copy)", "NAME (copy 2)" and so on.`,
    }),
    expectedVersion: t.int({ description: expectedVersion }),
  }),
  change: ({ folders }, caller, input, task) =>
    folders.duplicate(caller, input, {
      pace: (snapshot) => yieldingSnapshot(snapshot, task),
      beforeRows: (count) => task.yieldBefore(count),
    }),
  toPayload: async (duplicated, { context }): Promise<Duplicated> => ({
    node: await nodeOfChanged(duplicated, context),
    count: duplicated.count,
  }),
  payload: (t) => ({
    folder: t.expose('node', { type: Folder, description: 'The copy.' }),
    folderCount: t.exposeInt('count', {
      description: 'The number of new folders: the copy itself and all folders inside.',
    }),
    cursor: t.string(changeCursor),
  }),
  last: ['input', 'payload'],
});
