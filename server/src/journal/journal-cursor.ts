/**
 * Cursors of the journal: the number of an entry, and which journal it is of. A database that was brought back from a
 * backup goes on with the same numbers for other things: it has a new era then, and cursors of before lead nowhere.
 */

import { randomBytes } from 'node:crypto';
import { openCursor, sealCursor } from '../cursor-seal.ts';
import type { Database, Transaction } from '../database/database.ts';
import { readStored, storeOnce } from '../database/stored-settings.ts';
import { Refusal } from '../refusal.ts';

export interface JournalCursors {
  toCursor(number: number): string;
  /** Undefined for a cursor of another era; refuses what is none. */
  toNumber(cursor: string, argument: string): number | undefined;
}

const list = 'journal';
const settingName = 'journal_era';
const eraBytes = 4;
/** Enough for 281 trillion entries. */
const numberBytes = 6;

/** Part of the first start. */
export async function ensureEra(transaction: Transaction): Promise<void> {
  await storeOnce(transaction, settingName, randomBytes(eraBytes).toString('hex'));
}

export async function readJournalCursors(database: Database): Promise<JournalCursors> {
  const era = Buffer.from((await readStored(database, settingName)) ?? '', 'hex');
  if (era.length !== eraBytes) throw new Error('The journal has no era.');
  return {
    toCursor(number) {
      const place = Buffer.alloc(eraBytes + numberBytes);
      era.copy(place);
      place.writeUIntBE(number, eraBytes, numberBytes);
      return sealCursor(list, place);
    },
    toNumber(cursor, argument) {
      const place = openCursor(list, cursor);
      if (place?.length !== eraBytes + numberBytes) {
        throw new Refusal('BAD_INPUT', `\`${argument}\` is not a cursor of the journal.`);
      }
      return place.subarray(0, eraBytes).equals(era) ? place.readUIntBE(eraBytes, numberBytes) : undefined;
    },
  };
}
