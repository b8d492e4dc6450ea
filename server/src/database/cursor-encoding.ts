/**
 * The encoding of cursors. A cursor is a position in a list, with a checksum that binds it to that list. An edited cursor, or a
 * cursor of another list, is refused.
 */

import { crc32 } from 'node:zlib';

const checksumBytes = 4;

/** `list` is a name or an id that identifies the list. */
export function encodeCursor(list: string, position: Uint8Array): string {
  return Buffer.concat([checksum(list, position), position]).toString('base64url');
}

/** Undefined if the cursor is of another list or was edited. */
export function decodeCursor(list: string, cursor: string): Buffer | undefined {
  const bytes = Buffer.from(cursor, 'base64url');
  const position = bytes.subarray(checksumBytes);
  const isValid =
    bytes.toString('base64url') === cursor &&
    checksum(list, position).equals(bytes.subarray(0, checksumBytes));
  return isValid ? position : undefined;
}

function checksum(list: string, position: Uint8Array): Buffer {
  const bytes = Buffer.alloc(checksumBytes);
  bytes.writeUInt32BE(crc32(position, crc32(list)));
  return bytes;
}
