/**
 * Cursors of lists of folders: the place of a folder by what the list is ordered by, not by counting, so that it stays
 * right while others come and go. A checksum binds a cursor to its list: one of another list, or edited by hand, is
 * refused instead of leading somewhere.
 */

import { crc32 } from 'node:zlib';
import { Refusal } from '../refusal.ts';
import { bytesOf, folderIdOf } from './folder-id.ts';

/** By its key, and among equal keys by its id. */
export interface Place {
  readonly key: Uint8Array;
  readonly id: string;
}

const checksumBytes = 4;
const idBytes = 16;
/** Enough for the next 8,000 years. */
export const timeKeyBytes = 6;

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

/** Any place in any list, with the checksum that binds it to the list. */
export function sealCursor(list: string, place: Uint8Array): string {
  return Buffer.concat([checksum(list, place), place]).toString('base64url');
}

/** Undefined if it is of another list, or was edited. */
export function openCursor(list: string, cursor: string): Buffer | undefined {
  const bytes = Buffer.from(cursor, 'base64url');
  const place = bytes.subarray(checksumBytes);
  const isOurs =
    bytes.toString('base64url') === cursor && checksum(list, place).equals(bytes.subarray(0, checksumBytes));
  return isOurs ? place : undefined;
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

function checksum(list: string, place: Uint8Array): Buffer {
  const bytes = Buffer.alloc(checksumBytes);
  bytes.writeUInt32BE(crc32(place, crc32(list)));
  return bytes;
}
