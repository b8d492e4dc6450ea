/** A server migrates a database that has only the first schema, and keeps its folders and signing key. */

import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { migrations } from '../../server/src/database/migrations.ts';
import { openWithoutMigrating } from '../../server/src/database/open-database.ts';
import { sql } from '../../server/src/database/statement.ts';
import { newFolderId } from '../../server/src/folders/new-folder-rows.ts';
import { sortKey } from '../../server/src/folders/folder-texts.ts';
import { databaseKinds, type TestDatabase } from '../support/databases.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';

const insert = sql<{ id: string; parentId: string | null; name: string; sortKey: Uint8Array; now: number }>`
  insert into folders (id, parent_id, name, sort_key, version, created_at, updated_at)
  values (${'id'}, ${'parentId'}, ${'name'}, ${'sortKey'}, 1, ${'now'}, ${'now'})`;

const insertKey = sql<{ id: string; privateKey: Uint8Array; now: number }>`
  insert into signing_keys (id, private_key, created_at) values (${'id'}, ${'privateKey'}, ${'now'})`;

/** Creates the first schema with a root, three levels of folders and a signing key. Returns the key's id. */
async function createFirstVersion(url: string): Promise<string> {
  const database = await openWithoutMigrating(url);
  const [first] = migrations;
  const { dialect } = database;
  const now = Date.parse('2026-02-01T00:00:00Z');
  const keyId = randomUUID();
  const { privateKey } = generateKeyPairSync('ed25519');
  await database.transaction(async (transaction) => {
    for (const text of first!.statements(dialect)) await transaction.define(text);
    await transaction.define(`insert into espalier_migrations values (1, '${first!.name}', ${now})`);
    let parentId: string | null = null;
    for (const name of ['Root', 'Places', 'Harbour', 'Floor 2']) {
      const id = newFolderId(now);
      await transaction.run(insert, { id, parentId, name, sortKey: sortKey(name), now });
      parentId = id;
    }
    const keyBytes = privateKey.export({ format: 'der', type: 'pkcs8' });
    await transaction.run(insertKey, { id: keyId, privateKey: keyBytes, now });
  });
  await database.close();
  return keyId;
}

for (const kind of databaseKinds) {
  describe(`a server that migrated a database of the first version on ${kind.name}`, () => {
    let database: TestDatabase;
    let tree: TreeTestbed;
    let keyId: string;

    before(async () => {
      database = await kind.create();
      keyId = await createFirstVersion(database.url);
      tree = await TreeTestbed.start(kind, { database });
    });
    after(async () => {
      await tree.stop();
      await database.remove();
    });

    test('lists, counts and finds the old folders', async () => {
      assert.deepEqual(await tree.paths(), ['Places', 'Places/Harbour', 'Places/Harbour/Floor 2']);
      assert.deepEqual(await tree.find(await tree.idOf('/Places'), 'folders{totalCount} title version'), {
        folders: { totalCount: 1 },
        title: 'Places',
        version: 1,
      });
      assert.deepEqual(await tree.search('harb'), ['Harbour']);
      assert.deepEqual(await tree.search('fl'), ['Floor 2']);
    });

    test('signs new tokens with the old signing key', () => {
      const header = Buffer.from(tree.authToken.split('.')[0]!, 'base64url').toString();
      assert.equal((JSON.parse(header) as { kid: string }).kid, keyId);
    });

    test('changes old folders, and limits their depth like that of new folders', async () => {
      const levels = Array.from({ length: 254 }, (_, index) => `Level ${index}`);
      await tree.import([levels.join('/')], await tree.idOf('/Places/Harbour'));
      const placesId = await tree.idOf('/Places');
      const otherId = await tree.create('Elsewhere');
      const error = await tree.readMutationError('moveFolder', { id: placesId, parentId: otherId });
      assert.equal(error.extensions.code, 'BAD_INPUT');
      await tree.delete(await tree.idOf('/Places/Harbour/Level 0'));
      await tree.move(placesId, otherId);
      assert.deepEqual(await tree.search('floor'), ['Floor 2']);
    });
  });
}
