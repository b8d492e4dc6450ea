/**
 * The fields of a folder that only the folder and its ancestors determine, and the mutations that have already read them. Used to
 * skip the read after a mutation, and to read a folder in advance (`graph/plan/plan-first-read.ts`).
 */

import {
  Kind,
  TypeNameMetaFieldDef,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';

/** For `parent`, this is true only of its id. */
export const ownFields: readonly string[] = [
  ...['id', 'name', 'title', 'icon', 'description', 'properties', 'parent', 'path', 'depth'],
  ...['accessLevel', 'version', 'createdAt', 'updatedAt'],
];

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
