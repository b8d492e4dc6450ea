/** Reads lists of sub-folders, each with one statement for all parents: in an order, filtered, cut at a limit. */

import { accessLevels } from '../access/access-level.ts';
import { maxRowsPerStatement, whenDone, type PromiseOrValue } from '../database/database.ts';
import {
  parametersOf,
  statementFor,
  type ListedFolder,
  type ListRow,
  type Restriction,
} from './child-statements.ts';
import type { Slice } from './folder-list.ts';
import { withLevel, type Folder, type PageRead, type TreeView } from './folders.ts';

const { READ } = accessLevels;

/** The sub-folders of one parent, as far as they belong to a slice, and perhaps one more. */
export interface ListOfOne {
  readonly parentId: string;
  readonly folders: Folder[];
}

/** Beyond it there is nothing. */
export const mostRows = 1_000_000_000;

export function restrictionOf({ access }: Pick<TreeView, 'access'>): Restriction {
  if (access.bareIds.length > 0) return 'bare';
  return access.hiddenIds.length > 0 ? 'hidden' : 'none';
}

/** The statement and parameters with which `readTogether` reads a page of one folder's children. */
export function pageRead(view: Pick<TreeView, 'access'>, parentId: string, slice: Slice): PageRead {
  return listRead(view, [parentId], slice, mostRows);
}

function listRead(view: Pick<TreeView, 'access'>, parentIds: readonly string[], slice: Slice, most: number) {
  return {
    statement: statementFor(slice, restrictionOf(view)),
    parameters: {
      ...parametersOf(view.access, slice),
      parentIds,
      // Reads one folder more than the page holds, to find out whether there is a next page.
      limit: Math.min(slice.limit ?? Infinity, most, mostRows) + 1,
    },
  };
}

/** Reads the lists of all parents with one statement, or with none if the page was read with its folder. */
export function readTogether(
  view: TreeView,
  parents: readonly Folder[],
  slice: Slice,
  most: number,
  examined = rowsOf(parents, slice),
): PromiseOrValue<ListOfOne[]> {
  const read = listRead(
    view,
    parents.map(({ id }) => id),
    slice,
    most,
  );
  const lists =
    view.firstPage && isSameRead(view.firstPage, read)
      ? (view.firstPage.rows as readonly ListRow[])
      : view.reader.all(read.statement, read.parameters, examined);
  return whenDone(lists, (rows) => {
    const found: ListOfOne[] = [];
    for (const { place, list: listed } of rows) {
      if (listed.length === 0) continue;
      const parent = parents[place]!;
      const folders = listed.map((each) => toFolder(view, parent, each));
      found.push({ parentId: parent.id, folders: slice.isFromEnd ? folders.reverse() : folders });
    }
    return found;
  });
}

function isSameRead(one: PageRead, other: PageRead): boolean {
  return (
    one.statement === other.statement &&
    Object.entries(one.parameters).every(([name, value]) => isSameValue(value, other.parameters[name]))
  );
}

/** Parameters are arrays of one id, keys as bytes, or simple values. */
function isSameValue(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (one instanceof Uint8Array) return other instanceof Uint8Array && Buffer.compare(one, other) === 0;
  return Array.isArray(one) && Array.isArray(other) && one.length + other.length === 2 && one[0] === other[0];
}

/** A row with long texts counts as several. */
export const rowsWithTexts = 2;

/** How many rows a statement for these parents examines at most. Each parent is looked up. */
export function rowsOf(parents: readonly Folder[], slice: Slice): number {
  const { filter, limit = Infinity, skip = 0, upTo, columns } = slice;
  if (upTo) return maxRowsPerStatement;
  const weight = columns === 'texts' ? rowsWithTexts : 1;
  const rowsIn = (childCount: number) => (filter ? childCount : Math.min(childCount, limit + 1 + skip));
  return parents.reduce((sum, { childCount }) => sum + 1 + weight * rowsIn(childCount), 0);
}

/** A column that was not read is undefined. */
function toFolder({ access }: TreeView, parent: Folder, values: ListedFolder): Folder {
  const id = values[1];
  const folder = {
    id,
    parentId: parent.id,
    name: values[0],
    title: values[2],
    childCount: values[3],
    version: values[4],
    createdAt: values[5],
    updatedAt: values[6],
    accessLevel: access.levelOf(id, parent.accessLevel),
    texts: values.length > 7 ? { icon: values[7], description: values[8], properties: values[9] } : undefined,
  };
  return folder.accessLevel >= READ ? folder : withLevel(folder, folder.accessLevel);
}
