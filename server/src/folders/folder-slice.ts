/**
 * Slices of lists of folders: order, filter, limits, and the positions of folders in them, with their cursors. A cursor holds the
 * sort key of a folder, not its index, so that it stays correct while folders are added and removed. If a position may belong to
 * a hidden folder, it is encrypted: the client can send it back, but cannot read or forge it.
 */

import { decodeCursor, encodeCursor } from '../database/cursor-encoding.ts';
import { decryptBytes, encryptBytes } from '../database/encryption.ts';
import type { Reader } from '../database/database.ts';
import { readInstallationValue } from '../database/installation-values.ts';
import { Refusal } from '../refusal.ts';
import { toFolderId, toIdBytes } from './new-folder-rows.ts';
import { foldText, sortKey } from './folder-texts.ts';
import type { Folder, FolderColumns } from './tree-view.ts';

/** The position of a folder in a list: its sort key, and its id among equal keys. */
export interface ListPosition {
  readonly key: Uint8Array;
  readonly id: string;
}

export type OrderField = 'NAME' | 'CREATED' | 'UPDATED';

export interface FolderOrder {
  readonly field: OrderField;
  readonly isDescending: boolean;
}

export interface FolderFilter {
  /** `nameContains` and `nameStartsWith` are compared as folded texts. */
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
  /** Default: `withoutTexts`, the minimum for orders other than the natural order. A column that is not read is undefined. */
  readonly columns?: FolderColumns | undefined;
}

export const byName: FolderOrder = { field: 'NAME', isDescending: false };
export const idBytes = 16;
/** Enough for the next 8,000 years. */
const timeKeyBytes = 6;
/** No time has a greater key. */
export const lastTime = 2 ** (8 * timeKeyBytes) - 1;

export function positionOf(
  { id, name, updatedAt }: Pick<Folder, 'id' | 'name' | 'updatedAt'>,
  field: OrderField,
): ListPosition {
  if (field === 'NAME') return { id, key: sortKey(name) };
  // Ids grow with time, so they are in the order of creation.
  return { id, key: field === 'CREATED' ? new Uint8Array() : timeKey(updatedAt) };
}

/** The length of the sort keys of an order field, if all its keys have the same length. */
export function keyBytesOf(field: OrderField): number | undefined {
  return { NAME: undefined, CREATED: 0, UPDATED: timeKeyBytes }[field];
}

/** A key whose byte order is the order of time. */
export function timeKey(milliseconds: number): Uint8Array {
  const bytes = Buffer.alloc(timeKeyBytes);
  bytes.writeUIntBE(milliseconds, 0, timeKeyBytes);
  return bytes;
}

export function timeOfKey(key: Uint8Array): number {
  return Buffer.from(key).readUIntBE(0, timeKeyBytes);
}

/**
 * Does the same as the statements of `child-lists.ts`, for folders that have already been read. Returns one folder more than the
 * limit, if there are that many.
 */
export function sliceOf(
  folders: readonly Folder[],
  slice: Slice,
  hasChildren: (folder: Folder) => boolean,
): Folder[] {
  const { after, before, limit = Infinity, isFromEnd, isInclusive, order = byName, filter, skip = 0 } = slice;
  const { field, isDescending } = order;
  const compare = (one: ListPosition, other: ListPosition) => {
    const difference =
      Buffer.compare(one.key, other.key) || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
    return isDescending ? -difference : difference;
  };
  const edge = isInclusive ? -1 : 0;
  const matching = folders
    .filter((folder) => !filter || matchesFilter(folder, filter, hasChildren))
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
  { nameContains, nameStartsWith, updatedSince, hasChildren: expected }: FolderFilter,
  hasChildren: (folder: Folder) => boolean,
): boolean {
  const name = foldText(folder.name);
  return (
    (nameContains === undefined || name.includes(foldText(nameContains))) &&
    (nameStartsWith === undefined || name.startsWith(foldText(nameStartsWith))) &&
    (expected === undefined || hasChildren(folder) === expected) &&
    (updatedSince === undefined || folder.updatedAt >= updatedSince)
  );
}

/** `list` identifies the list. A cursor is valid only in its own list. */
export function toCursor(list: string, position: ListPosition): string {
  return encodeCursor(list, positionBytes(position));
}

/** `keyBytes` is the length of the keys, for lists in which all keys have the same length. */
export function fromCursor(list: string, cursor: string, argument: string, keyBytes?: number): ListPosition {
  const bytes = decodeCursor(list, cursor);
  const hasKey = keyBytes === undefined || bytes?.length === idBytes + keyBytes;
  return toPosition(hasKey ? bytes : undefined, argument);
}

export function positionBytes({ id, key }: ListPosition): Buffer {
  return Buffer.concat([toIdBytes(id), key]);
}

export function toPosition(bytes: Buffer | undefined, argument: string): ListPosition {
  if (!bytes || bytes.length < idBytes) throw notACursor(argument);
  return { id: toFolderId(bytes.subarray(0, idBytes)), key: bytes.subarray(idBytes) };
}

export function notACursor(argument: string): Refusal {
  return new Refusal('BAD_INPUT', `\`${argument}\` is not a cursor of this list of folders.`);
}

/** Encrypts a position of the list `list`. */
export async function encryptPosition(
  reader: Reader,
  list: string,
  position: Uint8Array,
): Promise<Uint8Array> {
  return encryptBytes(position, await readCursorKey(reader), list);
}

/** Undefined if the position was not encrypted here, or belongs to another list. */
export async function decryptPosition(
  reader: Reader,
  list: string,
  encrypted: Uint8Array,
): Promise<Buffer | undefined> {
  const position = decryptBytes(encrypted, await readCursorKey(reader), list);
  return position && Buffer.from(position);
}

async function readCursorKey(reader: Reader): Promise<Uint8Array> {
  const key = await readInstallationValue(reader, 'cursorKey');
  if (key === undefined) throw new Error('The installation has no key for cursors.');
  return Buffer.from(key, 'base64url');
}
