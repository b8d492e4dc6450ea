/** What a refresh takes at the least: one synced update of the row of a session, and one signature. */

import { randomBytes } from 'node:crypto';
import type { Respond } from './respond.ts';
import { openBareSqlite } from './bare-sqlite.ts';
import { signAnew } from './bare-signature.ts';

/** The file is a copy of ours, with the sessions that are refreshed. */
export function respondToRefresh(file: string, recordedBody: string): Respond {
  const connection = openBareSqlite(file);
  const sessions = connection.prepare('select id from sessions').pluck().all() as string[];
  const update = connection.prepare(
    'update sessions set refresh_digest = ?, refreshed_at = ?, refresh_expires_at = ? where id = ?',
  );
  const nextPair = signAnew(recordedBody);
  let turn = 0;
  return () => {
    const now = Date.now();
    update.run(randomBytes(32), now, now + 86_400_000, sessions[turn++ % sessions.length]);
    return nextPair();
  };
}
