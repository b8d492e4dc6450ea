/**
 * A node that keeps running while a newer version renames a column refuses changes and stores nothing. It never writes
 * to a schema that it does not know.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openWithoutMigrating } from '../../server/src/database/open-database.ts';
import { databaseKinds } from '../support/databases.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';

for (const kind of databaseKinds) {
  describe(`a running node on ${kind.name} after a newer version has migrated the database`, () => {
    let tree: TreeTestbed;
    before(async () => {
      tree = await TreeTestbed.start(kind);
      await tree.create('Before');
    });
    after(() => tree.stop());

    const runDefinition = async (text: string) => {
      const database = await openWithoutMigrating(tree.server.database.url);
      await database.exclusive((transaction) => transaction.define(text));
      await database.close();
    };

    test('refuses changes, stores nothing, and still reads the tree', async () => {
      await runDefinition('alter table journal rename column path_ids to later_path_ids');
      assert.equal(await tree.outcome('createFolder', { name: 'Meanwhile' }), 'INTERNAL');
      assert.deepEqual(await tree.paths(), ['Before']);
    });

    test('accepts changes after the renamed column has its old name again', async () => {
      await runDefinition('alter table journal rename column later_path_ids to path_ids');
      await tree.create('Later');
      assert.deepEqual(await tree.paths(), ['Before', 'Later']);
    });
  });
}
