/** Changing the tree. Each mutation answers with the changed folder as the viewer sees it then. */

import {
  Kind,
  TypeNameMetaFieldDef,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { countDescendants } from '../../folders/count-descendants.ts';
import type { TreeView } from '../../folders/folders.ts';
import type { DeletedFolder } from '../../folders/manage-folders.ts';
import { beforeDeletion } from '../../folders/trash.ts';
import type { Builder } from '../builder.ts';
import { longField } from '../long-reads.ts';
import { change } from '../run-mutation.ts';
import { changeCursor } from '../journal/change-cursor.ts';
import { aboutGivenTexts as about } from './about-given-texts.ts';
import type { FolderNode } from './folder-level.ts';
import { nodeOfChanged } from './folder-queries.ts';
import { ownFields, type FolderTypes } from './folder-type.ts';

export const expectedVersion =
  'Refuses with CONFLICT if the folder has another version by now; the error tells which.';

const isTakenAway = 'Null or "" takes it away';

interface Deleted extends DeletedFolder {
  /** Counted once, however often it is selected. */
  count?: Promise<number>;
}

export function defineFolderMutations(builder: Builder, { Folder }: Pick<FolderTypes, 'Folder'>): void {
  const payload = (name: string) =>
    builder.objectRef<FolderNode>(name).implement({
      fields: (t) => ({
        folder: t.field({ type: Folder, resolve: (node) => node }),
        cursor: t.string(changeCursor),
      }),
    });

  builder.mutationField('createFolder', (t) =>
    t.field({
      type: payload('CreateFolderPayload'),
      nullable: true,
      description: 'Needs WRITE on the parent.',
      args: {
        input: t.arg({
          required: true,
          type: builder.inputType('CreateFolderInput', {
            fields: (f) => ({
              parentId: f.id({ description: 'The root, unless told.' }),
              name: f.string({ required: true, description: `${about.name}; free among the siblings.` }),
              title: f.string({ description: about.title }),
              icon: f.string({ description: about.icon }),
              description: f.string({ description: about.description }),
              properties: f.field({ type: 'JSON', description: about.properties }),
              expectedVersion: f.int({ description: `Of the parent. ${expectedVersion}` }),
            }),
          }),
        }),
      },
      resolve: (_, { input }, context) =>
        change(
          context,
          ({ folders }, caller) => folders.create(caller, input),
          nodeOfChanged,
          ({ seen }) => seen,
        ),
    }),
  );

  builder.mutationField('updateFolder', (t) =>
    t.field({
      type: payload('UpdateFolderPayload'),
      nullable: true,
      description: 'Needs WRITE. What is not given stays as it is; null takes a text away.',
      args: {
        input: t.arg({
          required: true,
          type: builder.inputType('UpdateFolderInput', {
            fields: (f) => ({
              id: f.id({ required: true }),
              name: f.string({
                description: `${about.name}; free among the siblings. Null changes nothing.`,
              }),
              title: f.string({ description: `${about.title} ${isTakenAway}; it then reads as the name.` }),
              icon: f.string({ description: `${about.icon} ${isTakenAway}.` }),
              description: f.string({ description: `${about.description} ${isTakenAway}.` }),
              properties: f.field({
                type: 'JSON',
                description: `${about.properties} Replaces all of them; null takes them away.`,
              }),
              expectedVersion: f.int({ description: expectedVersion }),
            }),
          }),
        }),
      },
      resolve: (_, { input }, context) =>
        change(
          context,
          ({ folders }, caller) => folders.update(caller, input),
          nodeOfChanged,
          ({ seen }) => seen,
        ),
    }),
  );

  const DeletePayload = builder.objectRef<Deleted>('DeleteFolderPayload').implement({
    fields: (t) => ({
      folderId: t.id({
        description: 'The id that the folder had, for `restoreFolder`.',
        resolve: ({ way }) => way.at(-1)!,
      }),
      folderCount: t.int({
        description: 'How many folders you saw going: the folder itself and all that was inside.',
        extensions: longField,
        resolve: (deleted, _, { view, budget }, info) =>
          (deleted.count ??= countDeleted(view, deleted.way, (count) => budget.scan(count, info))),
      }),
      cursor: t.string(changeCursor),
    }),
  });

  builder.mutationField('deleteFolder', (t) =>
    t.field({
      type: DeletePayload,
      nullable: true,
      description:
        'Needs WRITE on the folder and on its parent. What is deleted can be restored for some days, then it is purged.',
      args: {
        input: t.arg({
          required: true,
          type: builder.inputType('DeleteFolderInput', {
            fields: (f) => ({
              id: f.id({ required: true }),
              recursive: f.boolean({
                required: true,
                defaultValue: false,
                description: 'With all that is inside. Without it, a folder with sub-folders is refused.',
              }),
              expectedVersion: f.int({ description: expectedVersion }),
            }),
          }),
        }),
      },
      resolve: (_, { input: { recursive, ...deletion } }, context): Promise<Deleted> =>
        change(
          context,
          ({ folders }, caller) => folders.delete(caller, { ...deletion, isRecursive: recursive }),
          ({ way }) => ({ way }),
        ),
    }),
  );
}

/** What a change of one folder has read itself, by type. */
const readByChange: Readonly<Record<string, readonly string[]>> = {
  Mutation: ['createFolder', 'updateFolder'],
  CreateFolderPayload: ['folder', 'cursor'],
  UpdateFolderPayload: ['folder', 'cursor'],
  Folder: ownFields,
};

/** Whether a mutation that selects a field has to read it after the change. */
export function isReadAfterChange(
  schema: GraphQLSchema,
): (field: GraphQLField<unknown, unknown>, node: FieldNode) => boolean {
  const known = new Set<GraphQLField<unknown, unknown>>([TypeNameMetaFieldDef]);
  for (const [type, names] of Object.entries(readByChange)) {
    const fields = (schema.getType(type) as GraphQLObjectType).getFields();
    for (const name of names) known.add(fields[name]!);
  }
  return (field, node) => !known.has(field) || (field.name === 'parent' && !selectsOnlyId(node));
}

function selectsOnlyId({ selectionSet }: FieldNode): boolean {
  return selectionSet!.selections.every(
    (selection) => selection.kind === Kind.FIELD && selection.name.value === 'id',
  );
}

/** By the rights that the viewer has now. Refused with NOT_FOUND if the viewer could not see the folder any more. */
async function countDeleted(
  now: TreeView,
  way: readonly string[],
  onRead: (count: number) => void,
): Promise<number> {
  const { view, folder } = await beforeDeletion(now, way);
  return 1 + (await countDescendants(view, folder, { onRead }));
}
