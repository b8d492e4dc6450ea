/** Nothing is forgotten: the list of what is copied is the schema that the migrations make, to the column. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { copiedTables, tablesLeftBehind } from '../../server/src/maintenance/copy/tables.ts';
import { databaseKinds } from '../support/databases.ts';
import { withDatabase } from '../support/stored-rows.ts';
import { readSchema, type Tables } from './stored-tables.ts';

for (const kind of databaseKinds) {
  describe(`what espalier copy takes along on ${kind.name}`, () => {
    test('every table is copied with all its columns by its primary key, or is left behind for a reason', async () => {
      const database = await kind.create();
      const stored = await withDatabase(database.url, readSchema).finally(() => database.remove());
      const expected: Tables = Object.fromEntries(
        Object.entries(stored).filter(([name]) => !Object.hasOwn(tablesLeftBehind, name)),
      );
      const listed = copiedTables.map(({ name, key, columns }) => [name, { columns, key }] as const);
      assert.deepEqual(sorted(Object.fromEntries(listed)), sorted(expected));
    });
  });
}

/** In which order the columns of a table stand does not matter; in which those of a key do, does. */
function sorted(tables: Tables): unknown {
  return Object.entries(tables)
    .map(([name, { columns, key }]) => ({ name, columns: columns.toSorted(), key }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
