/** Reads everything below a folder as one list in which each folder comes right before its children. */

import { maxRows } from './child-lists.ts';
import { readChildren } from './children.ts';
import { notACursor, positionOf, type ListPosition } from '../folder-slice.ts';
import { toIdBytes, toFolderId } from '../new-folder-rows.ts';
import type { Folder, FolderColumns, TreeView } from '../tree-view.ts';

export interface Descendant {
  readonly folder: Folder;
  /** The parent; undefined if the parent is the top folder. */
  readonly above: Descendant | undefined;
  /** 1 for a child of the top folder. */
  readonly depth: number;
}

export interface DescendantSlice {
  /** The number of levels; all if undefined. */
  readonly depth?: number | undefined;
  readonly first?: number | undefined;
  /** The positions of the last folder of the previous page and of its ancestors below the top folder. */
  readonly after?: readonly ListPosition[] | undefined;
  /** At least `counted`; `all` by default. */
  readonly columns?: FolderColumns | undefined;
}

export interface Descendants {
  readonly found: readonly Descendant[];
  /** There are more folders after the page. */
  readonly hasMore: boolean;
  /** There are more than `max` folders, so the result is not complete. */
  readonly exceedsMax: boolean;
}

/** The maximum number of parents whose children one statement reads. */
const maxParents = 512;
/**
 * A page first reads this many folders of a list, then twice as many each time. It starts small, because the subfolders of these
 * folders may already fill the page.
 */
const firstSize = 16;

/** The rest of a list of subfolders, after the folders that have been read. */
interface UnreadList {
  readonly parent: Folder;
  readonly above: Descendant | undefined;
  readonly after?: ListPosition | undefined;
  /** How many folders to read next. */
  readonly size: number;
}

/** A folder or list that comes after the folders that have been read. */
type PendingItem = Descendant | UnreadList;

/** Reads in the order of the list, so that it reads only a few more folders than the page holds. */
export async function readDescendants(
  view: TreeView,
  top: Folder,
  { depth = Infinity, first, after = [], columns }: DescendantSlice,
  max: number,
): Promise<Descendants> {
  const wantedCount = Math.min(first ?? max, max) + 1;
  const hasListedChildren = ({ folder, depth: level }: Descendant) => level < depth && folder.childCount > 0;
  const found: Descendant[] = [];
  /** A stack: the next folder or list is last. */
  const pendingItems: PendingItem[] = [];
  const push = (some: readonly PendingItem[]) => void pendingItems.push(...some.toReversed());
  push(await findStart(view, top, after, { depth, limit: wantedCount, columns }));
  const children = new Map<Descendant, readonly Folder[]>();
  while (found.length < wantedCount) {
    const next = pendingItems.pop();
    if (!next) break;
    if ('size' in next) {
      push(await readSome(view, next, { limit: wantedCount - found.length, columns }));
      continue;
    }
    found.push(next);
    if (!hasListedChildren(next)) continue;
    if (first !== undefined && view.reader.isEmbedded) {
      pendingItems.push({ parent: next.folder, above: next, size: firstSize });
      continue;
    }
    if (!children.has(next)) {
      const limit = wantedCount - found.length;
      const parents = parentsToRead(view, next, pendingItems, hasListedChildren, limit);
      const folders = parents.map(({ folder }) => folder);
      const isPage = first !== undefined;
      const slice = isPage ? { limit, columns } : { columns };
      const { byParent, exceedsMax } = await readChildren(view, folders, slice, isPage ? maxRows : max);
      if (exceedsMax) return { found, hasMore: true, exceedsMax };
      for (const parent of parents) children.set(parent, byParent.get(parent.folder.id)?.folders ?? []);
    }
    const inside = children.get(next)!;
    children.delete(next);
    push(inside.map(toDescendant(next)));
  }
  const page = first === undefined ? found : found.slice(0, first);
  return { found: page, hasMore: found.length > page.length, exceedsMax: page.length > max };
}

/** Returns the next folder. If each statement is a round trip, also returns the folders after it that are certainly on the page. */
function parentsToRead(
  { reader }: TreeView,
  next: Descendant,
  pendingItems: readonly PendingItem[],
  hasListedChildren: (descendant: Descendant) => boolean,
  limit: number,
): Descendant[] {
  const parents = [next];
  if (reader.isEmbedded) return parents;
  let count = next.folder.childCount;
  for (
    let index = pendingItems.length - 1;
    index >= 0 && count < limit && parents.length < maxParents;
    index--
  ) {
    const each = pendingItems[index]!;
    count++;
    if ('size' in each || !hasListedChildren(each)) continue;
    parents.push(each);
    count += each.folder.childCount;
  }
  return parents;
}

/** Where the next page begins: inside the last folder of the previous page, then after it, after its parent, and so on. */
async function findStart(
  view: TreeView,
  top: Folder,
  after: readonly ListPosition[],
  { depth, limit, columns }: { depth: number; limit: number; columns: FolderColumns | undefined },
): Promise<readonly PendingItem[]> {
  let rest: PendingItem[] = [];
  let parent = top;
  let above: Descendant | undefined;
  for (const position of after) {
    const list = { parent, above, after: position, size: firstSize };
    const siblings = await readSome(view, list, { limit: limit + 1, columns, isInclusive: true });
    const [last, ...others] = siblings;
    const exists = last !== undefined && !('size' in last) && last.folder.id === position.id;
    rest = [...(exists ? others : siblings), ...rest];
    if (!exists) return rest;
    above = last;
    parent = last.folder;
  }
  const isDeepEnough = (above?.depth ?? 0) >= depth;
  const inside = isDeepEnough
    ? []
    : await readSome(view, { parent, above, size: firstSize }, { limit, columns });
  return [...inside, ...rest];
}

function toDescendant(above: Descendant | undefined): (folder: Folder) => Descendant {
  return (folder) => ({ folder, above, depth: (above?.depth ?? 0) + 1 });
}

interface ReadOptions {
  /** The page needs at most this many folders. */
  readonly limit: number;
  readonly columns: FolderColumns | undefined;
  readonly isInclusive?: boolean;
}

/** Reads the next folders of a list. Appends the rest of the list, if there is one. A remote database reads all that the page needs. */
async function readSome(
  view: TreeView,
  { parent, above, after, size }: UnreadList,
  { limit, columns, isInclusive }: ReadOptions,
): Promise<PendingItem[]> {
  const count = view.reader.isEmbedded ? Math.min(size, limit) : limit;
  const slice = { after, isInclusive, limit: count, columns };
  const { byParent } = await readChildren(view, [parent], slice, maxRows);
  const { folders = [], hasMore = false } = byParent.get(parent.id) ?? {};
  const some: PendingItem[] = folders.map(toDescendant(above));
  if (hasMore && count < limit) {
    some.push({ parent, above, after: positionOf(folders.at(-1)!, 'NAME'), size: size * 2 });
  }
  return some;
}

/** The key of a descendant's cursor: the positions of the descendant and of its ancestors below the top folder. */
export function pathKey(descendant: Descendant): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let each: Descendant | undefined = descendant; each; each = each.above) {
    const { id, key } = positionOf(each.folder, 'NAME');
    const length = Buffer.alloc(2);
    length.writeUInt16BE(key.length);
    parts.unshift(toIdBytes(id), length, key);
  }
  return Buffer.concat(parts);
}

export function positionsOfKey({ id, key }: ListPosition, argument: string): ListPosition[] {
  const bytes = Buffer.from(key);
  const positions: ListPosition[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = start + 18 <= bytes.length ? start + 18 + bytes.readUInt16BE(start + 16) : Infinity;
    if (end > bytes.length) throw notACursor(argument);
    positions.push({
      id: toFolderId(bytes.subarray(start, start + 16)),
      key: bytes.subarray(start + 18, end),
    });
    start = end;
  }
  if (positions.at(-1)?.id !== id) throw notACursor(argument);
  return positions;
}
