/** How much of each folder of a list a query reads: what nobody asks for need not come out of the database. */

import { Kind, type FieldNode, type SelectionSetNode } from 'graphql';
import type { FolderColumns } from '../../../folders/folder-slice.ts';
import type { Selected } from '../../cost/element-fields.ts';

/** Of a list and its page. */
const ofList = ['edges', 'items', 'node', 'pageInfo', 'hasNextPage', 'hasPreviousPage', 'totalCount'];
/** For these the name is enough, and that which it is read by. */
const byName = new Set([...ofList, '__typename', 'name']);
/** What is elsewhere is found by the id, and cursors of the natural order are made of id and name. */
const byMain = new Set([
  ...byName,
  ...['id', 'title', 'accessLevel'],
  ...['parent', 'ancestors', 'path', 'depth', 'cursor', 'startCursor', 'endCursor'],
]);
const byCounted = new Set([...byMain, 'folders']);
/** They are read together with the folder. */
const longTexts = ['icon', 'description', 'properties'];
/** Fields that lead to other folders: what they select is read for itself. */
const elsewhere = new Set(['folders', 'descendants', 'parent', 'ancestors']);

const known = new WeakMap<FieldNode, FolderColumns>();

/** For a list in the natural order, as the query has it; conditions are not looked at. */
export function selectedColumns(info: Pick<Selected, 'fieldNodes' | 'fragments'>): FolderColumns {
  const [first, ...others] = info.fieldNodes;
  if (!first || others.length > 0) return 'all';
  let columns = known.get(first);
  if (!columns) known.set(first, (columns = find(first, info.fragments)));
  return columns;
}

function find({ selectionSet }: FieldNode, fragments: Selected['fragments']): FolderColumns {
  const names = new Set<string>();
  if (selectionSet) addNames(selectionSet, fragments, names, new Set());
  const areAllIn = (enough: ReadonlySet<string>) => [...names].every((name) => enough.has(name));
  if (areAllIn(byName)) return 'name';
  if (areAllIn(byMain)) return 'main';
  if (areAllIn(byCounted)) return 'counted';
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
      if (selectionSet && !elsewhere.has(selection.name.value))
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
