/** What a refresh takes at the least: one synced update of the row of a session, and one signature. */

import { generateKeyPairSync, randomBytes, randomUUID, sign } from 'node:crypto';
import type { Respond } from './respond.ts';
import { openBareSqlite } from './bare-sqlite.ts';

/** The file is a copy of ours, with the sessions that are refreshed. */
export function respondToRefresh(file: string, recordedBody: string): Respond {
  const connection = openBareSqlite(file);
  const sessions = connection.prepare('select id from sessions').pluck().all() as string[];
  const update = connection.prepare(
    'update sessions set refresh_digest = ?, refreshed_at = ?, refresh_expires_at = ? where id = ?',
  );
  const { privateKey } = generateKeyPairSync('ed25519');
  const recorded = JSON.parse(recordedBody) as { readonly authToken: string };
  const signed = recorded.authToken.slice(0, recorded.authToken.lastIndexOf('.'));
  let turn = 0;
  return () => {
    const now = Date.now();
    const refreshToken = randomUUID();
    update.run(randomBytes(32), now, now + 86_400_000, sessions[turn++ % sessions.length]);
    const signature = sign(null, Buffer.from(signed), privateKey).toString('base64url');
    return JSON.stringify({ ...recorded, authToken: `${signed}.${signature}`, refreshToken });
  };
}
