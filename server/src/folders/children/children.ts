/**
 * Reads and counts the subfolders of folders. One statement serves many parents, as long as it examines at most
 * `maxRowsPerStatement` rows. More parents are read in batches, and long lists in segments.
 */

import { inOrder, whenDone, type PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import { readInBatches, maxRowsPerStatement } from '../../database/database.ts';
import { readCounts, type CountOfEach } from '../../database/statement.ts';
import {
  countStatement,
  maxRows,
  parametersOf,
  readTogether,
  restrictionOf,
  rowsOf,
  rowsWithTexts,
  type ChildList,
} from './child-lists.ts';
import {
  byName,
  positionOf,
  sliceOf,
  type FolderFilter,
  type ListPosition,
  type Slice,
} from '../folder-slice.ts';
import { findByIds, withLevel, type Folder, type TreeView } from '../tree-view.ts';

interface Children {
  readonly folders: Folder[];
  /** There are more children than the limit. */
  readonly hasMore: boolean;
}

interface ReadChildren {
  /** The map has no entry for a parent without children. */
  readonly byParent: ReadonlyMap<string, Children>;
  /** There are more than `max` children in total, and not all of them were read. */
  readonly exceedsMax: boolean;
}

/** Reads the children of each parent, in order. If there are more than `max` in total, it reads some or none of them. */
export function readChildren(
  view: TreeView,
  parents: readonly Folder[],
  slice: Slice,
  max: number,
): PromiseOrValue<ReadChildren> {
  const { readableParents, passages } = separatePassages(view, parents);
  if (sliceSize(view, readableParents, slice) > max) return { byParent: new Map(), exceedsMax: true };
  return whenDone(readReadableParents(view, readableParents, slice, max), (lists) =>
    whenDone(readPassages(view, passages, slice), (more) => limitLists([...lists, ...more], slice, max)),
  );
}

/** Counts the children of each parent that the viewer sees. */
export function countChildren(
  view: TreeView,
  parents: readonly Folder[],
  filter?: FolderFilter,
): PromiseOrValue<ReadonlyMap<string, number>> {
  if (!filter) return new Map(parents.map((parent) => [parent.id, visibleChildCount(view, parent)]));
  const { readableParents, passages } = separatePassages(view, parents);
  const countRows = readInRowBatches(readableParents, { filter }, (some) =>
    isLarge(some, { filter })
      ? countInSegments(view, some[0]!, filter)
      : countTogether(view, some, { filter }),
  );
  return whenDone(countRows, (rows) =>
    whenDone(readPassages(view, passages, { filter }), (lists) => {
      const counts = readCounts(rows);
      for (const { parentId, folders } of lists) counts.set(parentId, folders.length);
      return counts;
    }),
  );
}

function countTogether(
  view: TreeView,
  parents: readonly Folder[],
  slice: Pick<Slice, 'filter' | 'from' | 'upTo'>,
): PromiseOrValue<readonly CountOfEach[]> {
  return view.reader.all(
    countStatement(restrictionOf(view), slice),
    { parentIds: parents.map(({ id }) => id), ...parametersOf(view.access, slice) },
    rowsOf(parents, slice),
  );
}

async function countInSegments(view: TreeView, parent: Folder, filter: FolderFilter): Promise<CountOfEach[]> {
  let count = 0;
  for (let from: ListPosition | undefined; ;) {
    const upTo = await segmentEnd(view, parent, { from });
    const counts = await countTogether(view, [parent], { filter, from, upTo });
    for (const each of counts) count += each.count;
    if (!upTo) return [{ id: parent.id, count }];
    from = upTo;
  }
}

export function visibleChildCount(
  { access }: TreeView,
  { id, accessLevel, childCount }: Pick<Folder, 'id' | 'accessLevel' | 'childCount'>,
): number {
  const { only, except } = access.childRule(id, accessLevel);
  return only ? only.length : childCount - (except?.length ?? 0);
}

/**
 * The number of children that a slice examines in addition to those that it returns. Hidden children are not charged, because a
 * refusal shows the cost to the client.
 */
export function sliceCost(
  view: TreeView,
  parents: readonly Folder[],
  { filter, skip = 0 }: Pick<Slice, 'filter' | 'skip'>,
): number {
  if (!filter && skip === 0) return 0;
  return parents.reduce((sum, parent) => {
    const visibleCount = visibleChildCount(view, parent);
    return sum + (filter ? visibleCount : 0) + Math.min(skip, visibleCount);
  }, 0);
}

/** Separates readable parents from passages, which show only some children. */
function separatePassages({ access }: TreeView, parents: readonly Folder[]) {
  const readableParents: Folder[] = [];
  const passages: { parent: Folder; childIds: readonly string[] }[] = [];
  for (const parent of parents) {
    const { only } = access.childRule(parent.id, parent.accessLevel);
    if (only) passages.push({ parent, childIds: only });
    else readableParents.push(parent);
  }
  return { readableParents, passages };
}

/** The number of folders in a slice, if the stored counts determine it; otherwise 0. */
function sliceSize(view: TreeView, readableParents: readonly Folder[], slice: Slice): number {
  const { limit = Infinity, skip = 0, after, before, filter } = slice;
  if (after || before || filter) return 0;
  let size = 0;
  for (const parent of readableParents)
    size += Math.min(limit, Math.max(0, visibleChildCount(view, parent) - skip));
  return size;
}

function readReadableParents(
  view: TreeView,
  readableParents: readonly Folder[],
  slice: Slice,
  max: number,
): PromiseOrValue<readonly ChildList[]> {
  const nonEmpty = readableParents.filter(({ childCount }) => childCount > 0);
  const readSlice = nonEmpty.length > 0 && fromNearerEnd(view, nonEmpty, slice);
  if (!readSlice) return [];
  return readInRowBatches(nonEmpty, readSlice, (parents) => {
    if (!isLarge(parents, readSlice)) return readTogether(view, parents, readSlice, max);
    const [parent] = parents as [Folder];
    return whenDone(readInSegments(view, parent, readSlice, max), (folders) => [
      { parentId: parent.id, folders },
    ]);
  });
}

function isLarge(parents: readonly Folder[], slice: Slice): boolean {
  return parents.length === 1 && rowsOf(parents, slice) > maxRowsPerStatement;
}

/** Divides items into batches for one statement each. An item with too many rows is a batch of its own. */
export function* inRowBatches<T>(
  items: readonly T[],
  rowsOfItem: (item: T) => number,
): Generator<readonly T[]> {
  let batch: T[] = [];
  let rows = 0;
  for (const item of items) {
    const itemRows = rowsOfItem(item);
    if (batch.length > 0 && rows + itemRows > maxRowsPerStatement) {
      yield batch;
      [batch, rows] = [[], 0];
    }
    batch.push(item);
    rows += itemRows;
  }
  if (batch.length > 0) yield batch;
}

/** Reads each batch of parents, one after the other. Stays synchronous if all results are. */
function readInRowBatches<R>(
  parents: readonly Folder[],
  slice: Slice,
  read: (some: readonly Folder[]) => PromiseOrValue<readonly R[]>,
): PromiseOrValue<readonly R[]> {
  const batches = [...inRowBatches(parents, (parent) => rowsOf([parent], slice))];
  if (batches.length === 1) return read(parents);
  return whenDone(inOrder(batches, read), (lists) => lists.flat());
}

/** Reads a list that is too long for one statement, segment by segment in reading direction. */
async function readInSegments(view: TreeView, parent: Folder, slice: Slice, max: number): Promise<Folder[]> {
  const { limit = Infinity, skip = 0, filter, isFromEnd = false, order = byName } = slice;
  const columns = slice.columns === 'name' ? 'main' : slice.columns;
  const maxSegment = columns === 'all' ? maxRowsPerStatement / rowsWithTexts : maxRowsPerStatement;
  const wantedCount = Math.min(limit, max, maxRows) + 1 + (filter ? skip : 0);
  const found: Folder[] = [];
  let from = filter ? undefined : await findStart(view, parent, slice, skip);
  for (let isOver = from === null; !isOver;) {
    const rest = { ...segmentAfter(slice, from), columns, skip: undefined };
    const end = filter && (await segmentEnd(view, parent, rest));
    const segment = end ? { ...rest, [isFromEnd ? 'after' : 'before']: undefined, upTo: end } : rest;
    const left = wantedCount - found.length;
    const size = filter ? left : Math.min(left, maxSegment);
    const [list] = await readTogether(view, [parent], { ...segment, limit: size - 1 }, maxRows);
    const folders = list?.folders ?? [];
    for (const folder of isFromEnd ? folders.reverse() : folders) found.push(folder);
    isOver = found.length >= wantedCount || (filter ? !end : folders.length < size);
    if (!isOver) from = end ?? positionOf(found.at(-1)!, order.field);
  }
  const folders = filter ? found.slice(skip) : found;
  return isFromEnd ? folders.reverse() : folders;
}

/** The part of a slice after a position, in reading direction. */
function segmentAfter(slice: Slice, from: ListPosition | undefined | null): Slice {
  return from ? { ...slice, [slice.isFromEnd ? 'before' : 'after']: undefined, from } : slice;
}

/** The position of the last row that one statement may examine; undefined if there are no more rows than that. */
function segmentEnd(
  view: TreeView,
  parent: Folder,
  slice: Slice,
  rows = maxRowsPerStatement,
): PromiseOrValue<ListPosition | undefined> {
  const { order = byName, isFromEnd } = slice;
  const probe: Slice = { ...slice, filter: undefined, columns: 'withoutTexts', skip: rows - 1, limit: 0 };
  // Skipping rows only needs the index and takes less than a fifth of the time of reading them.
  const examined = Math.ceil(rows / 5);
  return whenDone(readTogether(view, [parent], probe, maxRows, examined), ([list]) => {
    const folder = list?.folders.at(isFromEnd ? -1 : 0);
    return folder && positionOf(folder, order.field);
  });
}

/** The position after which the slice begins; null if there are fewer than `skip` rows. */
async function findStart(
  view: TreeView,
  parent: Folder,
  slice: Slice,
  skip: number,
): Promise<ListPosition | undefined | null> {
  let start = slice.from;
  for (let left = skip; left > 0; left -= maxRowsPerStatement) {
    const rows = Math.min(left, maxRowsPerStatement);
    start = await segmentEnd(view, parent, segmentAfter(slice, start), rows);
    if (!start) return null;
  }
  return start;
}

/** Skipping rows takes time, so a list of known length is read from the nearer end. Undefined if nothing is left. */
function fromNearerEnd(view: TreeView, readableParents: readonly Folder[], slice: Slice): Slice | undefined {
  const { skip, limit, after, filter } = slice;
  const [only, ...others] = readableParents;
  if (!skip || limit === undefined || after || filter || !only || others.length > 0) return slice;
  const left = visibleChildCount(view, only) - skip;
  if (left <= 0) return undefined;
  if (left > skip) return slice;
  // One more than the limit, if there are that many.
  const rows = Math.min(limit + 1, left);
  return { ...slice, isFromEnd: true, limit: rows - 1, skip: left - rows };
}

/** Passages have few visible children, so these are read by their ids and then filtered and sorted here. */
function readPassages(
  view: TreeView,
  passages: readonly { parent: Folder; childIds: readonly string[] }[],
  slice: Slice,
): PromiseOrValue<ChildList[]> {
  const ids = passages.flatMap(({ childIds }) => childIds);
  if (ids.length === 0) return [];
  const hasVisibleChildren = (folder: Folder) => visibleChildCount(view, folder) > 0;
  const read = (some: readonly string[]) => view.reader.all(findByIds, { ids: some }, some.length);
  return whenDone(readInBatches(ids, read), (rows) => {
    const byParent = Map.groupBy(rows, ({ parentId }) => parentId);
    return passages.map(({ parent: { id, accessLevel } }) => {
      const folders = (byParent.get(id) ?? []).map((row) =>
        withLevel(row, view.access.levelOf(row.id, accessLevel)),
      );
      return { parentId: id, folders: sliceOf(folders, slice, hasVisibleChildren) };
    });
  });
}

function limitLists(
  lists: readonly ChildList[],
  { limit = Infinity, isFromEnd }: Slice,
  max: number,
): ReadChildren {
  const byParent = new Map<string, Children>();
  let total = 0;
  for (const { parentId, folders } of lists) {
    if (folders.length === 0) continue;
    const hasMore = folders.length > limit;
    if (hasMore) isFromEnd ? folders.shift() : folders.pop();
    byParent.set(parentId, { folders, hasMore });
    total += folders.length;
  }
  return { byParent, exceedsMax: total > max };
}
