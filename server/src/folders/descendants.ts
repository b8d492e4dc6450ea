/** Everything below a folder as one list, each folder right before what is inside it. */

import { mostRows, readChildren } from './children.ts';
import { placeOf, type FolderColumns } from './folder-list.ts';
import { notACursor, type Place } from './cursor.ts';
import { bytesOf, folderIdOf } from './folder-id.ts';
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
  readonly after?: readonly Place[] | undefined;
  /** At least `counted`; `all` by default. */
  readonly columns?: FolderColumns | undefined;
}

export interface Descendants {
  readonly found: readonly Descendant[];
  /** There are more than were asked for. */
  readonly isCut: boolean;
  /** There are more than `most`: what was found is not complete. */
  readonly isTooMuch: boolean;
}

/** How many folders one round may read the children of. */
const maxParents = 512;

/** Reads in the order of the list, so that no more folders are read than the page holds, but for the last lists. */
export async function readDescendants(
  view: TreeView,
  top: Folder,
  { depth = Infinity, first, after = [], columns }: DescendantSlice,
  most: number,
): Promise<Descendants> {
  const wanted = Math.min(first ?? most, most) + 1;
  const hasInside = ({ folder, depth: at }: Descendant) => at < depth && folder.childCount > 0;
  const found: Descendant[] = [];
  /** The folders that follow, the next one last. */
  const following = (await startingPoints(view, top, after, { depth, limit: wanted, columns })).toReversed();
  const children = new Map<Descendant, readonly Folder[]>();
  while (found.length < wanted) {
    const next = following.pop();
    if (!next) break;
    found.push(next);
    if (!hasInside(next)) continue;
    if (!children.has(next)) {
      const limit = wanted - found.length;
      const parents = parentsToRead(view, next, following, hasInside, limit);
      const folders = parents.map(({ folder }) => folder);
      const isPage = first !== undefined;
      const slice = isPage ? { limit, columns } : { columns };
      const { byParent, isTooMuch } = await readChildren(view, folders, slice, isPage ? mostRows : most);
      if (isTooMuch) return { found, isCut: true, isTooMuch };
      for (const parent of parents) children.set(parent, byParent.get(parent.folder.id)?.folders ?? []);
    }
    const inside = children.get(next)!;
    children.delete(next);
    for (let index = inside.length - 1; index >= 0; index--) {
      following.push({ folder: inside[index]!, above: next, depth: next.depth + 1 });
    }
  }
  const shown = first === undefined ? found : found.slice(0, first);
  return { found: shown, isCut: found.length > shown.length, isTooMuch: shown.length > most };
}

/**
 * The folders whose children are read together: the next one and, where each statement is a round trip, those after it
 * that the page holds in any case.
 */
function parentsToRead(
  { reader }: TreeView,
  next: Descendant,
  following: readonly Descendant[],
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
    if (!hasInside(each)) continue;
    parents.push(each);
    count += each.folder.childCount;
  }
  return parents;
}

/** Where a list goes on: inside the last folder that was seen, then after it, after its parent, and so on up. */
async function startingPoints(
  view: TreeView,
  top: Folder,
  after: readonly Place[],
  { depth, limit, columns }: { depth: number; limit: number; columns: FolderColumns | undefined },
): Promise<readonly Descendant[]> {
  let rest: Descendant[] = [];
  let parent = top;
  let above: Descendant | undefined;
  for (const place of after) {
    const slice = { after: place, isInclusive: true, limit: limit + 1, columns };
    const siblings = await childrenOf(view, parent, slice);
    const seen = siblings[0]?.id === place.id ? siblings.shift() : undefined;
    rest = [...siblings.map(at(above)), ...rest];
    if (!seen) return rest.slice(0, limit);
    above = at(above)(seen);
    parent = seen;
  }
  const children = (above?.depth ?? 0) < depth ? await childrenOf(view, parent, { limit, columns }) : [];
  return [...children.map(at(above)), ...rest].slice(0, limit);
}

function at(above: Descendant | undefined): (folder: Folder) => Descendant {
  return (folder) => ({ folder, above, depth: (above?.depth ?? 0) + 1 });
}

async function childrenOf(view: TreeView, parent: Folder, slice: Parameters<typeof readChildren>[2]) {
  const { byParent } = await readChildren(view, [parent], slice, mostRows);
  return byParent.get(parent.id)?.folders ?? [];
}

/** The key of a descendant's cursor: the places on the way to it. */
export function wayKey(descendant: Descendant): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let each: Descendant | undefined = descendant; each; each = each.above) {
    const { id, key } = placeOf(each.folder, 'NAME');
    const length = Buffer.alloc(2);
    length.writeUInt16BE(key.length);
    parts.unshift(bytesOf(id), length, key);
  }
  return Buffer.concat(parts);
}

export function placesOf({ id, key }: Place, argument: string): Place[] {
  const bytes = Buffer.from(key);
  const places: Place[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = start + 18 <= bytes.length ? start + 18 + bytes.readUInt16BE(start + 16) : Infinity;
    if (end > bytes.length) throw notACursor(argument);
    places.push({ id: folderIdOf(bytes.subarray(start, start + 16)), key: bytes.subarray(start + 18, end) });
    start = end;
  }
  if (places.at(-1)?.id !== id) throw notACursor(argument);
  return places;
}
