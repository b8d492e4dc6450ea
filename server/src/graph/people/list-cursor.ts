/**
 * Cursors of lists that are in the order of a key: the place of something by its key, not by counting, so that it
 * stays right while others come and go. A checksum binds a cursor to its list, as with folders.
 */

import { crc32 } from 'node:zlib';
import { Refusal } from '../../refusal.ts';

const checksumBytes = 4;

export function toListCursor(list: string, key: string): string {
  const place = Buffer.from(key);
  return Buffer.concat([checksum(list, place), place]).toString('base64url');
}

/** The key; a cursor of another list, or edited by hand, is refused instead of leading somewhere. */
export function fromListCursor(list: string, cursor: string, argument: string): string {
  const bytes = Buffer.from(cursor, 'base64url');
  const place = bytes.subarray(checksumBytes);
  const key = place.toString();
  const isOurs =
    key !== '' &&
    !/\p{Cc}/u.test(key) &&
    checksum(list, place).equals(bytes.subarray(0, checksumBytes)) &&
    toListCursor(list, key) === cursor;
  if (!isOurs) throw new Refusal('BAD_INPUT', `\`${argument}\` is not a cursor of this list.`);
  return key;
}

function checksum(list: string, place: Uint8Array): Buffer {
  const bytes = Buffer.alloc(checksumBytes);
  bytes.writeUInt32BE(crc32(place, crc32(list)));
  return bytes;
}
