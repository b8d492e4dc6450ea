/** The sub-folders of folders: in an order, filtered, in slices, counted. One statement serves any number of parents. */

import { whenDone, type PromiseOrValue } from '../database/database.ts';
import { list, sql } from '../database/statement.ts';
import { countStatement, parametersOf, statementFor, type Restriction } from './child-statements.ts';
import { sliceOf, type FolderFilter, type Slice } from './folder-list.ts';
import { folderColumns, withLevel, type Folder, type FolderRow, type TreeView } from './folders.ts';

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

/** The children of each parent, in order; stops reading soon after `most` of them. */
export function readChildren(
  view: TreeView,
  parents: readonly Folder[],
  slice: Slice,
  most: number,
): PromiseOrValue<ReadChildren> {
  const { open, closed } = byRule(view, parents);
  return whenDone(readOpen(view, open, slice, most), (rows) =>
    whenDone(readClosed(view, closed, slice), (more) =>
      group(view, parents, [...rows, ...more], slice, most),
    ),
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
      for (const { parentId } of shown) counts.set(parentId!, (counts.get(parentId!) ?? 0) + 1);
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

export function restrictionOf({ access }: TreeView): Restriction {
  if (access.bareIds.length > 0) return 'bare';
  return access.hiddenIds.length > 0 ? 'hidden' : 'none';
}

function readOpen(
  view: TreeView,
  open: readonly Folder[],
  slice: Slice,
  most: number,
): PromiseOrValue<FolderRow[]> {
  if (open.length === 0) return [];
  const nearer = fromNearerEnd(view, open, slice);
  if (!nearer) return [];
  const parameters = {
    ...parametersOf(view.access, nearer),
    parentIds: open.map(({ id }) => id),
    most: most + 1 + (slice.limit === undefined ? 0 : open.length),
  };
  return view.reader.all(statementFor(nearer, restrictionOf(view)), parameters);
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
): PromiseOrValue<FolderRow[]> {
  const ids = closed.flatMap(({ shown }) => shown);
  if (ids.length === 0) return [];
  const hasChildren = (folder: Folder) => visibleChildCount(view, folder) > 0;
  return whenDone(view.reader.all(findByIds, { ids }), (rows) => {
    const byParent = Map.groupBy(rows, ({ parentId }) => parentId);
    return closed.flatMap(({ parent: { id, accessLevel } }) => {
      const shown = (byParent.get(id) ?? []).map((row) =>
        withLevel(row, view.access.levelOf(row.id, accessLevel)),
      );
      return sliceOf(shown, slice, hasChildren);
    });
  });
}

const findByIds = sql<{ ids: readonly string[] }, FolderRow>`
  select ${folderColumns} from folders where id in (select value from ${list('ids')})`;

function group(
  { access }: TreeView,
  parents: readonly Folder[],
  rows: readonly FolderRow[],
  { limit = Infinity, isFromEnd }: Slice,
  most: number,
): ReadChildren {
  const levels = new Map(parents.map(({ id, accessLevel }) => [id, accessLevel]));
  const byParent = new Map<string, Children>();
  let total = 0;
  let start = 0;
  for (let end = 1; end <= rows.length; end++) {
    const parentId = rows[start]!.parentId!;
    if (rows[end]?.parentId === parentId) continue;
    const inherited = levels.get(parentId)!;
    const folders = rows.slice(start, end).map((row) => withLevel(row, access.levelOf(row.id, inherited)));
    const isCut = folders.length > limit;
    if (isCut) isFromEnd ? folders.shift() : folders.pop();
    byParent.set(parentId, { folders, isCut });
    total += folders.length;
    start = end;
  }
  return { byParent, isTooMuch: total > most };
}
