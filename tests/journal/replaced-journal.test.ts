/** A database that lost its last commits, by a failover or a restore, while nodes were running on it. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from '../../server/src/database/statement.ts';
import { databaseKinds, type TestDatabase } from '../support/databases.ts';
import { GraphTestbed } from '../support/graph-testbed.ts';
import { SocketClient } from '../live/socket-client.ts';
import { withDatabase } from '../support/stored-rows.ts';
import { Testbed } from '../support/testbed.ts';

const deleteEntries = sql<{ count: number }>`
  delete from journal where number > (select number from journal_counter) - ${'count'}`;
const resetCounter = sql<{ count: number }>`
  update journal_counter set
    number = number - ${'count'},
    nonce = (select nonce from journal where journal.number = journal_counter.number - ${'count'})`;

for (const kind of databaseKinds) {
  describe(`a journal that lost its last entries on ${kind.name}`, () => {
    let stored: TestDatabase;
    let here: GraphTestbed;
    let there: GraphTestbed;
    before(async () => {
      stored = await kind.create();
      const start = async () => {
        const testbed = await Testbed.start(kind, { database: stored });
        return new GraphTestbed(testbed, (await testbed.logIn()).authToken);
      };
      [here, there] = [await start(), await start()];
    });
    after(async () => {
      for (const { server } of [here, there]) await server.stop();
      await stored.remove();
    });

    test('is read again without gaps, and subscribers get RESYNC', async () => {
      const eve = { username: 'eve', password: 'walnut cabin orchard' };
      const { user } = await here.mutate<{ user: { id: string } }>('createUser', eve, 'user{id}');
      const { authToken } = await here.server.logIn(eve);
      for (const name of ['a', 'b', 'c', 'd', 'e']) await here.mutate('createFolder', { name });
      const { cursor } = await here.query<{ cursor: string }>('{cursor}');
      const socket = await SocketClient.connect(here.server.url, here.authToken);
      const watch = 'subscription($after: String){folderChanges(after: $after){kind folder{name}}}';
      socket.start('1', watch, { after: cursor });
      await here.mutate('createFolder', { name: 'sent' });
      assert.match(JSON.stringify((await socket.next()).payload), /sent/);

      await withDatabase(stored.url, (database) =>
        database.transaction(async (transaction) => {
          await transaction.run(deleteEntries, { count: 4 });
          await transaction.run(resetCounter, { count: 4 });
        }),
      );
      await there.mutate('updateUser', { id: user.id, isDisabled: true });
      while ((await here.server.query('{folder{name}}', authToken)).status !== 401);
      assert.match(JSON.stringify((await socket.next()).payload), /RESYNC/);
      await there.mutate('createFolder', { name: 'after that' });
      for (;;) {
        const received = JSON.stringify((await socket.next()).payload);
        if (/after that/.test(received)) break;
      }
      await socket.close();
    });
  });
}
