/**
 * Cursors of lists that are in the order of a key: the place of something by its key, not by counting, so that it
 * stays right while others come and go. A checksum binds a cursor to its list, as with folders.
 */

import { openCursor, sealCursor } from '../../cursor-seal.ts';
import { Refusal } from '../../refusal.ts';

export function toListCursor(list: string, key: string): string {
  return sealCursor(list, Buffer.from(key));
}

/** The key; a cursor of another list, or edited by hand, is refused instead of leading somewhere. */
export function fromListCursor(list: string, cursor: string, argument: string): string {
  const key = openCursor(list, cursor)?.toString() ?? '';
  const isOurs = key !== '' && !/\p{Cc}/u.test(key) && toListCursor(list, key) === cursor;
  if (!isOurs) throw new Refusal('BAD_INPUT', `\`${argument}\` is not a cursor of this list.`);
  return key;
}
