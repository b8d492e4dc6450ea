/** A database that stops and starts again: responses stay correct, and the node needs no restart. */

import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { postgres } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { GraphTestbed, mutation } from '../support/graph-testbed.ts';
import { SocketClient } from '../live/socket-client.ts';
import { Testbed, problemOf, type TestResponse } from '../support/testbed.ts';
import { PostgresServer } from './postgres-server.ts';

describe('a node that loses its database on PostgreSQL', () => {
  let server: PostgresServer;
  let testbed: Testbed;
  let graph: GraphTestbed;
  before(async () => {
    server = await PostgresServer.start({ isDurable: true });
    await runStatement('create database nodes owner espalier');
    const url = new URL(server.url);
    url.pathname = 'nodes';
    testbed = await Testbed.start(postgres, {
      database: { url: url.href, remove: () => Promise.resolve() },
      settings: { DATABASE_TIMEOUT_SECONDS: '2' },
    });
    graph = new GraphTestbed(testbed, (await testbed.logIn()).authToken);
  });
  after(async () => {
    // The testbed is undefined if it did not start.
    await (testbed as Testbed | undefined)?.stop();
    await server.remove();
  });

  const connect = async (name = 'postgres') => {
    const url = new URL(server.superuserUrl);
    url.pathname = name;
    const client = new pg.Client(url.href);
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };
  /** Returns the number of rows. */
  async function runStatement(statement: string): Promise<number> {
    const client = await connect();
    const { rowCount } = await client.query(statement);
    await client.end();
    return rowCount ?? 0;
  }
  const assertUnavailable = (answer: TestResponse) => {
    assert.equal(answer.status, 503, answer.text);
    assert.equal(answer.headers.get('retry-after'), '2');
    assert.doesNotMatch(answer.text, /127\.0\.0\.1|ECONN|terminat|select|insert/i);
  };
  const create = (name: string) =>
    testbed.query(mutation('createFolder', 'folder{name}'), graph.authToken, { input: { name } });
  const waitForReadyStatus = async (ms: number, expected: number) => {
    const deadline = performance.now() + ms;
    for (;;) {
      const { status } = await testbed.send('GET', '/readyz');
      if (status === expected) return;
      assert.ok(performance.now() < deadline, `/readyz never returned ${expected}`);
      await sleep(50);
    }
  };
  const waitUntilReady = (ms: number) => waitForReadyStatus(ms, 200);
  const readChecks = async () =>
    (await testbed.send('GET', '/readyz?verbose')).json<{ checks: unknown }>().checks;
  const readNames = async () => {
    const data = await graph.query<{ folder: { folders: { items: { name: string }[] } } }>(
      '{folder{folders{items{name}}}}',
    );
    return data.folder.folders.items.map(({ name }) => name);
  };

  test('answers 503 to every request that needs the database until it is back', async () => {
    const tokens = await testbed.logIn();
    const socket = await SocketClient.connect(testbed.url, graph.authToken);
    const { cursor } = await graph.query<{ cursor: string }>('{cursor}');
    const watch = 'subscription($after: String){folderChanges(after: $after){folder{name}}}';
    socket.start('1', watch, { after: cursor });
    await create('before');
    await socket.next();
    await server.stop();
    assertUnavailable(await testbed.post('/login', { username: 'admin', password: 'whatever it is' }));
    assertUnavailable(await testbed.refresh(tokens));
    assertUnavailable(await testbed.query('{folder{name}}', graph.authToken));
    assertUnavailable(await create('meanwhile'));
    assertUnavailable(await testbed.post('/logout', {}, tokens.authToken));
    const causes = () => testbed.logLines.filter((line) => line.includes('"stack"')).length;
    const causesBefore = causes();
    for (let count = 0; count < 20; count++) {
      assertUnavailable(await testbed.query('{folder{name}}', graph.authToken));
    }
    // The first requests use open connections and fail with a different cause.
    assert.ok(causes() - causesBefore <= 2, `${causes() - causesBefore} of 20 requests logged a cause`);
    const ready = await testbed.send('GET', '/readyz');
    assert.equal(ready.status, 503);
    assert.equal(problemOf(ready).code, 'UNAVAILABLE');
    assert.equal((await testbed.send('GET', '/livez')).status, 200);
    // Requests that need no database succeed.
    assert.equal((await testbed.post('/login/verify', { authToken: tokens.authToken })).status, 204);
    await server.restart();
    await waitUntilReady(10_000);
    assert.equal((await testbed.refresh(tokens)).status, 200);
    assert.equal((await create('after')).status, 200);
    assert.deepEqual(await readNames(), ['after', 'before']);
    assert.deepEqual((await socket.next()).payload, {
      data: { folderChanges: { folder: { name: 'after' } } },
    });
    await socket.close();
  });

  test('becomes not ready within two seconds when the database is killed, and then recovers', async () => {
    const blocker = await connect('nodes');
    await blocker.query('begin; update journal_counter set number = number');
    const waiting = create('on its way');
    await sleep(200);
    await server.crash();
    await waitForReadyStatus(2_000, 503);
    assertUnavailable(await waiting);
    const allOk = {
      database: 'ok',
      migrations: 'ok',
      writes: 'ok',
      'signing key': 'ok',
      notifications: 'ok',
      disk: 'ok',
    };
    assert.deepEqual(await readChecks(), {
      ...allOk,
      database: 'failed',
      migrations: 'failed',
      writes: 'failed',
      notifications: 'failed',
    });
    await server.restart();
    await waitUntilReady(10_000);
    await eventually(async () => isDeepStrictEqual(await readChecks(), allOk), 'all checks succeed');
    assert.equal((await readNames()).includes('on its way'), false);
  });

  test('answers 503 if the connection of a slow request is terminated', async () => {
    const blocker = await connect('nodes');
    await blocker.query('begin; lock table folders in access exclusive mode');
    const waiting = testbed.query('{folder{descendants{totalCount}}}', graph.authToken);
    // Matches the connections of the node, not the blocker: ending the blocker could let the query finish first.
    const isNode = `datname = 'nodes' and application_name = 'espalier'`;
    const isStuck = `select from pg_stat_activity where ${isNode} and wait_event_type = 'Lock'`;
    await eventually(async () => (await runStatement(isStuck)) > 0, 'the query waits for the lock');
    await runStatement(`select pg_terminate_backend(pid) from pg_stat_activity where ${isNode}`);
    assertUnavailable(await waiting);
    await blocker.end();
    // The node may detect only now that its other connections were terminated.
    await waitUntilReady(5_000);
    assert.equal((await readNames()).includes('before'), true);
  });

  test('is not affected by terminated idle connections', async () => {
    await readNames();
    await runStatement(`select pg_terminate_backend(pid) from pg_stat_activity where datname = 'nodes'`);
    await sleep(100);
    assert.equal((await create('next')).status, 200);
    assert.equal((await readNames()).includes('next'), true);
  });

  test('answers 503 when a statement takes too long, and then works as before', async () => {
    const blocker = await connect('nodes');
    await blocker.query('begin; update journal_counter set number = number');
    assertUnavailable(await create('too late'));
    await blocker.query('rollback');
    await blocker.end();
    assert.equal((await readNames()).includes('too late'), false);
    assert.equal((await create('in time')).status, 200);
  });

  test('answers 503 to changes while PostgreSQL is read-only, and still reads', async () => {
    await runStatement('alter database nodes set default_transaction_read_only = on');
    await runStatement(`select pg_terminate_backend(pid) from pg_stat_activity where datname = 'nodes'`);
    await sleep(100);
    assertUnavailable(await create('not now'));
    assert.equal((await readNames()).includes('in time'), true);
    await runStatement('alter database nodes reset default_transaction_read_only');
    assert.equal((await create('now')).status, 200);
  });

  test('reveals no internals and logs no secret', () => {
    const log = testbed.logLines.join('\n');
    assert.doesNotMatch(log, new RegExp(new URL(server.url).password));
    assert.doesNotMatch(log, /"level":50/);
  });
});
