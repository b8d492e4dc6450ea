/** Ids of folders: UUIDs that grow with time (RFC 9562, version 7), so that new rows lie side by side in the index. */

import { randomBytes } from 'node:crypto';

export function newFolderId(now: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now, 0, 6);
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return folderIdOf(bytes);
}

export function folderIdOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

export function bytesOf(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

/** Ids are compared as text: anything but the canonical form names nothing. */
export function isFolderId(text: string): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(text);
}
