/**
 * Plans the first read of a query: a folder, and possibly a page of its subfolders, in one statement. The most frequent queries
 * need no other read. On a remote database, this saves a transaction and a second round trip.
 */

import type { Access } from '../../access/access.ts';
import { pageRead } from '../../folders/children/child-lists.ts';
import type { PageRead } from '../../folders/tree-view.ts';
import { Refusal } from '../../refusal.ts';
import { toSlice } from '../schema/folders/child-connection.ts';
import type { SelectedField, Selections, Variables } from './selections.ts';

export interface PlannedFirstRead {
  /** The id of the folder that is read first, or null for the root; undefined if it is not found by its id. */
  folder(variables: Variables): string | null | undefined;
  /** The page that is read with it, if there is one. */
  page(variables: Variables, folderId: string, access: Access): PageRead | undefined;
  /** Whether the response contains ancestors of the folder. */
  readonly withAncestors: boolean;
  /** Whether no further read is needed, unless the viewer's rights have changed or hide a part of the response. */
  readonly isOnly: boolean;
}

/** A longer page is not read in advance, because the viewer may not have access to the list. */
const maxFirst = 200;

/**
 * The fields that the first read loads, each with the fields inside it. Null means that nothing inside the field needs a
 * further read.
 */
interface LoadedFields {
  readonly [name: string]: LoadedFields | null;
}

/** The fields of a folder that depend only on the folder and its ancestors. For `parent`, this is true only of its id. */
export const ownFields: readonly string[] = [
  ...['id', 'name', 'title', 'icon', 'description', 'properties', 'parent', 'path', 'depth'],
  ...['accessLevel', 'version', 'createdAt', 'updatedAt'],
];

const leaves = (names: readonly string[]): LoadedFields =>
  Object.fromEntries(['__typename', ...names].map((name) => [name, null]));

const ancestorFields = leaves([
  ...['id', 'name', 'title', 'parent', 'accessLevel', 'version', 'createdAt', 'updatedAt'],
]);
/** For each subfolder, only the number of its own subfolders is loaded. */
const childFields: LoadedFields = { ...leaves(ownFields), folders: { totalCount: null } };
const pageFields: LoadedFields = {
  ...leaves(['totalCount']),
  items: childFields,
  edges: { ...leaves(['cursor', 'depth']), node: childFields },
  // `hasPreviousPage` may need a further read.
  pageInfo: leaves(['hasNextPage', 'startCursor', 'endCursor']),
};
const folderFields: LoadedFields = { ...leaves(ownFields), ancestors: ancestorFields, folders: pageFields };
/** Fields of a folder that need its ancestors. */
const fieldsWithAncestors = new Set(['path', 'depth', 'ancestors']);

export function planFirstRead(
  selections: Selections,
  rootFields: readonly SelectedField[],
): PlannedFirstRead | undefined {
  const first = rootFields.find(({ name }) => name === 'folder' || name === 'node');
  if (!first) return undefined;
  const inside = selections.inside(first);
  const [list, ...otherLists] = inside.filter(({ name }) => name === 'folders');
  const isOnly =
    otherLists.length === 0 &&
    rootFields.every((field) => field === first || field.name === '__typename' || field.name === 'cursor') &&
    areLoaded(selections, inside, folderFields);
  return {
    isOnly,
    withAncestors: inside.some(({ name }) => fieldsWithAncestors.has(name)),
    folder: (variables) => folderIdIn(first.argumentsIn(variables)),
    page: (variables, folderId, access) =>
      isOnly && list ? pageIn(list, variables, folderId, access) : undefined,
  };
}

function areLoaded(selections: Selections, fields: readonly SelectedField[], loaded: LoadedFields): boolean {
  return fields.every((field) => {
    const inner = loaded[field.name];
    return inner === null || (inner !== undefined && areLoaded(selections, selections.inside(field), inner));
  });
}

function folderIdIn({ id, path }: Variables): string | null | undefined {
  if (typeof path === 'string') return undefined;
  return typeof id === 'string' ? id : null;
}

function pageIn(
  list: SelectedField,
  variables: Variables,
  folderId: string,
  access: Access,
): PageRead | undefined {
  try {
    const { first, after, skip, ...others } = list.argumentsIn(variables);
    const isSimple = Object.values(others).every(isAbsent) && (isAbsent(skip) || skip === 0);
    if (!isSimple || typeof first !== 'number' || first < 0 || first > maxFirst) return undefined;
    const slice = toSlice(
      folderId,
      { after: after as string | null, limit: first, isFromEnd: false },
      access,
      list.info,
    );
    return pageRead({ access }, folderId, slice);
  } catch (error) {
    // The resolver reports invalid arguments when the query runs.
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined;
}
