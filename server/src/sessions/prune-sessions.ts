/** Deletes sessions that ended long ago, in small batches, together with their spent refresh tokens. */

import type { Database } from '../database/database.ts';
import { sql, type Statement } from '../database/statement.ts';
import { runChange } from '../journal/journal.ts';
import { spentTokenRetentionMs } from './spent-tokens.ts';

type Bound = { readonly before: number };

/** Small, because each session can have hundreds of spent tokens. */
const batch = 100;
const maxBatches = 50;

const statementsFor = (condition: Statement) => ({
  findAny: sql<Bound, { id: string }>`select id from sessions where ${condition} limit 1`,
  deleteBatch: sql<Bound & { batch: number }>`
    delete from sessions where id in (select id from sessions where ${condition} limit ${'batch'})`,
});

const expired = statementsFor(sql`refresh_expires_at < ${'before'}`);
const revoked = statementsFor(sql`revoked_at < ${'before'}`);

/**
 * Ended sessions are kept as long as their spent tokens. That is longer than the lifetime of any auth token, so a revoked
 * session stays known as long as a client can present a token from it.
 */
export async function pruneSessions(database: Database, now: number): Promise<void> {
  const before = now - spentTokenRetentionMs;
  for (const { findAny, deleteBatch } of [expired, revoked]) {
    for (let count = 0; count < maxBatches && (await database.get(findAny, { before })); count++) {
      await runChange(database, (transaction) => transaction.run(deleteBatch, { before, batch }), {
        takesLong: true,
      });
    }
  }
}
