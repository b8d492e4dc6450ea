/**
 * The first read of a plan: a folder, and possibly a page of its sub-folders, in one statement. On a remote database this is
 * the whole response to the most frequent queries, without a transaction and without a second round trip.
 */

import type { Access } from '../../access/access.ts';
import { pageRead } from '../../folders/children/child-lists.ts';
import type { PageRead } from '../../folders/folders.ts';
import { Refusal } from '../../refusal.ts';
import { toSlice } from '../schema/folders/folder-connection.ts';
import { ownFields } from '../schema/folders/folder.ts';
import { Unplannable, type SelectedField, type Selections, type Variables } from './selections.ts';

export interface PlannedFirstRead {
  /** The id of the folder that is read first, or null for the root; undefined if it is not found by its id. */
  folder(variables: Variables): string | null | undefined;
  /** The page that is read with it, if there is one. */
  page(variables: Variables, folderId: string, access: Access): PageRead | undefined;
  /** The response contains ancestors of the folder. */
  readonly withAncestors: boolean;
  /** No further read is needed, unless the viewer's rights have changed or hide a part of the response. */
  readonly isOnly: boolean;
}

/** A longer page is not read in advance: the viewer may not have access to the list. */
const maxFirst = 200;

/** The fields that a folder has after the first read. */
const loadedFields = new Set(['__typename', ...ownFields]);
/** The fields that its ancestors have after the first read. */
const ancestorFields = new Set([
  ...['__typename', 'id', 'name', 'title', 'parent', 'accessLevel', 'version', 'createdAt', 'updatedAt'],
]);
/** Fields of a folder that show its ancestors. */
const fieldsWithAncestors = new Set(['path', 'depth', 'ancestors']);
/** The fields of `pageInfo` that need no further read. `hasPreviousPage` may need one. */
const pageInfoFields = new Set(['__typename', 'hasNextPage', 'startCursor', 'endCursor']);

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
    inside.every(
      (field) =>
        loadedFields.has(field.name) ||
        (field.name === 'ancestors' && areAncestors(selections, field)) ||
        (field === list && isPage(selections, list)),
    );
  return {
    isOnly,
    withAncestors: inside.some(({ name }) => fieldsWithAncestors.has(name)),
    folder: (variables) => folderIdIn(first.argumentsIn(variables)),
    page: (variables, folderId, access) =>
      isOnly && list ? pageIn(list, variables, folderId, access) : undefined,
  };
}

function folderIdIn({ id, path }: Variables): string | null | undefined {
  if (typeof path === 'string') return undefined;
  return typeof id === 'string' ? id : null;
}

function areAncestors(selections: Selections, field: SelectedField): boolean {
  return selections.inside(field).every(({ name }) => ancestorFields.has(name));
}

function isPage(selections: Selections, list: SelectedField): boolean {
  return selections.inside(list).every((field) => {
    if (field.name === 'pageInfo') {
      return selections.inside(field).every(({ name }) => pageInfoFields.has(name));
    }
    if (field.name === 'items') return areOwn(selections, field);
    if (field.name !== 'edges') return true;
    return selections.inside(field).every((inner) => inner.name !== 'node' || areOwn(selections, inner));
  });
}

/** Of the sub-folders of a sub-folder, only the number is loaded. */
function areOwn(selections: Selections, field: SelectedField): boolean {
  return selections
    .inside(field)
    .every(
      (inner) =>
        loadedFields.has(inner.name) ||
        (inner.name === 'folders' && selections.inside(inner).every(({ name }) => name === 'totalCount')),
    );
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
    if (error instanceof Refusal || error instanceof Unplannable) return undefined;
    throw error;
  }
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined;
}
