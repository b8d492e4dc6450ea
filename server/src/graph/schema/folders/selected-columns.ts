/** Which columns of the folders of a list a query needs, so that the database returns no others. */

import { Kind, type FieldNode, type SelectionSetNode } from 'graphql';
import type { FolderColumns } from '../../../folders/children/folder-slice.ts';
import type { Selected } from '../../cost/element-fields.ts';

const listFields = ['edges', 'items', 'node', 'pageInfo', 'hasNextPage', 'hasPreviousPage', 'totalCount'];
/** Fields that need only the name. */
const nameFields = new Set([...listFields, '__typename', 'name']);
/** Other folders are found by the id, and cursors of the natural order consist of id and name. */
const mainFields = new Set([
  ...nameFields,
  ...['id', 'title', 'accessLevel'],
  ...['parent', 'ancestors', 'path', 'depth', 'cursor', 'startCursor', 'endCursor'],
]);
const countedFields = new Set([...mainFields, 'folders']);
const longTexts = ['icon', 'description', 'properties'];
/** Fields that lead to other folders, which are read separately. */
const otherFolders = new Set(['folders', 'descendants', 'parent', 'ancestors']);

const cache = new WeakMap<FieldNode, FolderColumns>();

/** For a list in natural order. Ignores the directives `@include` and `@skip`. */
export function selectedColumns(info: Pick<Selected, 'fieldNodes' | 'fragments'>): FolderColumns {
  const [first, ...others] = info.fieldNodes;
  if (!first || others.length > 0) return 'all';
  let columns = cache.get(first);
  if (!columns) cache.set(first, (columns = findColumns(first, info.fragments)));
  return columns;
}

function findColumns({ selectionSet }: FieldNode, fragments: Selected['fragments']): FolderColumns {
  const names = new Set<string>();
  if (selectionSet) addNames(selectionSet, fragments, names, new Set());
  const areAllIn = (fields: ReadonlySet<string>) => [...names].every((name) => fields.has(name));
  if (areAllIn(nameFields)) return 'name';
  if (areAllIn(mainFields)) return 'main';
  if (areAllIn(countedFields)) return 'counted';
  return longTexts.some((name) => names.has(name)) ? 'texts' : 'all';
}

function addNames(
  { selections }: SelectionSetNode,
  fragments: Selected['fragments'],
  names: Set<string>,
  seen: Set<string>,
): void {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      names.add(selection.name.value);
      const { selectionSet } = selection;
      if (selectionSet && !otherFolders.has(selection.name.value))
        addNames(selectionSet, fragments, names, seen);
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      addNames(selection.selectionSet, fragments, names, seen);
    } else if (!seen.has(selection.name.value)) {
      seen.add(selection.name.value);
      const fragment = fragments[selection.name.value];
      if (fragment) addNames(fragment.selectionSet, fragments, names, seen);
    }
  }
}
