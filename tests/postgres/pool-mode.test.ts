/** Nodes work behind a transaction pooler, where changes of another node arrive with a small delay. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { postgres, type TestDatabase } from '../support/databases.ts';
import { GraphTestbed } from '../support/graph-testbed.ts';
import { SocketClient } from '../live/socket-client.ts';
import { Testbed } from '../support/testbed.ts';
import { TransactionPooler } from './transaction-pooler.ts';

describe('two nodes behind a transaction pooler on PostgreSQL', () => {
  const settings = { DATABASE_POOL_MODE: 'transaction' };
  let testDatabase: TestDatabase;
  let pooler: TransactionPooler;
  let testbeds: [GraphTestbed, GraphTestbed];
  before(async () => {
    testDatabase = await postgres.create();
    pooler = await TransactionPooler.start(testDatabase.url, 4);
    const start = async () => {
      const database = { url: pooler.url, remove: () => Promise.resolve() };
      const testbed = await Testbed.start(postgres, { database, settings });
      return new GraphTestbed(testbed, (await testbed.logIn()).authToken);
    };
    testbeds = [await start(), await start()];
  });
  after(async () => {
    for (const { server } of testbeds) await server.stop();
    pooler.stop();
    await testDatabase.remove();
  });

  test('read the data that the other node writes', async () => {
    const [one, other] = testbeds;
    await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        testbeds[index % 2]!.mutate('createFolder', { name: `Folder ${index}` }),
      ),
    );
    const query = '{folder{folders(first: 50){totalCount items{name}}} search(text: "folder"){totalCount}}';
    const answers = await Promise.all([one.query(query), other.query(query)]);
    assert.deepEqual(answers[0], answers[1]);
    assert.equal((answers[0] as { search: { totalCount: number } }).search.totalCount, 30);
  });

  test('let exactly one of several concurrent refreshes succeed', async () => {
    const tokens = await testbeds[0].server.logIn();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => testbeds[index % 2]!.server.refresh(tokens)),
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  });

  test('send the changes of the other node, although they receive no notifications', async () => {
    const [one, other] = testbeds;
    const socket = await SocketClient.connect(other.server.url, other.authToken);
    const { cursor } = await one.query<{ cursor: string }>('{cursor}');
    const watch = 'subscription($after: String){folderChanges(after: $after){kind folder{name}}}';
    socket.start('1', watch, { after: cursor });
    await one.mutate('createFolder', { name: 'notified' });
    const { payload } = await socket.next();
    assert.deepEqual(payload, { data: { folderChanges: { kind: 'CREATE', folder: { name: 'notified' } } } });
    await socket.close();
  });

  test('prepare no statements and do not listen for notifications', async () => {
    const client = new pg.Client(pooler.url);
    await client.connect();
    for (let connection = 0; connection < 4; connection++) {
      const { rows } = await client.query('select name from pg_prepared_statements');
      assert.deepEqual(rows, []);
      assert.deepEqual((await client.query('select pg_listening_channels()')).rows, []);
    }
    await client.end();
  });
});
