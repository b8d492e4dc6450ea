/** Repeated mutations of many folders return the same counts and leave no staged folders. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { sql } from '../../server/src/database/statement.ts';
import { databaseKinds } from '../support/databases.ts';
import { mutation } from '../support/graph-testbed.ts';
import { withDatabase } from '../support/stored-rows.ts';
import { IdempotencyTestbed } from './idempotency-testbed.ts';

const countStaged = sql<object, { count: number }>`
  select count(*) as count from folders where detached_because = 'import'`;

for (const kind of databaseKinds) {
  describe(`a repeated bulk change on ${kind.name}`, () => {
    let testbed: IdempotencyTestbed;
    before(async () => (testbed = await IdempotencyTestbed.start(kind)));
    after(() => testbed.stop());

    /**
     * Creates a folder in which a user may write, with three folders inside. One of the three is hidden from
     * the user.
     */
    const createSharedFolder = async () => {
      const parentId = await testbed.createFolder(`Parent ${randomUUID()}`);
      const id = await testbed.createFolder('Deleted', parentId);
      const hidden = await testbed.createFolder('Hidden', id);
      await testbed.createFolder('Also hidden', hidden);
      await testbed.createFolder('Seen', id);
      const person = await testbed.createUser();
      await testbed.mutate('grantAccess', { folderId: parentId, userId: person.id, level: 'WRITE' });
      await testbed.mutate('grantAccess', { folderId: hidden, userId: person.id, level: 'NONE' });
      return { id, parentId, person, authToken: (await testbed.logIn(person)).authToken };
    };
    const deleteSharedFolder = async () => {
      const { id, authToken, ...rest } = await createSharedFolder();
      const options = { key: randomUUID(), authToken };
      const input = { id, recursive: true };
      const selection = 'folderId folderCount';
      return {
        ...rest,
        id,
        first: await testbed.mutateWithKey('deleteFolder', input, selection, options),
        again: () => testbed.mutateWithKey('deleteFolder', input, selection, options),
        codeAgain: async () =>
          (await testbed.executeWithKey(mutation('deleteFolder', selection), { input }, options)).errors?.[0]
            ?.extensions.code,
      };
    };

    test('counts the same visible folders again after a deletion', async () => {
      const { first, again, id, parentId } = await deleteSharedFolder();
      assert.deepEqual(first, { folderId: id, folderCount: 2 });
      assert.deepEqual(await again(), first);
      await testbed.mutate('deleteFolder', { id: parentId, recursive: true });
      assert.deepEqual(await again(), first);
    });

    test('counts the current folders after a deletion that was undone', async () => {
      const { first, again, id, parentId } = await deleteSharedFolder();
      await testbed.mutate('restoreFolder', { id, parentId });
      assert.deepEqual(await again(), first);
      await testbed.createFolder('Another', id);
      assert.deepEqual(await again(), { folderId: id, folderCount: 3 });
    });

    test('reports NOT_FOUND for a deleted folder that the user no longer sees', async () => {
      const { codeAgain, parentId, person } = await deleteSharedFolder();
      await testbed.mutate('revokeAccess', { folderId: parentId, userId: person.id });
      assert.equal(await codeAgain(), 'NOT_FOUND');
    });

    test('reports NOT_FOUND for a purged folder', async () => {
      const { database, clock } = testbed.server;
      const { codeAgain } = await deleteSharedFolder();
      const purgingNode = await IdempotencyTestbed.start(kind, {
        database,
        clock,
        settings: { TRASH_DAYS: '0' },
      });
      await purgingNode.server.purge();
      await purgingNode.stop();
      assert.equal(await codeAgain(), 'NOT_FOUND');
    });

    test('imports a large list only once, and leaves no staged folders', async () => {
      const parentId = await testbed.createFolder('Imported');
      const list = Array.from({ length: 1_500 }, (_, index) => ({ path: `Folder ${index}` }));
      const input = { parentId, list };
      const key = randomUUID();
      const selection = 'folderCount cursor parent{id folders{totalCount}}';
      const send = () => testbed.mutateWithKey('importFolders', input, selection, { key });
      const [first, second] = await Promise.all([send(), send()]);
      assert.deepEqual(second, first);
      assert.deepEqual(first, {
        folderCount: 1_500,
        cursor: (first as { cursor: string }).cursor,
        parent: { id: parentId, folders: { totalCount: 1_500 } },
      });
      assert.deepEqual(await send(), first);
      const staged = await withDatabase(testbed.server.database.url, async (database) =>
        database.get(countStaged, {}),
      );
      assert.deepEqual(staged, { count: 0 });
    });

    test('writes no staged folders for a completed import', async () => {
      const statements: string[] = [];
      const { database, clock } = testbed.server;
      const otherNode = await IdempotencyTestbed.start(kind, {
        database,
        clock,
        onStatement: (text) => void statements.push(text),
      });
      try {
        const list = Array.from({ length: 1_001 }, (_, index) => ({ path: `More ${index}` }));
        const send = () =>
          otherNode.mutateWithKey('importFolders', { parentId: null, list }, 'folderCount', { key });
        const key = randomUUID();
        const first = await send();
        assert.ok(statements.some((text) => text.includes('insert into folders')));
        statements.length = 0;
        assert.deepEqual(await send(), first);
        assert.deepEqual(
          statements.filter((text) => /^\s*(insert|update|delete)/i.test(text)),
          [],
        );
      } finally {
        await otherNode.stop();
      }
    });
  });
}
