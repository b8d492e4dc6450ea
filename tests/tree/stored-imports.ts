/** Writes the rows that an import leaves in the database if the server stops during the import. */

import assert from 'node:assert/strict';
import type { Database } from '../../server/src/database/database.ts';
import { sql } from '../../server/src/database/statement.ts';
import { insertRows, newRow } from '../../server/src/folders/new-folder-rows.ts';
import { withDatabase } from '../support/stored-rows.ts';

const detachForImport = sql<{ id: string; parentId: string; now: number }>`
  update folders set detached_at = ${'now'}, detached_from = ${'parentId'}, detached_because = 'import'
  where id = ${'id'}`;

/**
 * Writes detached folders under a staging folder. Returns the id of the staging folder, followed by theirs.
 */
export async function stageImport(
  url: string,
  { parentId, names, now }: { parentId: string; names: readonly string[]; now: number },
): Promise<string[]> {
  return withDatabase(url, (database) =>
    database.transaction(async (transaction) => {
      const stage = newRow({ parentId: null, name: 'import' }, now);
      const rows = names.map((name) => newRow({ parentId: stage.id, name }, now));
      await insertRows(transaction, [stage, ...rows]);
      await transaction.run(detachForImport, { id: stage.id, parentId, now });
      return [stage, ...rows].map(({ id }) => id);
    }),
  );
}

const markImportsForPurge = sql<object>`update folders set detached_because = 'purge' where detached_because = 'import'`;

/** Marks staged imports for purging, as the server does when an import takes too long. */
export async function markStagedImportsForPurge(database: Database): Promise<void> {
  const changed = await database.transaction((transaction) => transaction.run(markImportsForPurge, {}));
  assert.equal(changed, 1);
}
