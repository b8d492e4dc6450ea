/** Forgetting old entries, a little at a time. Whoever asks for what followed a forgotten one is told so. */

import type { Database } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { changeInTurn, readHead } from './journal.ts';

export interface Retention {
  readonly journalDays: number;
  readonly journalEntries: number;
}

const dayMs = 86_400_000;
const batch = 1_000;
const mostPerSweep = 20_000;

const findOldest = sql<{ limit: number }, { number: number; at: number }>`
  select number, at from journal order by number limit ${'limit'}`;

const forget = sql<{ number: number }>`delete from journal where number <= ${'number'}`;

/** Answers how many went. */
export async function pruneJournal(
  database: Database,
  now: number,
  { journalDays, journalEntries }: Retention,
): Promise<number> {
  const { number: last } = await readHead(database);
  const isOld = ({ number, at }: { number: number; at: number }) =>
    number <= last - journalEntries || at <= now - journalDays * dayMs;
  let pruned = 0;
  while (pruned < mostPerSweep) {
    const oldest = await database.all(findOldest, { limit: batch });
    // Up to the first that is kept, so that what is left has no gap even if clocks disagreed.
    const kept = oldest.findIndex((entry) => !isOld(entry));
    const { number } = (kept < 0 ? oldest.at(-1) : oldest[kept - 1]) ?? {};
    if (number === undefined) break;
    pruned += await changeInTurn(database, (transaction) => transaction.run(forget, { number }), {
      takesLong: true,
    });
    if (kept >= 0) break;
    await new Promise(setImmediate);
  }
  return pruned;
}
