/** Everything below a folder as one list, each folder right before what is inside it. */

import { maxRows } from './child-lists.ts';
import { readChildren } from './children.ts';
import { positionOf, type FolderColumns } from './folder-slice.ts';
import { notACursor, type ListPosition } from './cursor.ts';
import { toIdBytes, toFolderId } from './folder-rows.ts';
import type { Folder, TreeView } from './folders.ts';

export interface Descendant {
  readonly folder: Folder;
  /** The one it is inside of, unless that is the folder that was asked. */
  readonly above: Descendant | undefined;
  /** 1 is a child. */
  readonly depth: number;
}

export interface DescendantSlice {
  /** How many levels; without it, all. */
  readonly depth?: number | undefined;
  readonly first?: number | undefined;
  /** The places on the way to the last one that was seen. */
  readonly after?: readonly ListPosition[] | undefined;
  /** At least `counted`; `all` by default. */
  readonly columns?: FolderColumns | undefined;
}

export interface Descendants {
  readonly found: readonly Descendant[];
  /** There are more than were asked for. */
  readonly hasMore: boolean;
  /** There are more than `max`: what was found is not complete. */
  readonly exceedsMax: boolean;
}

/** How many folders one round may read the children of. */
const maxParents = 512;
/** A page first reads this many folders of a list, then twice as many each time: their sub-folders may fill the page. */
const firstSize = 16;

/** The rest of a list of sub-folders, after the folders that have been read. */
interface UnreadList {
  readonly parent: Folder;
  readonly above: Descendant | undefined;
  readonly after?: ListPosition | undefined;
  /** How many folders to read next. */
  readonly size: number;
}

type Following = Descendant | UnreadList;

/** Reads in the order of the list, so that no more folders are read than the page holds, but for the last lists. */
export async function readDescendants(
  view: TreeView,
  top: Folder,
  { depth = Infinity, first, after = [], columns }: DescendantSlice,
  max: number,
): Promise<Descendants> {
  const wanted = Math.min(first ?? max, max) + 1;
  const hasInside = ({ folder, depth: at }: Descendant) => at < depth && folder.childCount > 0;
  const found: Descendant[] = [];
  /** What follows, the next one last. */
  const following: Following[] = [];
  const precede = (some: readonly Following[]) => void following.push(...some.toReversed());
  precede(await startingPoints(view, top, after, { depth, limit: wanted, columns }));
  const children = new Map<Descendant, readonly Folder[]>();
  while (found.length < wanted) {
    const next = following.pop();
    if (!next) break;
    if ('size' in next) {
      precede(await readSome(view, next, { limit: wanted - found.length, columns }));
      continue;
    }
    found.push(next);
    if (!hasInside(next)) continue;
    if (first !== undefined && view.reader.isEmbedded) {
      following.push({ parent: next.folder, above: next, size: firstSize });
      continue;
    }
    if (!children.has(next)) {
      const limit = wanted - found.length;
      const parents = parentsToRead(view, next, following, hasInside, limit);
      const folders = parents.map(({ folder }) => folder);
      const isPage = first !== undefined;
      const slice = isPage ? { limit, columns } : { columns };
      const { byParent, exceedsMax } = await readChildren(view, folders, slice, isPage ? maxRows : max);
      if (exceedsMax) return { found, hasMore: true, exceedsMax };
      for (const parent of parents) children.set(parent, byParent.get(parent.folder.id)?.folders ?? []);
    }
    const inside = children.get(next)!;
    children.delete(next);
    precede(inside.map(at(next)));
  }
  const shown = first === undefined ? found : found.slice(0, first);
  return { found: shown, hasMore: found.length > shown.length, exceedsMax: shown.length > max };
}

/**
 * The folders whose children are read together: the next one and, where each statement is a round trip, those after it
 * that the page holds in any case.
 */
function parentsToRead(
  { reader }: TreeView,
  next: Descendant,
  following: readonly Following[],
  hasInside: (descendant: Descendant) => boolean,
  limit: number,
): Descendant[] {
  const parents = [next];
  if (reader.isEmbedded) return parents;
  let count = next.folder.childCount;
  for (
    let index = following.length - 1;
    index >= 0 && count < limit && parents.length < maxParents;
    index--
  ) {
    const each = following[index]!;
    count++;
    if ('size' in each || !hasInside(each)) continue;
    parents.push(each);
    count += each.folder.childCount;
  }
  return parents;
}

/** Where a list goes on: inside the last folder that was seen, then after it, after its parent, and so on up. */
async function startingPoints(
  view: TreeView,
  top: Folder,
  after: readonly ListPosition[],
  { depth, limit, columns }: { depth: number; limit: number; columns: FolderColumns | undefined },
): Promise<readonly Following[]> {
  let rest: Following[] = [];
  let parent = top;
  let above: Descendant | undefined;
  for (const place of after) {
    const list = { parent, above, after: place, size: firstSize };
    const siblings = await readSome(view, list, { limit: limit + 1, columns, isInclusive: true });
    const [seen, ...others] = siblings;
    const isThere = seen !== undefined && !('size' in seen) && seen.folder.id === place.id;
    rest = [...(isThere ? others : siblings), ...rest];
    if (!isThere) return rest;
    above = seen;
    parent = seen.folder;
  }
  const isDeepEnough = (above?.depth ?? 0) >= depth;
  const inside = isDeepEnough
    ? []
    : await readSome(view, { parent, above, size: firstSize }, { limit, columns });
  return [...inside, ...rest];
}

function at(above: Descendant | undefined): (folder: Folder) => Descendant {
  return (folder) => ({ folder, above, depth: (above?.depth ?? 0) + 1 });
}

interface ReadOptions {
  /** The page needs at max this many. */
  readonly limit: number;
  readonly columns: FolderColumns | undefined;
  readonly isInclusive?: boolean;
}

/** Reads the next folders of a list. Appends the rest of the list, if there is one. A remote database reads all that the page needs. */
async function readSome(
  view: TreeView,
  { parent, above, after, size }: UnreadList,
  { limit, columns, isInclusive }: ReadOptions,
): Promise<Following[]> {
  const count = view.reader.isEmbedded ? Math.min(size, limit) : limit;
  const slice = { after, isInclusive, limit: count, columns };
  const { byParent } = await readChildren(view, [parent], slice, maxRows);
  const { folders = [], hasMore = false } = byParent.get(parent.id) ?? {};
  const some: Following[] = folders.map(at(above));
  if (hasMore && count < limit) {
    some.push({ parent, above, after: positionOf(folders.at(-1)!, 'NAME'), size: size * 2 });
  }
  return some;
}

/** The key of a descendant's cursor: the places on the way to it. */
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
  const places: ListPosition[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = start + 18 <= bytes.length ? start + 18 + bytes.readUInt16BE(start + 16) : Infinity;
    if (end > bytes.length) throw notACursor(argument);
    places.push({ id: toFolderId(bytes.subarray(start, start + 16)), key: bytes.subarray(start + 18, end) });
    start = end;
  }
  if (places.at(-1)?.id !== id) throw notACursor(argument);
  return places;
}
