/** A database that lost its last commits, by a failover or a restore, while nodes were running on it. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from '../../server/src/database/statement.ts';
import { databaseKinds, type TestDatabase } from '../databases.ts';
import { GraphBed } from '../graph-bed.ts';
import { SocketClient } from '../live/socket-client.ts';
import { withDatabase } from '../stored-rows.ts';
import { Testbed } from '../testbed.ts';

const forget = sql<{ count: number }>`
  delete from journal where number > (select number from journal_counter) - ${'count'}`;
const goBack = sql<{ count: number }>`
  update journal_counter set
    number = number - ${'count'},
    nonce = (select nonce from journal where journal.number = journal_counter.number - ${'count'})`;

for (const kind of databaseKinds) {
  describe(`a journal that lost its last entries on ${kind.name}`, () => {
    let stored: TestDatabase;
    let here: GraphBed;
    let there: GraphBed;
    before(async () => {
      stored = await kind.create();
      const start = async () => {
        const bed = await Testbed.start(kind, { database: stored });
        return new GraphBed(bed, (await bed.logIn()).authToken);
      };
      [here, there] = [await start(), await start()];
    });
    after(async () => {
      for (const { bed } of [here, there]) await bed.stop();
      await stored.remove();
    });

    test('is begun anew: nothing is passed over, and who follows is told to read anew', async () => {
      const eve = { username: 'eve', password: 'walnut cabin orchard' };
      const { user } = await here.run<{ user: { id: string } }>('createUser', eve, 'user{id}');
      const { authToken } = await here.bed.logIn(eve);
      for (const name of ['a', 'b', 'c', 'd', 'e']) await here.run('createFolder', { name });
      const { cursor } = await here.ask<{ cursor: string }>('{cursor}');
      const socket = await SocketClient.connect(here.bed.url, here.authToken);
      const watch = 'subscription($after: String){folderChanges(after: $after){kind folder{name}}}';
      socket.start('1', watch, { after: cursor });
      await here.run('createFolder', { name: 'told' });
      assert.match(JSON.stringify((await socket.next()).payload), /told/);

      await withDatabase(stored.url, (database) =>
        database.transaction(async (transaction) => {
          await transaction.run(forget, { count: 4 });
          await transaction.run(goBack, { count: 4 });
        }),
      );
      await there.run('updateUser', { id: user.id, isDisabled: true });
      while ((await here.bed.query('{folder{name}}', authToken)).status !== 401);
      assert.match(JSON.stringify((await socket.next()).payload), /RESYNC/);
      await there.run('createFolder', { name: 'after that' });
      for (;;) {
        const told = JSON.stringify((await socket.next()).payload);
        if (/after that/.test(told)) break;
      }
      await socket.close();
    });
  });
}
