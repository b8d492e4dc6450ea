/**
 * What makes a place in a list a cursor: a checksum binds it to its list, so that one of another list, or edited by
 * hand, is refused instead of leading somewhere.
 */

import { crc32 } from 'node:zlib';

const checksumBytes = 4;

/** `list` names the list among all lists. */
export function encodeCursor(list: string, place: Uint8Array): string {
  return Buffer.concat([checksum(list, place), place]).toString('base64url');
}

/** Undefined if it is of another list, or was edited. */
export function decodeCursor(list: string, cursor: string): Buffer | undefined {
  const bytes = Buffer.from(cursor, 'base64url');
  const place = bytes.subarray(checksumBytes);
  const isOurs =
    bytes.toString('base64url') === cursor && checksum(list, place).equals(bytes.subarray(0, checksumBytes));
  return isOurs ? place : undefined;
}

function checksum(list: string, place: Uint8Array): Buffer {
  const bytes = Buffer.alloc(checksumBytes);
  bytes.writeUInt32BE(crc32(place, crc32(list)));
  return bytes;
}
