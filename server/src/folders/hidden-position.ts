/**
 * A position in a list that may be that of a folder which the viewer does not see. It is encrypted: the client can send it
 * back, but cannot read it or make one up.
 */

import type { Reader } from '../database/database.ts';
import { readStored } from '../database/stored-settings.ts';
import { openBytes, sealBytes } from '../sealed-bytes.ts';

/** `list` names the list among all lists: the position is of no use in another one. */
export async function sealPosition(reader: Reader, list: string, position: Uint8Array): Promise<Uint8Array> {
  return sealBytes(position, await readCursorKey(reader), list);
}

/** Undefined if it was not sealed here, or is of another list. */
export async function openPosition(
  reader: Reader,
  list: string,
  sealed: Uint8Array,
): Promise<Buffer | undefined> {
  const position = openBytes(sealed, await readCursorKey(reader), list);
  return position && Buffer.from(position);
}

async function readCursorKey(reader: Reader): Promise<Uint8Array> {
  const key = await readStored(reader, 'cursorKey');
  if (key === undefined) throw new Error('The installation has no key for cursors.');
  return Buffer.from(key, 'base64url');
}
