/** Mutations of many folders, sent again: what is counted is the same, and nothing is left over. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { sql } from '../../server/src/database/statement.ts';
import { databaseKinds } from '../support/databases.ts';
import { mutation } from '../support/graph-testbed.ts';
import { withDatabase } from '../support/stored-rows.ts';
import { OnceBed } from './once-bed.ts';

const offTree = sql<object, { count: number }>`
  select count(*) as count from folders where detached_because = 'import'`;

for (const kind of databaseKinds) {
  describe(`many folders under one key on ${kind.name}`, () => {
    let bed: OnceBed;
    before(async () => (bed = await OnceBed.start(kind)));
    after(() => bed.stop());

    /** A folder in which somebody may write, with three inside, of which one is hidden from them. */
    const shared = async () => {
      const parentId = await bed.folder(`Parent ${randomUUID()}`);
      const id = await bed.folder('Deleted', parentId);
      const hidden = await bed.folder('Hidden', id);
      await bed.folder('Hidden, too', hidden);
      await bed.folder('Seen', id);
      const person = await bed.createUser();
      await bed.mutate('grantAccess', { folderId: parentId, userId: person.id, level: 'WRITE' });
      await bed.mutate('grantAccess', { folderId: hidden, userId: person.id, level: 'NONE' });
      return { id, parentId, person, authToken: (await bed.logIn(person)).authToken };
    };
    const deletion = async () => {
      const { id, authToken, ...rest } = await shared();
      const options = { key: randomUUID(), authToken };
      const input = { id, recursive: true };
      const selection = 'folderId folderCount';
      return {
        ...rest,
        id,
        first: await bed.once('deleteFolder', input, selection, options),
        again: () => bed.once('deleteFolder', input, selection, options),
        codeAgain: async () =>
          (await bed.keyed(mutation('deleteFolder', selection), { input }, options)).errors?.[0]?.extensions
            .code,
      };
    };

    test('a deletion counts what one saw going, and not what one did not see, when it is told again', async () => {
      const { first, again, id, parentId } = await deletion();
      assert.deepEqual(first, { folderId: id, folderCount: 2 });
      assert.deepEqual(await again(), first);
      await bed.mutate('deleteFolder', { id: parentId, recursive: true });
      assert.deepEqual(await again(), first);
    });

    test('a deletion that was undone since counts what is there now', async () => {
      const { first, again, id, parentId } = await deletion();
      await bed.mutate('restoreFolder', { id, parentId });
      assert.deepEqual(await again(), first);
      await bed.folder('Another', id);
      assert.deepEqual(await again(), { folderId: id, folderCount: 3 });
    });

    test('of a deletion that one could not see any more, there is nothing to count', async () => {
      const { codeAgain, parentId, person } = await deletion();
      await bed.mutate('revokeAccess', { folderId: parentId, userId: person.id });
      assert.equal(await codeAgain(), 'NOT_FOUND');
    });

    test('of what is purged, there is nothing to count', async () => {
      const { database, clock } = bed.testbed;
      const { codeAgain } = await deletion();
      const purging = await OnceBed.start(kind, { database, clock, settings: { TRASH_DAYS: '0' } });
      await purging.testbed.purge();
      await purging.stop();
      assert.equal(await codeAgain(), 'NOT_FOUND');
    });

    test('a large import, sent twice at once, is there once and leaves nothing staged', async () => {
      const parentId = await bed.folder('Imported');
      const list = Array.from({ length: 1_500 }, (_, place) => ({ path: `Folder ${place}` }));
      const input = { parentId, list };
      const key = randomUUID();
      const selection = 'folderCount cursor parent{id folders{totalCount}}';
      const send = () => bed.once('importFolders', input, selection, { key });
      const [first, second] = await Promise.all([send(), send()]);
      assert.deepEqual(second, first);
      assert.deepEqual(first, {
        folderCount: 1_500,
        cursor: (first as { cursor: string }).cursor,
        parent: { id: parentId, folders: { totalCount: 1_500 } },
      });
      assert.deepEqual(await send(), first);
      const staged = await withDatabase(bed.testbed.database.url, async (database) =>
        database.get(offTree, {}),
      );
      assert.deepEqual(staged, { count: 0 });
    });

    test('an import that was done is not staged again', async () => {
      const statements: string[] = [];
      const { database, clock } = bed.testbed;
      const watched = await OnceBed.start(kind, {
        database,
        clock,
        onStatement: (text) => void statements.push(text),
      });
      try {
        const list = Array.from({ length: 1_001 }, (_, place) => ({ path: `More ${place}` }));
        const send = () => watched.once('importFolders', { parentId: null, list }, 'folderCount', { key });
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
        await watched.stop();
      }
    });
  });
}
