/** Behind a proxy that pools transactions the service does the same, a little later. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { postgres, type TestDatabase } from '../support/databases.ts';
import { GraphTestbed } from '../support/graph-testbed.ts';
import { SocketClient } from '../live/socket-client.ts';
import { Testbed } from '../support/testbed.ts';
import { TransactionPooler } from './transaction-pooler.ts';

describe('two nodes behind a proxy that pools transactions, on PostgreSQL', () => {
  const settings = { DATABASE_POOL_MODE: 'transaction' };
  let stored: TestDatabase;
  let pooler: TransactionPooler;
  let beds: [GraphTestbed, GraphTestbed];
  before(async () => {
    stored = await postgres.create();
    pooler = await TransactionPooler.start(stored.url, 4);
    const start = async () => {
      const database = { url: pooler.url, remove: () => Promise.resolve() };
      const bed = await Testbed.start(postgres, { database, settings });
      return new GraphTestbed(bed, (await bed.logIn()).authToken);
    };
    beds = [await start(), await start()];
  });
  after(async () => {
    for (const { testbed } of beds) await testbed.stop();
    pooler.stop();
    await stored.remove();
  });

  test('read and write what the other wrote', async () => {
    const [one, other] = beds;
    await Promise.all(
      Array.from({ length: 30 }, (_, place) =>
        beds[place % 2]!.mutate('createFolder', { name: `Folder ${place}` }),
      ),
    );
    const query = '{folder{folders(first: 50){totalCount items{name}}} search(text: "folder"){totalCount}}';
    const answers = await Promise.all([one.query(query), other.query(query)]);
    assert.deepEqual(answers[0], answers[1]);
    assert.equal((answers[0] as { search: { totalCount: number } }).search.totalCount, 30);
  });

  test('a refresh has one winner', async () => {
    const pair = await beds[0].testbed.logIn();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, place) => beds[place % 2]!.testbed.refresh(pair)),
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  });

  test('a change by one is told by the other, without anything to listen on', async () => {
    const [one, other] = beds;
    const socket = await SocketClient.connect(other.testbed.url, other.authToken);
    const { cursor } = await one.query<{ cursor: string }>('{cursor}');
    const watch = 'subscription($after: String){folderChanges(after: $after){kind folder{name}}}';
    socket.start('1', watch, { after: cursor });
    await one.mutate('createFolder', { name: 'told' });
    const { payload } = await socket.next();
    assert.deepEqual(payload, { data: { folderChanges: { kind: 'CREATE', folder: { name: 'told' } } } });
    await socket.close();
  });

  test('nothing is prepared on a connection, and nobody listens', async () => {
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
