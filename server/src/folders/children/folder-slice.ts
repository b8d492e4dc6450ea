/** Slices of lists of sub-folders: their order, filter and limits, and the positions of folders in them. */

import { timeKey, timeKeyBytes, type ListPosition } from '../cursor.ts';
import { foldText, sortKey } from '../text-keys.ts';
import type { Folder } from '../folders.ts';

export type OrderField = 'NAME' | 'CREATED' | 'UPDATED';

/** Which columns of each folder are read. Each value includes the columns of those before it. Only `texts` has the long texts. */
export type FolderColumns = 'name' | 'main' | 'counted' | 'all' | 'texts';

export interface FolderOrder {
  readonly field: OrderField;
  readonly isDescending: boolean;
}

export interface FolderFilter {
  /** Both are compared as folded texts. */
  readonly nameContains?: string | undefined;
  readonly nameStartsWith?: string | undefined;
  readonly hasChildren?: boolean | undefined;
  readonly updatedSince?: number | undefined;
}

/** The folders between two positions, at most `limit` from one end. */
export interface Slice {
  readonly after?: ListPosition | undefined;
  readonly before?: ListPosition | undefined;
  readonly limit?: number | undefined;
  readonly isFromEnd?: boolean | undefined;
  /** The number of folders to skip at the start; only with a limit, and not from the end. */
  readonly skip?: number | undefined;
  /** Includes the folders at `after` and `before`. */
  readonly isInclusive?: boolean | undefined;
  /** A segment of the slice in reading direction: after `from`, up to and including `upTo`. */
  readonly from?: ListPosition | undefined;
  readonly upTo?: ListPosition | undefined;
  readonly order?: FolderOrder | undefined;
  readonly filter?: FolderFilter | undefined;
  /** `all` by default. A column that is not read is undefined. Other orders than the natural one need `all`. */
  readonly columns?: FolderColumns | undefined;
}

export const byName: FolderOrder = { field: 'NAME', isDescending: false };

export function positionOf(
  folder: Pick<Folder, 'id' | 'name' | 'updatedAt'>,
  field: OrderField,
): ListPosition {
  return { id: folder.id, key: keyOf(folder, field) };
}

/** The length of the sort keys of an order, if all keys have the same length. */
export function keyBytesOf(field: OrderField): number | undefined {
  return { NAME: undefined, CREATED: 0, UPDATED: timeKeyBytes }[field];
}

function keyOf({ name, updatedAt }: Pick<Folder, 'name' | 'updatedAt'>, field: OrderField): Uint8Array {
  if (field === 'NAME') return sortKey(name);
  // Ids grow with time, so they are in the order of creation.
  if (field === 'CREATED') return new Uint8Array();
  return timeKey(updatedAt);
}

/** Does the same as the statements of `child-lists.ts`, for folders that have been read. Returns one more than the limit. */
export function sliceOf(
  folders: readonly Folder[],
  slice: Slice,
  hasChildren: (folder: Folder) => boolean,
): Folder[] {
  const { after, before, limit = Infinity, isFromEnd, isInclusive, order = byName, filter = {} } = slice;
  const { skip = 0 } = slice;
  const { field, isDescending } = order;
  const compare = (one: ListPosition, other: ListPosition) => {
    const difference =
      Buffer.compare(one.key, other.key) || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
    return isDescending ? -difference : difference;
  };
  const edge = isInclusive ? -1 : 0;
  const matching = folders
    .filter((folder) => matchesFilter(folder, filter, hasChildren))
    .map((folder) => ({ folder, position: positionOf(folder, field) }))
    .filter(({ position }) => !after || compare(position, after) > edge)
    .filter(({ position }) => !before || compare(position, before) < -edge)
    .toSorted((one, other) => compare(one.position, other.position))
    .map(({ folder }) => folder);
  return isFromEnd
    ? matching.slice(-Math.min(limit + 1, matching.length))
    : matching.slice(skip, skip + limit + 1);
}

function matchesFilter(
  folder: Folder,
  filter: FolderFilter,
  hasChildren: (folder: Folder) => boolean,
): boolean {
  const { nameContains, nameStartsWith, updatedSince } = filter;
  const name = foldText(folder.name);
  return (
    (nameContains === undefined || name.includes(foldText(nameContains))) &&
    (nameStartsWith === undefined || name.startsWith(foldText(nameStartsWith))) &&
    (filter.hasChildren === undefined || hasChildren(folder) === filter.hasChildren) &&
    (updatedSince === undefined || folder.updatedAt >= updatedSince)
  );
}
