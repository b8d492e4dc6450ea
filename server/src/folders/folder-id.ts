/** Ids of folders: UUIDs that grow with time (RFC 9562, version 7), so that new rows lie side by side in the index. */

import { randomUUID } from 'node:crypto';

export function newFolderId(now: number): string {
  return `${timePart(now)}-7${randomUUID().slice(15)}`;
}

/**
 * Ids of up to 16 million folders that are made together, each greater than the one before (RFC 9562 §6.2): the
 * database writes them side by side, too.
 */
export function newFolderIds(now: number): () => string {
  const time = timePart(now);
  let made = 0;
  return () => {
    const count = (made++).toString(16).padStart(6, '0');
    return `${time}-7${count.slice(0, 3)}-8${count.slice(3)}-${randomUUID().slice(24)}`;
  };
}

function timePart(now: number): string {
  return now.toString(16).padStart(12, '0').replace(/^.{8}/, '$&-');
}

export function folderIdOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

export function bytesOf(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}
