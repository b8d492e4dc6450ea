/** Forgetting sessions that are long over, a few at a time; with them goes what is known of their refreshes. */

import type { Database } from '../database/database.ts';
import { sql, type Statement } from '../database/statement.ts';
import { changeInTurn } from '../journal/journal.ts';
import { spentTokenRetentionMs } from './spent-tokens.ts';

type Choice = { readonly before: number };

/** With each go its spent tokens, which may be hundreds. */
const batch = 100;
const mostBatches = 50;

const statementsOf = (over: Statement) => ({
  any: sql<Choice, { id: string }>`select id from sessions where ${over} limit 1`,
  forget: sql<Choice & { batch: number }>`
    delete from sessions where id in (select id from sessions where ${over} limit ${'batch'})`,
});

const ofExpired = statementsOf(sql`refresh_expires_at < ${'before'}`);
const ofRevoked = statementsOf(sql`revoked_at < ${'before'}`);

/**
 * They are kept for as long as a spent token of theirs would be known, which is longer than any auth token lives: so a
 * session that was ended is known as such for as long as anybody can show a token of it.
 */
export async function pruneSessions(database: Database, now: number): Promise<void> {
  const before = now - spentTokenRetentionMs;
  for (const { any, forget } of [ofExpired, ofRevoked]) {
    for (let count = 0; count < mostBatches && (await database.get(any, { before })); count++) {
      await changeInTurn(database, (transaction) => transaction.run(forget, { before, batch }), {
        takesLong: true,
      });
    }
  }
}
