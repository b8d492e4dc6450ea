/** Lists of sub-folders: their orders and filters, places in them, and slices of them. */

import { timeKey, timeKeyBytes, type ListPosition } from './cursor.ts';
import { foldText } from './text-keys.ts';
import type { Folder } from './folders.ts';
import { sortKey } from './text-keys.ts';

export type OrderField = 'NAME' | 'CREATED' | 'UPDATED';

/** How many columns are read of each folder. Each kind holds those before it; only `texts` holds the long texts. */
export type FolderColumns = 'name' | 'main' | 'counted' | 'all' | 'texts';

export interface FolderOrder {
  readonly field: OrderField;
  readonly isDescending: boolean;
}

export interface FolderFilter {
  /** Both compared as folded texts. */
  readonly nameContains?: string | undefined;
  readonly nameStartsWith?: string | undefined;
  readonly hasChildren?: boolean | undefined;
  readonly updatedSince?: number | undefined;
}

/** What lies between two places, and no more than `limit` from one end of that. */
export interface Slice {
  readonly after?: ListPosition | undefined;
  readonly before?: ListPosition | undefined;
  readonly limit?: number | undefined;
  readonly isFromEnd?: boolean | undefined;
  /** So many from the start are passed over; only with a limit, and not from the end. */
  readonly skip?: number | undefined;
  /** The places themselves belong to it. */
  readonly isInclusive?: boolean | undefined;
  /** A segment of it, in the direction in which it is read: what follows the one place, up to and with the other. */
  readonly from?: ListPosition | undefined;
  readonly upTo?: ListPosition | undefined;
  readonly order?: FolderOrder | undefined;
  readonly filter?: FolderFilter | undefined;
  /** `all` by default. A column that is not read is undefined. Fewer than `all` only in natural order. */
  readonly columns?: FolderColumns | undefined;
}

export const byName: FolderOrder = { field: 'NAME', isDescending: false };

export function positionOf(
  folder: Pick<Folder, 'id' | 'name' | 'updatedAt'>,
  field: OrderField,
): ListPosition {
  return { id: folder.id, key: keyOf(folder, field) };
}

/** How long the keys of an order are, where they all are as long. */
export function keyBytesOf(field: OrderField): number | undefined {
  return { NAME: undefined, CREATED: 0, UPDATED: timeKeyBytes }[field];
}

function keyOf({ name, updatedAt }: Pick<Folder, 'name' | 'updatedAt'>, field: OrderField): Uint8Array {
  if (field === 'NAME') return sortKey(name);
  // Ids grow with time: they are the order of creation.
  if (field === 'CREATED') return new Uint8Array();
  return timeKey(updatedAt);
}

/** What the statements of `child-statements.ts` do, for folders that are read already. One more than the limit. */
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
  const placed = folders
    .filter((folder) => matchesFilter(folder, filter, hasChildren))
    .map((folder) => ({ folder, place: positionOf(folder, field) }))
    .filter(({ place }) => !after || compare(place, after) > edge)
    .filter(({ place }) => !before || compare(place, before) < -edge)
    .toSorted((one, other) => compare(one.place, other.place))
    .map(({ folder }) => folder);
  return isFromEnd ? placed.slice(-Math.min(limit + 1, placed.length)) : placed.slice(skip, skip + limit + 1);
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
