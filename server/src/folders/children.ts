/** The sub-folders of folders: in an order, filtered, in slices, counted. One statement serves any number of parents. */

import { accessLevels } from '../access/access-level.ts';
import { whenDone, type PromiseOrValue } from '../database/database.ts';
import { list, sql } from '../database/statement.ts';
import {
  countStatement,
  parametersOf,
  statementFor,
  type ListedFolder,
  type Restriction,
} from './child-statements.ts';
import { sliceOf, type FolderFilter, type Slice } from './folder-list.ts';
import { folderColumns, withLevel, type Folder, type FolderRow, type TreeView } from './folders.ts';

const { READ } = accessLevels;

export interface Children {
  readonly folders: Folder[];
  /** The limit left some out. */
  readonly isCut: boolean;
}

export interface ReadChildren {
  /** A parent without any is not in the map. */
  readonly byParent: ReadonlyMap<string, Children>;
  /** There were more than `most` in all: what was read is not complete. */
  readonly isTooMuch: boolean;
}

/** The children of each parent, in order. Where there are more than `most` in all, not all of them are read, or none. */
export function readChildren(
  view: TreeView,
  parents: readonly Folder[],
  slice: Slice,
  most: number,
): PromiseOrValue<ReadChildren> {
  const { open, closed } = byRule(view, parents);
  if (sliceSize(view, open, slice) > most) return { byParent: new Map(), isTooMuch: true };
  return whenDone(readOpen(view, open, slice, most), (lists) =>
    whenDone(readClosed(view, closed, slice), (more) => cut([...lists, ...more], slice, most)),
  );
}

/** How many children each parent has for the viewer, filtered or not. */
export function countChildren(
  view: TreeView,
  parents: readonly Folder[],
  filter?: FolderFilter,
): PromiseOrValue<ReadonlyMap<string, number>> {
  if (!filter) return new Map(parents.map((parent) => [parent.id, visibleChildCount(view, parent)]));
  const { open, closed } = byRule(view, parents);
  const parentIds = open.map(({ id }) => id);
  const counted =
    open.length === 0
      ? []
      : view.reader.all(countStatement(restrictionOf(view)), {
          parentIds,
          ...parametersOf(view.access, { filter }),
        });
  return whenDone(counted, (rows) =>
    whenDone(readClosed(view, closed, { filter }), (shown) => {
      const counts = new Map(rows.map(({ parentId, count }) => [parentId, count]));
      for (const { parentId, folders } of shown) counts.set(parentId, folders.length);
      return counts;
    }),
  );
}

export function visibleChildCount(
  { access }: TreeView,
  { id, accessLevel, childCount }: Pick<Folder, 'id' | 'accessLevel' | 'childCount'>,
): number {
  const { only, except } = access.childRule(id, accessLevel);
  return only ? only.length : childCount - (except?.length ?? 0);
}

/**
 * How many children are looked at for a slice besides those in it: all to filter them, and one by one what is passed over.
 * What is hidden costs nothing: whoever cannot pay is told the price.
 */
export function slicePrice(
  view: TreeView,
  parents: readonly Folder[],
  { filter, skip = 0 }: Pick<Slice, 'filter' | 'skip'>,
): number {
  if (!filter && skip === 0) return 0;
  return parents.reduce((sum, parent) => {
    const seen = visibleChildCount(view, parent);
    return sum + (filter ? seen : 0) + Math.min(skip, seen);
  }, 0);
}

/** Parents that show their children by themselves, and passages, which show only what leads on. */
function byRule({ access }: TreeView, parents: readonly Folder[]) {
  const open: Folder[] = [];
  const closed: { parent: Folder; shown: readonly string[] }[] = [];
  for (const parent of parents) {
    const { only } = access.childRule(parent.id, parent.accessLevel);
    if (only) closed.push({ parent, shown: only });
    else open.push(parent);
  }
  return { open, closed };
}

export function restrictionOf({ access }: Pick<TreeView, 'access'>): Restriction {
  if (access.bareIds.length > 0) return 'bare';
  return access.hiddenIds.length > 0 ? 'hidden' : 'none';
}

/** Of the others there is nothing to read. */
export function isInhabited({ childCount }: Pick<Folder, 'childCount'>): boolean {
  return childCount > 0;
}

/** How many folders a slice has at least, as far as the numbers of children tell. */
function sliceSize(view: TreeView, open: readonly Folder[], slice: Slice): number {
  const { limit = Infinity, skip = 0, after, before, filter } = slice;
  if (after || before || filter) return 0;
  let size = 0;
  for (const parent of open) size += Math.min(limit, Math.max(0, visibleChildCount(view, parent) - skip));
  return size;
}

/** The sub-folders of one parent, as far as they belong to a slice, and perhaps one more. */
interface ListOfOne {
  readonly parentId: string;
  readonly folders: Folder[];
}

/** Beyond it there is nothing. */
export const mostRows = 1_000_000_000;

function readOpen(
  view: TreeView,
  open: readonly Folder[],
  slice: Slice,
  most: number,
): PromiseOrValue<ListOfOne[]> {
  const inhabited = open.filter(isInhabited);
  const nearer = inhabited.length > 0 && fromNearerEnd(view, inhabited, slice);
  if (!nearer) return [];
  const { limit = Infinity, isFromEnd } = nearer;
  const parameters = {
    ...parametersOf(view.access, nearer),
    parentIds: inhabited.map(({ id }) => id),
    // One more than asked for tells whether there is more.
    limit: Math.min(limit, most, mostRows) + 1,
  };
  return whenDone(view.reader.all(statementFor(nearer, restrictionOf(view)), parameters), (rows) => {
    const lists: ListOfOne[] = [];
    for (const { place, list } of rows) {
      if (list === null || list === '[]') continue;
      const parent = inhabited[place]!;
      const listed = JSON.parse(list) as readonly ListedFolder[];
      const folders = listed.map((each) => toFolder(view, parent, each));
      lists.push({ parentId: parent.id, folders: isFromEnd ? folders.reverse() : folders });
    }
    return lists;
  });
}

/** What is passed over costs: of a list whose length is known, no more than half. Undefined if nothing is left. */
function fromNearerEnd(view: TreeView, open: readonly Folder[], slice: Slice): Slice | undefined {
  const { skip, limit, after, filter } = slice;
  const [only, ...others] = open;
  if (!skip || limit === undefined || after || filter || !only || others.length > 0) return slice;
  const left = visibleChildCount(view, only) - skip;
  if (left <= 0) return undefined;
  if (left > skip) return slice;
  // One more than asked for, as far as there are so many.
  const rows = Math.min(limit + 1, left);
  return { ...slice, isFromEnd: true, limit: rows - 1, skip: left - rows };
}

/** Few by nature: read by their ids, then chosen here by the very rules of the statements. */
function readClosed(
  view: TreeView,
  closed: readonly { parent: Folder; shown: readonly string[] }[],
  slice: Slice,
): PromiseOrValue<ListOfOne[]> {
  const ids = closed.flatMap(({ shown }) => shown);
  if (ids.length === 0) return [];
  const hasChildren = (folder: Folder) => visibleChildCount(view, folder) > 0;
  return whenDone(view.reader.all(findByIds, { ids }), (rows) => {
    const byParent = Map.groupBy(rows, ({ parentId }) => parentId);
    return closed.map(({ parent: { id, accessLevel } }) => {
      const shown = (byParent.get(id) ?? []).map((row) =>
        withLevel(row, view.access.levelOf(row.id, accessLevel)),
      );
      return { parentId: id, folders: sliceOf(shown, slice, hasChildren) };
    });
  });
}

const findByIds = sql<{ ids: readonly string[] }, FolderRow>`
  select ${folderColumns} from folders where id in (select value from ${list('ids')})`;

/** What was not read is undefined: nobody asked for it. */
function toFolder({ access }: TreeView, parent: Folder, listed: ListedFolder): Folder {
  const values = (typeof listed === 'string' ? [listed] : listed) as Exclude<ListedFolder, string>;
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
  };
  return folder.accessLevel >= READ ? folder : withLevel(folder, folder.accessLevel);
}

function cut(
  lists: readonly ListOfOne[],
  { limit = Infinity, isFromEnd }: Slice,
  most: number,
): ReadChildren {
  const byParent = new Map<string, Children>();
  let total = 0;
  for (const { parentId, folders } of lists) {
    if (folders.length === 0) continue;
    const isCut = folders.length > limit;
    if (isCut) isFromEnd ? folders.shift() : folders.pop();
    byParent.set(parentId, { folders, isCut });
    total += folders.length;
  }
  return { byParent, isTooMuch: total > most };
}
