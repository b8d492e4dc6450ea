/**
 * Cursors of a list of sub-folders: the place of a folder by its sort key and id, not by counting, so that it stays
 * right while others come and go. A checksum binds a cursor to its list: one of another list, or edited by hand, is
 * refused instead of leading somewhere.
 */

import { crc32 } from 'node:zlib';
import { Refusal } from '../refusal.ts';
import { bytesOf, folderIdOf } from './folder-id.ts';
import { sortKey } from './sort-key.ts';

export interface Position {
  readonly sortKey: Uint8Array;
  readonly id: string;
}

const checksumBytes = 4;
const idBytes = 16;

export function toCursor(parentId: string, folder: { id: string; name: string }): string {
  const place = Buffer.concat([bytesOf(folder.id), sortKey(folder.name)]);
  return Buffer.concat([checksum(parentId, place), place]).toString('base64url');
}

export function fromCursor(parentId: string, cursor: string, argument: string): Position {
  const bytes = Buffer.from(cursor, 'base64url');
  const place = bytes.subarray(checksumBytes);
  const isOurs =
    bytes.length > checksumBytes + idBytes &&
    bytes.toString('base64url') === cursor &&
    checksum(parentId, place).equals(bytes.subarray(0, checksumBytes));
  if (!isOurs) {
    throw new Refusal('BAD_INPUT', `\`${argument}\` is not a cursor of this list of folders.`);
  }
  return { id: folderIdOf(place.subarray(0, idBytes)), sortKey: place.subarray(idBytes) };
}

function checksum(parentId: string, place: Uint8Array): Buffer {
  const bytes = Buffer.alloc(checksumBytes);
  bytes.writeUInt32BE(crc32(place, crc32(parentId)));
  return bytes;
}
