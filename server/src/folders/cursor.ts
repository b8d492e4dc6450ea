/**
 * Cursors of lists of folders: the place of a folder by what the list is ordered by, not by counting, so that it stays
 * right while others come and go.
 */

import { openCursor, sealCursor } from '../cursor-seal.ts';
import { Refusal } from '../refusal.ts';
import { bytesOf, folderIdOf } from './folder-id.ts';

/** By its key, and among equal keys by its id. */
export interface Place {
  readonly key: Uint8Array;
  readonly id: string;
}

export const idBytes = 16;
/** Enough for the next 8,000 years. */
export const timeKeyBytes = 6;
/** No time has a greater key. */
export const lastTime = 2 ** (8 * timeKeyBytes) - 1;

/** `list` names the list among all lists. */
export function toCursor(list: string, { key, id }: Place): string {
  return sealCursor(list, Buffer.concat([bytesOf(id), key]));
}

/** `keyBytes` is how long the key is, where all keys of the list are as long. */
export function fromCursor(list: string, cursor: string, argument: string, keyBytes?: number): Place {
  const place = openCursor(list, cursor);
  const isPlace =
    place !== undefined &&
    place.length >= idBytes &&
    (keyBytes === undefined || place.length === idBytes + keyBytes);
  if (!isPlace) throw notACursor(argument);
  return { id: folderIdOf(place.subarray(0, idBytes)), key: place.subarray(idBytes) };
}

export function notACursor(argument: string): Refusal {
  return new Refusal('BAD_INPUT', `\`${argument}\` is not a cursor of this list of folders.`);
}

/** A time as a key: its bytes are in the order of time. */
export function timeKey(milliseconds: number): Uint8Array {
  const bytes = Buffer.alloc(timeKeyBytes);
  bytes.writeUIntBE(milliseconds, 0, timeKeyBytes);
  return bytes;
}

export function timeOfKey(key: Uint8Array): number {
  return Buffer.from(key).readUIntBE(0, timeKeyBytes);
}
