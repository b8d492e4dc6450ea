/** The mutations that create, update, delete and import folders. Each returns the folder as the viewer sees it afterwards. */

import {
  Kind,
  TypeNameMetaFieldDef,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { countDescendants } from '../../../folders/children/child-counts.ts';
import type { TreeView } from '../../../folders/folders.ts';
import type { Imported } from '../../../folders/import/import-folders.ts';
import type { ImportedTree } from '../../../folders/import/import-plan.ts';
import type { DeletedFolder } from '../../../folders/manage-folders.ts';
import { beforeDeletion } from '../../../folders/trash.ts';
import { longField } from '../../document-fields.ts';
import { change } from '../../mutations.ts';
import { defineMutation, type Builder } from '../builder.ts';
import { changeCursor } from '../journal/references.ts';
import type { FolderNode } from './folder-batch.ts';
import { nodeById, nodeOfChanged } from './folder-queries.ts';
import { ownFields, type FolderTypes } from './folder.ts';

export const expectedVersion =
  'Refuses with CONFLICT if the folder has another version by now; the error tells which.';

/** Descriptions of the limits of a folder's texts. The domain checks them. */
const limits = {
  name: '1 to 255 characters, without slashes and control characters',
  title: 'At most 255 characters.',
  icon: 'At most 255 characters.',
  description: 'At most 10,000 characters.',
  properties: 'A JSON object of at most 16 KiB.',
};

const isTakenAway = 'Null or "" takes it away';

export function defineFolderMutations(builder: Builder, { Folder }: Pick<FolderTypes, 'Folder'>): void {
  const payload = (name: string) =>
    builder.objectRef<FolderNode>(name).implement({
      fields: (t) => ({
        folder: t.field({ type: Folder, resolve: (node) => node }),
        cursor: t.string(changeCursor),
      }),
    });

  defineMutation(builder, 'createFolder', {
    type: () => payload('CreateFolderPayload'),
    description: 'Needs WRITE on the parent.',
    input: () => defineCreateInput(builder),
    resolve: (input, context) =>
      change(
        context,
        ({ folders }, caller) => folders.create(caller, input),
        nodeOfChanged,
        ({ seen }) => seen,
      ),
  });

  defineMutation(builder, 'updateFolder', {
    type: () => payload('UpdateFolderPayload'),
    description: 'Needs WRITE. What is not given stays as it is; null takes a text away.',
    input: () => defineUpdateInput(builder),
    resolve: (input, context) =>
      change(
        context,
        ({ folders }, caller) => folders.update(caller, input),
        nodeOfChanged,
        ({ seen }) => seen,
      ),
  });
  defineDelete(builder);
}

function defineCreateInput(builder: Builder) {
  return builder.inputType('CreateFolderInput', {
    fields: (f) => ({
      parentId: f.id({ description: 'The root, unless told.' }),
      name: f.string({ required: true, description: `${limits.name}; free among the siblings.` }),
      title: f.string({ description: limits.title }),
      icon: f.string({ description: limits.icon }),
      description: f.string({ description: limits.description }),
      properties: f.field({ type: 'JSON', description: limits.properties }),
      expectedVersion: f.int({ description: `Of the parent. ${expectedVersion}` }),
    }),
  });
}

function defineUpdateInput(builder: Builder) {
  return builder.inputType('UpdateFolderInput', {
    fields: (f) => ({
      id: f.id({ required: true }),
      name: f.string({ description: `${limits.name}; free among the siblings. Null changes nothing.` }),
      title: f.string({ description: `${limits.title} ${isTakenAway}; it then reads as the name.` }),
      icon: f.string({ description: `${limits.icon} ${isTakenAway}.` }),
      description: f.string({ description: `${limits.description} ${isTakenAway}.` }),
      properties: f.field({
        type: 'JSON',
        description: `${limits.properties} Replaces all of them; null takes them away.`,
      }),
      expectedVersion: f.int({ description: expectedVersion }),
    }),
  });
}

interface Deleted extends DeletedFolder {
  /** Counted once, however often the query selects it. */
  count?: Promise<number>;
}

function defineDelete(builder: Builder): void {
  defineMutation(builder, 'deleteFolder', {
    type: builder.objectRef<Deleted>('DeleteFolderPayload').implement({
      fields: (t) => ({
        folderId: t.id({
          description: 'The id that the folder had, for `restoreFolder`.',
          resolve: ({ pathIds }) => pathIds.at(-1)!,
        }),
        folderCount: t.int({
          description: 'How many folders you saw going: the folder itself and all that was inside.',
          extensions: longField,
          resolve: (deleted, _, { view, budget }, info) =>
            (deleted.count ??= countDeleted(view, deleted.pathIds, (count) => budget.scan(count, info))),
        }),
        cursor: t.string(changeCursor),
      }),
    }),
    description:
      'Needs WRITE on the folder and on its parent. What is deleted can be restored for some days, then it is purged.',
    input: () => defineDeleteInput(builder),
    resolve: ({ recursive, ...deletion }, context): Promise<Deleted> =>
      change(
        context,
        ({ folders }, caller) => folders.delete(caller, { ...deletion, isRecursive: recursive }),
        ({ pathIds }) => ({ pathIds }),
      ),
  });
}

function defineDeleteInput(builder: Builder) {
  return builder.inputType('DeleteFolderInput', {
    fields: (f) => ({
      id: f.id({ required: true }),
      recursive: f.boolean({
        required: true,
        defaultValue: false,
        description: 'With all that is inside. Without it, a folder with sub-folders is refused.',
      }),
      expectedVersion: f.int({ description: expectedVersion }),
    }),
  });
}

/** Counts with the viewer's current rights. Refuses with NOT_FOUND if the viewer could no longer see the folder. */
async function countDeleted(
  now: TreeView,
  pathIds: readonly string[],
  onRead: (count: number) => void,
): Promise<number> {
  const { view, folder } = await beforeDeletion(now, pathIds);
  return 1 + (await countDescendants(view, folder, { onRead }));
}

/** The fields that `createFolder` and `updateFolder` have read during the change, by type. */
const readByChange: Readonly<Record<string, readonly string[]>> = {
  Mutation: ['createFolder', 'updateFolder'],
  CreateFolderPayload: ['folder', 'cursor'],
  UpdateFolderPayload: ['folder', 'cursor'],
  Folder: ownFields,
};

/** Returns a function that checks whether a mutation has to read a field after the change. */
export function isReadAfterChange(
  schema: GraphQLSchema,
): (field: GraphQLField<unknown, unknown>, node: FieldNode) => boolean {
  const readFields = new Set<GraphQLField<unknown, unknown>>([TypeNameMetaFieldDef]);
  for (const [type, names] of Object.entries(readByChange)) {
    const fields = (schema.getType(type) as GraphQLObjectType).getFields();
    for (const name of names) readFields.add(fields[name]!);
  }
  return (field, node) => !readFields.has(field) || (field.name === 'parent' && !selectsOnlyId(node));
}

function selectsOnlyId({ selectionSet }: FieldNode): boolean {
  return selectionSet!.selections.every(
    (selection) => selection.kind === Kind.FIELD && selection.name.value === 'id',
  );
}

export function defineImport(builder: Builder, { Folder }: Pick<FolderTypes, 'Folder'>): void {
  defineMutation(builder, 'importFolders', {
    type: builder.objectRef<Imported>('ImportFoldersPayload').implement({
      fields: (t) => ({
        parent: t.field({
          type: Folder,
          description: 'The folder into which they were imported.',
          resolve: ({ parentId }, _, context) => nodeById(context, parentId),
        }),
        folderCount: t.int({ description: 'How many folders were made.', resolve: ({ count }) => count }),
        cursor: t.string(changeCursor),
      }),
    }),
    description:
      'Makes many folders in one call, all or none. Needs WRITE on the parent. CONFLICT if a name at the top is not free, or a folder is there twice.',
    input: defineImportInput(builder),
    resolve: (input, context) =>
      change(
        context,
        ({ folders }, caller, task) =>
          folders.import(caller, input, { beforeRows: (count) => task.yieldBefore(count) }),
        (imported) => imported,
      ),
  });
}

function defineImportInput(builder: Builder) {
  const ImportedFolder = builder.inputRef<ImportedTree>('ImportedFolder');
  ImportedFolder.implement({
    description: 'A folder with what is inside it.',
    fields: (t) => ({
      name: t.string({ required: true, description: `${limits.name}; free among the siblings.` }),
      title: t.string({ description: limits.title }),
      icon: t.string({ description: limits.icon }),
      description: t.string({ description: limits.description }),
      properties: t.field({ type: 'JSON', description: limits.properties }),
      folders: t.field({ type: [ImportedFolder], description: 'What is inside it.' }),
    }),
  });

  const ImportedPath = builder.inputType('ImportedPath', {
    description:
      'A folder by its path below the parent. Folders on the way that are not listed are made, too.',
    fields: (t) => ({
      path: t.string({ required: true, description: 'The names, with slashes between: "Places/Floor 2".' }),
      title: t.string({ description: limits.title }),
      icon: t.string({ description: limits.icon }),
      description: t.string({ description: limits.description }),
      properties: t.field({ type: 'JSON', description: limits.properties }),
    }),
  });

  return () =>
    builder.inputType('ImportFoldersInput', {
      fields: (f) => ({
        parentId: f.id({ description: 'The root, unless told.' }),
        tree: f.field({
          type: [ImportedFolder],
          description: 'Folders with folders inside. This or `list`.',
        }),
        list: f.field({
          type: [ImportedPath],
          description: 'A flat list of paths, in any order, as `exportFolders` gives it. This or `tree`.',
        }),
        expectedVersion: f.int({
          description: 'Of the parent. Refuses with CONFLICT if it has another version by now.',
        }),
      }),
    });
}
