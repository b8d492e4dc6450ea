/**
 * Cursors of the journal: the number of an entry, and what is random about it. A database that was brought back from a
 * backup goes on with the same numbers for other things: then a cursor of before is not one of its entries.
 */

import { openCursor, sealCursor } from '../database/cursor-checksum.ts';
import { Refusal } from '../refusal.ts';
import type { JournalPlace } from './journal-entry.ts';

const list = 'journal';
/** Enough for 281 trillion entries. */
const numberBytes = 6;
const nonceBytes = 4;

export function toJournalCursor({ number, nonce }: JournalPlace): string {
  const bytes = Buffer.alloc(numberBytes + nonceBytes);
  bytes.writeUIntBE(number, 0, numberBytes);
  bytes.writeUInt32BE(nonce, numberBytes);
  return sealCursor(list, bytes);
}

/** Refuses what is no cursor; whether it is of this journal is for the journal to say. */
export function fromJournalCursor(cursor: string, argument: string): JournalPlace {
  const bytes = openCursor(list, cursor);
  if (bytes?.length !== numberBytes + nonceBytes) {
    throw new Refusal(
      'BAD_INPUT',
      `\`${argument}\` takes the \`cursor\` of a query, a mutation, a change or a journal entry; this is none.`,
    );
  }
  return { number: bytes.readUIntBE(0, numberBytes), nonce: bytes.readUInt32BE(numberBytes) };
}
