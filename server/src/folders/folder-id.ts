/** Ids of folders: UUIDs that grow with time (RFC 9562, version 7), so that new rows lie side by side in the index. */

import { randomUUID } from 'node:crypto';

export function newFolderId(now: number): string {
  return `${timePart(now)}-7${randomUUID().slice(15)}`;
}

/**
 * Ids of up to a million folders that are made together, each greater than the one before (RFC 9562 §6.2): the
 * database writes them side by side, too. With gaps: two ids do not tell how many folders lie between.
 */
export function newFolderIds(now: number): () => string {
  const time = timePart(now);
  let count = 0;
  return () => {
    const random = randomUUID();
    count += 1 + parseInt(random[0]!, 16);
    const digits = count.toString(16).padStart(6, '0');
    return `${time}-7${digits.slice(0, 3)}-8${digits.slice(3)}-${random.slice(24)}`;
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
