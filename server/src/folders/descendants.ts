/**
 * Everything below a folder as one list, each folder right before what is inside it. Read in rounds, as many folders
 * together as the page may need, so that neither a wide nor a deep tree costs a statement for each folder.
 */

import { mostRows, readChildren } from './children.ts';
import { placeOf } from './folder-list.ts';
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
}

export interface Descendants {
  readonly found: readonly Descendant[];
  /** There are more than were asked for. */
  readonly isCut: boolean;
  /** There are more than `most`: what was found is not complete. */
  readonly isTooMuch: boolean;
}

const firstRound = 16;
const widestRound = 512;

export async function readDescendants(
  view: TreeView,
  top: Folder,
  { depth = Infinity, first, after = [] }: DescendantSlice,
  most: number,
): Promise<Descendants> {
  const wanted = Math.min(first ?? most, most) + 1;
  const hasInside = ({ folder, depth: at }: Descendant) => at < depth && folder.childCount > 0;
  let known = await startingPoints(view, top, after, depth, wanted);
  const isExpanded = new Set<Descendant>();
  let atOnce = first === undefined ? widestRound : firstRound;
  for (;;) {
    const parents = known.filter((each) => hasInside(each) && !isExpanded.has(each)).slice(0, atOnce);
    if (parents.length === 0) break;
    const folders = parents.map(({ folder }) => folder);
    const slice = first === undefined ? {} : { limit: wanted };
    const { byParent, isTooMuch } = await readChildren(
      view,
      folders,
      slice,
      first === undefined ? most : mostRows,
    );
    if (isTooMuch) return { found: known, isCut: true, isTooMuch };
    const opened = new Set(parents);
    for (const parent of parents) isExpanded.add(parent);
    const before = known.length;
    known = known.flatMap((each) => (opened.has(each) ? [each, ...inside(each)] : each));
    if (first !== undefined) {
      atOnce = known.length - before < parents.length ? Math.min(atOnce * 2, widestRound) : firstRound;
    }
    known = known.slice(0, wanted);

    function inside(above: Descendant): Descendant[] {
      const children = byParent.get(above.folder.id)?.folders ?? [];
      return children.map((folder) => ({ folder, above, depth: above.depth + 1 }));
    }
  }
  const found = first === undefined ? known : known.slice(0, first);
  return { found, isCut: known.length > found.length, isTooMuch: found.length > most };
}

/** Where a list goes on: inside the last folder that was seen, then after it, after its parent, and so on up. */
async function startingPoints(
  view: TreeView,
  top: Folder,
  after: readonly Place[],
  depth: number,
  limit: number,
): Promise<readonly Descendant[]> {
  let rest: Descendant[] = [];
  let parent = top;
  let above: Descendant | undefined;
  for (const place of after) {
    const siblings = await childrenOf(view, parent, { after: place, isInclusive: true, limit: limit + 1 });
    const seen = siblings[0]?.id === place.id ? siblings.shift() : undefined;
    rest = [...siblings.map(at(above)), ...rest];
    if (!seen) return rest.slice(0, limit);
    above = at(above)(seen);
    parent = seen;
  }
  const children = (above?.depth ?? 0) < depth ? await childrenOf(view, parent, { limit }) : [];
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
