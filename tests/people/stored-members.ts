/** Writes rows of users and of their memberships, for tests with more users than the API creates in reasonable time. */

import { randomUUID } from 'node:crypto';
import { sql } from '../../server/src/database/statement.ts';
import { withDatabase } from '../support/stored-rows.ts';

const insertUser = sql<{ id: string; username: string }>`
  insert into users (id, username, username_key, password_hash, is_administrator, created_at)
  values (${'id'}, ${'username'}, ${'username'}, 'none', 0, 0)`;
const insertMember = sql<{ id: string; groupId: string }>`
  insert into group_members (group_id, user_id) values (${'groupId'}, ${'id'})`;

/** Returns the user names in order. The caches of running servers do not contain the new users. */
export async function insertMembers(url: string, groupId: string, count: number): Promise<string[]> {
  const members = Array.from({ length: count }, (_, index) => ({
    id: randomUUID(),
    username: `member ${String(index).padStart(6, '0')}`,
    groupId,
  }));
  await withDatabase(url, (database) =>
    database.transaction(async (transaction) => {
      await transaction.runEach(insertUser, members);
      await transaction.runEach(insertMember, members);
    }),
  );
  return members.map(({ username }) => username);
}
