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

/** `list` names the list among all lists. */
export function toCursor(list: string, { key, id }: Place): string {
  const place = Buffer.concat([bytesOf(id), key]);
  return Buffer.concat([checksum(list, place), place]).toString('base64url');
}

export function fromCursor(list: string, cursor: string, argument: string): Place {
  const bytes = Buffer.from(cursor, 'base64url');
  const place = bytes.subarray(checksumBytes);
  const isOurs =
    bytes.length >= checksumBytes + idBytes &&
    bytes.toString('base64url') === cursor &&
    checksum(list, place).equals(bytes.subarray(0, checksumBytes));
  if (!isOurs) {
    throw new Refusal('BAD_INPUT', `\`${argument}\` is not a cursor of this list of folders.`);
  }
  return { id: folderIdOf(place.subarray(0, idBytes)), key: place.subarray(idBytes) };
}

function checksum(list: string, place: Uint8Array): Buffer {
  const bytes = Buffer.alloc(checksumBytes);
  bytes.writeUInt32BE(crc32(place, crc32(list)));
  return bytes;
}
