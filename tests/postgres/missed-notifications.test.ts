/** A node that receives no notifications polls. A missed notification delays a change but never loses it. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { postgres, type TestDatabase } from '../support/databases.ts';
import { GraphTestbed } from '../support/graph-testbed.ts';
import { SocketClient } from '../live/socket-client.ts';
import { Testbed } from '../support/testbed.ts';

const listeners = `from pg_stat_activity where datname = current_database() and query = 'listen espalier'`;

describe('nodes without notifications on PostgreSQL', () => {
  let testDatabase: TestDatabase;
  let testbeds: [GraphTestbed, GraphTestbed];
  let client: pg.Client;
  before(async () => {
    testDatabase = await postgres.create();
    const start = async () => {
      const testbed = await Testbed.start(postgres, { database: testDatabase });
      return new GraphTestbed(testbed, (await testbed.logIn()).authToken);
    };
    testbeds = [await start(), await start()];
    client = new pg.Client(testDatabase.url);
    await client.connect();
  });
  after(async () => {
    for (const { server } of testbeds) await server.stop();
    await client.end();
    await testDatabase.remove();
  });

  const countListeners = async () => {
    const { rows } = await client.query<{ count: string }>(`select count(*) ${listeners}`);
    return Number(rows[0]!.count);
  };
  const waitForListeners = async (count: number) => {
    while ((await countListeners()) !== count) await new Promise((resolve) => setTimeout(resolve, 20));
  };

  test('send every change once and in order while their listening connections are terminated repeatedly', async () => {
    const [one, other] = testbeds;
    const socket = await SocketClient.connect(other.server.url, other.authToken);
    const { cursor } = await one.query<{ cursor: string }>('{cursor}');
    const watch = 'subscription($after: String){folderChanges(after: $after){folder{name}}}';
    socket.start('1', watch, { after: cursor });
    await waitForListeners(2);
    for (let round = 0; round < 5; round++) {
      await client.query(`select pg_terminate_backend(pid) ${listeners}`);
      for (const part of ['a', 'b']) {
        const name = `${round}${part}`;
        await one.mutate('createFolder', { name });
        assert.deepEqual((await socket.next()).payload, { data: { folderChanges: { folder: { name } } } });
      }
    }
    await waitForListeners(2);
    await socket.close();
  });
});
