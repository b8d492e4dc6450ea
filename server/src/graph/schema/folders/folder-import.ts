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
    folders: t.field({ type: [ImportedFolder], description: 'The subfolders.' }),
  }),
});

const ImportedPath = builder.inputType('ImportedPath', {
  description: 'A folder with its path below the parent. Missing folders on the path are also created.',
  fields: (t) => ({
    path: t.string({
      required: true,
      description: 'The names, with slashes between them. For example: "Places/Floor 2".',
    }),
    ...newTexts(t),
  }),
});

const OnExistingFolder = builder.enumType('OnExistingFolder', {
  description: 'What an import does with a folder that already exists at its path.',
  values: {
    FAIL: { description: 'Refuse the whole import with CONFLICT.' },
    KEEP: { description: 'Keep the folder unchanged, and create the folders inside it that are missing.' },
    UPDATE: {
      description:
        'Like KEEP, and also set the title, the icon, the description and the properties that the input contains. Null removes the current value. Requires WRITE on each folder that changes.',
    },
  },
});

defineMutation('importFolders', {
  description:
    'Create many folders at once, or merge them with existing folders. If an error occurs, nothing changes. Requires WRITE on the parent, and on each existing folder that receives new subfolders. CONFLICT if the input contains a folder twice.',
  input: (t) => ({
    parentId: t.id({ description: parentOrRoot }),
    tree: t.field({
      type: [ImportedFolder],
      description: 'Nested folders: each folder contains its subfolders. Set either `tree` or `list`.',
    }),
    list: t.field({
      type: [ImportedPath],
      description:
        'A flat list of folders with their paths, in any order, as `exportFolders` returns it. Set either `tree` or `list`.',
    }),
    onExisting: t.field({
      type: OnExistingFolder,
      required: true,
      defaultValue: 'FAIL',
      description: 'What to do if a folder of the input already exists. Names are compared in Unicode NFC.',
    }),
    expectedVersion: t.int({ description: expectedParentVersion }),
    dryRun: t.boolean({
      required: true,
      defaultValue: false,
      description:
        'If true, imports nothing: returns only the effects of the import, or the error that it would have.',
    }),
  }),
  change: ({ folders }, caller, { dryRun: isDryRun, ...input }, task) =>
    folders.import(caller, input, { isDryRun, beforeRows: (count) => task.yieldBefore(count) }),
  toPayload: (imported, _, { dryRun: isDryRun }) => ({ ...imported, isDryRun }),
  payload: (t) => ({
    parent: t.field({
      type: Folder,
      description: 'The folder that contains the new folders.',
      resolve: async ({ parentId }, _, { view }) => toFolderNode(view, await requireFolder(view, parentId)),
    }),
    isDryRun: t.exposeBoolean('isDryRun', {
      description: 'Whether this was a dry run: nothing was changed.',
    }),
    folderCount: t.exposeInt('createdCount', {
      description: 'The number of new folders: the same as `createdCount`.',
    }),
    createdCount: t.exposeInt('createdCount', {
      description:
        'The number of new folders, including folders that the input names only in the paths of others.',
    }),
    updatedCount: t.exposeInt('updatedCount', {
      description: 'The number of existing folders with new texts.',
    }),
    keptCount: t.exposeInt('keptCount', {
      description:
        'The number of existing folders that stay the same, including folders that the input names only in the paths of others.',
    }),
    cursor: t.string(changeCursor),
  }),
  last: ['input'],
});

interface DuplicateResult {
  readonly node: FolderNode;
  readonly count: number;
}

defineMutation('duplicateFolder', {
  description:
    'Copy a folder, with all folders inside it that you see. Folders on which your `accessLevel` is NONE are copied without their texts. Grants are not copied. If an error occurs, nothing is copied. Requires READ on the folder and WRITE on the parent of the copy.',
  input: (t) => ({
    id: t.id({ required: true, description: 'The id of the folder to copy.' }),
    parentId: t.id({ description: 'The id of the parent of the copy: the parent of the folder by default.' }),
    name: t.string({
      description: `${limits.name} By default, a copy below another parent keeps the name of the folder. Otherwise, it gets the first free name of "NAME (copy)", "NAME (copy 2)" and so on.`,
    }),
    expectedVersion: t.int({ description: expectedVersion }),
  }),
  change: ({ folders }, caller, input, task) =>
    folders.duplicate(caller, input, {
      pace: (snapshot) => yieldingSnapshot(snapshot, task),
      beforeRows: (count) => task.yieldBefore(count),
    }),
  toPayload: async (duplicated, { context }): Promise<DuplicateResult> => ({
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
