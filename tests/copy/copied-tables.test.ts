/** The list of tables that `espalier copy` copies matches the schema of the migrations, including every column. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tables, tablesNotCopied } from '../../server/src/maintenance/copy/tables.ts';
import { databaseKinds } from '../support/databases.ts';
import { withDatabase } from '../support/stored-rows.ts';
import { readSchema, type Tables } from './stored-tables.ts';

for (const kind of databaseKinds) {
  describe(`the tables of espalier copy on ${kind.name}`, () => {
    test('are each listed with all columns and the primary key, or skipped for a documented reason', async () => {
      const database = await kind.create();
      let databaseTables: Tables;
      try {
        databaseTables = await withDatabase(database.url, readSchema);
      } finally {
        await database.remove();
      }
      const expected: Tables = Object.fromEntries(
        Object.entries(databaseTables).filter(([name]) => !Object.hasOwn(tablesNotCopied, name)),
      );
      const copiedTables = tables.map(({ name, key, columns }) => [name, { columns, key }] as const);
      assert.deepEqual(sorted(Object.fromEntries(copiedTables)), sorted(expected));
    });
  });
}

/** The order of columns does not matter; the order of key columns does. */
function sorted(tables: Tables): unknown {
  return Object.entries(tables)
    .map(([name, { columns, key }]) => ({ name, columns: columns.toSorted(), key }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
