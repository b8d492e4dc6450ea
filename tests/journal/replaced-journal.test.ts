/** A failover or a restore removes the last commits of a database while nodes use it. */

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
    let database: TestDatabase;
    let firstNode: GraphTestbed;
    let secondNode: GraphTestbed;
    before(async () => {
      database = await kind.create();
      const start = async () => {
        const testbed = await Testbed.start(kind, { database });
        return new GraphTestbed(testbed, (await testbed.logIn()).authToken);
      };
      [firstNode, secondNode] = [await start(), await start()];
    });
    after(async () => {
      for (const { server } of [firstNode, secondNode]) await server.stop();
      await database.remove();
    });

    test('is read again without gaps, and subscribers get RESYNC', async () => {
      const eve = { username: 'eve', password: 'walnut cabin orchard' };
      const { user } = await firstNode.mutate<{ user: { id: string } }>('createUser', eve, 'user{id}');
      const { authToken } = await firstNode.server.logIn(eve);
      for (const name of ['a', 'b', 'c', 'd', 'e']) await firstNode.mutate('createFolder', { name });
      const { cursor } = await firstNode.query<{ cursor: string }>('{cursor}');
      const socket = await SocketClient.connect(firstNode.server.url, firstNode.authToken);
      const watch = 'subscription($after: String){folderChanges(after: $after){kind folder{name}}}';
      socket.start('1', watch, { after: cursor });
      await firstNode.mutate('createFolder', { name: 'sent' });
      assert.match(JSON.stringify((await socket.next()).payload), /sent/);

      await withDatabase(database.url, (connection) =>
        connection.transaction(async (transaction) => {
          await transaction.run(deleteEntries, { count: 4 });
          await transaction.run(resetCounter, { count: 4 });
        }),
      );
      await secondNode.mutate('updateUser', { id: user.id, isDisabled: true });
      while ((await firstNode.server.query('{folder{name}}', authToken)).status !== 401);
      assert.match(JSON.stringify((await socket.next()).payload), /RESYNC/);
      await secondNode.mutate('createFolder', { name: 'after that' });
      for (;;) {
        const received = JSON.stringify((await socket.next()).payload);
        if (/after that/.test(received)) break;
      }
      await socket.close();
    });
  });
}
