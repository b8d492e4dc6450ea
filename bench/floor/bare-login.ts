/** What a login takes at the least: the user is read, the hash verified, a session synced to the disk, and a token signed. */

import { randomBytes, randomUUID } from 'node:crypto';
import { verify } from '@node-rs/argon2';
import { createPlaces, spareCores } from '../../server/src/places.ts';
import { signAnew } from './bare-signature.ts';
import { openBareSqlite } from './bare-sqlite.ts';
import type { Respond } from './respond.ts';

/** The file is a copy of ours, with those who log in. */
export function respondToLogin(file: string, recordedBody: string): Respond {
  const connection = openBareSqlite(file);
  const find = connection.prepare('select id, password_hash as hash from users where username = ?');
  const insert = connection.prepare(
    `insert into sessions (id, user_id, refresh_digest, created_at, refreshed_at, refresh_expires_at)
    values (?, ?, ?, ?, ?, ?)`,
  );
  const nextPair = signAnew(recordedBody);
  const places = createPlaces(spareCores());
  return async (body) => {
    const { username, password } = JSON.parse(body.toString()) as { username: string; password: string };
    const { id, hash } = find.get(username) as { id: string; hash: string };
    if (!(await places.use(() => verify(hash, password)))) throw new Error('The password is wrong.');
    const now = Date.now();
    insert.run(randomUUID(), id, randomBytes(32), now, now, now + 86_400_000);
    return nextPair();
  };
}
