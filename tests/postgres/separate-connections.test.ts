/** Each kind of work has its own connections, so that none blocks another. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { postgres, type TestDatabase } from '../support/databases.ts';
import { GraphTestbed, mutation } from '../support/graph-testbed.ts';
import { insertFolders } from '../support/stored-rows.ts';
import { Testbed } from '../support/testbed.ts';

describe('a node with few connections on PostgreSQL', () => {
  let testDatabase: TestDatabase;
  let testbed: Testbed;
  let graph: GraphTestbed;
  before(async () => {
    testDatabase = await postgres.create();
    testbed = await Testbed.start(postgres, {
      database: testDatabase,
      settings: { DATABASE_CONNECTIONS: '6' },
    });
    graph = new GraphTestbed(testbed, (await testbed.logIn()).authToken);
  });
  after(async () => {
    await testbed.stop();
    await testDatabase.remove();
  });

  const statusOf = async (query: string, variables?: Record<string, unknown>) =>
    (await testbed.query(query, graph.authToken, variables)).status;

  test('accepts logins, refreshes and reads while changes wait', async () => {
    const tokens = await testbed.logIn();
    const blocker = new pg.Client(testDatabase.url);
    await blocker.connect();
    await blocker.query('begin; update journal_counter set number = number');
    const changes = Array.from({ length: 20 }, (_, index) =>
      statusOf(mutation('createFolder', '__typename'), { input: { name: `waits ${index}` } }),
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.equal((await testbed.refresh(tokens)).status, 200);
    assert.ok((await testbed.logIn()).authToken);
    assert.equal(await statusOf('{folder{folders{totalCount}}}'), 200);
    await blocker.query('rollback');
    await blocker.end();
    assert.deepEqual(await Promise.all(changes), Array(20).fill(200));
  });

  test('runs queries and changes while one user sends many slow queries', async () => {
    await insertFolders(
      testDatabase.url,
      Array.from({ length: 2_000 }, (_, index) => `Folder ${index}`),
    );
    const searches = Array.from({ length: 60 }, () =>
      statusOf(
        '{search(text: "folder", first: 500){totalCount items{path}} folder{descendants{totalCount}}}',
      ),
    );
    for (let round = 0; round < 5; round++) {
      assert.equal(await statusOf('{folder{name}}'), 200);
      const input = { name: `between ${round}` };
      assert.equal(await statusOf(mutation('createFolder', '__typename'), { input }), 200);
    }
    assert.deepEqual(await Promise.all(searches), Array(60).fill(200));
  });

  test('releases its connections after every response', async () => {
    const failingQuery = '{folder{folders{items{folders{items{icon}}}}} changes(after: "nope"){hasMore}}';
    await Promise.all(Array.from({ length: 50 }, () => statusOf(failingQuery)));
    const client = new pg.Client(testDatabase.url);
    await client.connect();
    const countOpenTransactions = async () => {
      const { rows } = await client.query<{ count: string }>(
        `select count(*) from pg_stat_activity where datname = current_database() and state like 'idle in%'`,
      );
      return Number(rows[0]!.count);
    };
    while ((await countOpenTransactions()) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await client.end();
    assert.equal(await statusOf('{folder{name}}'), 200);
  });
});
