/** Reads and writes database rows that no endpoint returns or changes. */

import { createPrivateKey, type KeyObject } from 'node:crypto';
import { Ancestry } from '../../server/src/access/ancestry.ts';
import { systemClock } from '../../server/src/clock.ts';
import type { Database } from '../../server/src/database/database.ts';
import { openDatabase } from '../../server/src/database/open-database.ts';
import { sql, type Statement } from '../../server/src/database/statement.ts';
import { addChildren } from '../../server/src/folders/change-rules.ts';
import { insertRows, newRow } from '../../server/src/folders/new-folder-rows.ts';

export async function withDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase(url, systemClock);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

const selectKeys = sql<object, { privateKey: Uint8Array }>`
  select private_key as "privateKey" from signing_keys order by created_at desc`;

export async function readPrivateKeys(url: string): Promise<KeyObject[]> {
  return withDatabase(url, async (database) =>
    (await database.all(selectKeys, {})).map(({ privateKey }) =>
      createPrivateKey({ key: Buffer.from(privateKey), format: 'der', type: 'pkcs8' }),
    ),
  );
}

const disableStatement = sql<{ username: string; now: number }>`
  update users set disabled_at = ${'now'} where username = ${'username'}`;

export async function disableUser(url: string, username: string, now: number): Promise<void> {
  await withDatabase(url, (database) =>
    database.transaction((transaction) => transaction.run(disableStatement, { username, now })),
  );
}

/** Creates folders under `parentId`, by default the root. Returns their ids. */
export async function insertFolders(
  url: string,
  names: readonly string[],
  parentId?: string,
): Promise<string[]> {
  return withDatabase(url, (database) =>
    database.transaction(async (transaction) => {
      const ancestry = await Ancestry.open(transaction);
      const parent = parentId ?? ancestry.rootId;
      await ancestry.load([parent]);
      const rows = names.map((name) => newRow({ parentId: parent, name }, systemClock.now()));
      await insertRows(transaction, rows);
      await addChildren(transaction, ancestry.pathTo(parent)!, { count: rows.length, addedDepth: 1 });
      return rows.map(({ id }) => id);
    }),
  );
}

const tables = [
  'folders',
  'grants',
  'group_members',
  'personal_folders',
  'sessions',
  'settings',
  'signing_keys',
  'spent_refresh_tokens',
  'user_groups',
  'users',
] as const;
type RowCounter = (typeof tables)[number] | 'revoked';

const countStatement = (table: string): Statement<object, { count: number }> => ({
  parts: [`select count(*) as count from ${table}`],
});
const countRevoked = sql<object, { count: number }>`
  select count(*) as count from sessions where revoked_at is not null`;

/** Counts the rows of each table and the revoked sessions. */
export async function countRows(url: string): Promise<Record<RowCounter, number>> {
  return withDatabase(url, async (database) => {
    const counts: Partial<Record<RowCounter, number>> = {
      revoked: (await database.get(countRevoked, {}))!.count,
    };
    for (const table of tables) counts[table] = (await database.get(countStatement(table), {}))!.count;
    return counts as Record<RowCounter, number>;
  });
}
