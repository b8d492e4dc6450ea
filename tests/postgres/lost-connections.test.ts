/** A database that goes and comes back: nobody is told a lie meanwhile, and nobody has to start anything again. */

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
  let bed: Testbed;
  let graph: GraphTestbed;
  before(async () => {
    server = await PostgresServer.start({ isDurable: true });
    await ask('create database nodes owner espalier');
    const url = new URL(server.url);
    url.pathname = 'nodes';
    bed = await Testbed.start(postgres, {
      database: { url: url.href, remove: () => Promise.resolve() },
      settings: { DATABASE_TIMEOUT_SECONDS: '2' },
    });
    graph = new GraphTestbed(bed, (await bed.logIn()).authToken);
  });
  after(async () => {
    // Not there if it could not be started.
    await (bed as Testbed | undefined)?.stop();
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
  /** Answers how many rows there were. */
  async function ask(question: string): Promise<number> {
    const client = await connect();
    const { rowCount } = await client.query(question);
    await client.end();
    return rowCount ?? 0;
  }
  const isUnavailable = (answer: TestResponse) => {
    assert.equal(answer.status, 503, answer.text);
    assert.equal(answer.headers.get('retry-after'), '2');
    assert.doesNotMatch(answer.text, /127\.0\.0\.1|ECONN|terminat|select|insert/i);
  };
  const create = (name: string) =>
    bed.query(mutation('createFolder', 'folder{name}'), graph.authToken, { input: { name } });
  const answersWithin = async (ms: number, expected: number) => {
    const deadline = performance.now() + ms;
    for (;;) {
      const { status } = await bed.send('GET', '/readyz');
      if (status === expected) return;
      assert.ok(performance.now() < deadline, `never ${expected}`);
      await sleep(50);
    }
  };
  const readyWithin = (ms: number) => answersWithin(ms, 200);
  const checks = async () => (await bed.send('GET', '/readyz?verbose')).json<{ checks: unknown }>().checks;
  const names = async () => {
    const found = await graph.query<{ folder: { folders: { items: { name: string }[] } } }>(
      '{folder{folders{items{name}}}}',
    );
    return found.folder.folders.items.map(({ name }) => name);
  };

  test('answers 503 to whatever needs it, and goes on when it is back', async () => {
    const pair = await bed.logIn();
    const socket = await SocketClient.connect(bed.url, graph.authToken);
    const { cursor } = await graph.query<{ cursor: string }>('{cursor}');
    const watch = 'subscription($after: String){folderChanges(after: $after){folder{name}}}';
    socket.start('1', watch, { after: cursor });
    await create('before');
    await socket.next();
    await server.stop();
    isUnavailable(await bed.post('/login', { username: 'admin', password: 'whatever it is' }));
    isUnavailable(await bed.refresh(pair));
    isUnavailable(await bed.query('{folder{name}}', graph.authToken));
    isUnavailable(await create('meanwhile'));
    isUnavailable(await bed.post('/logout', {}, pair.authToken));
    const causes = () => bed.logLines.filter((line) => line.includes('"stack"')).length;
    const told = causes();
    for (let count = 0; count < 20; count++) {
      isUnavailable(await bed.query('{folder{name}}', graph.authToken));
    }
    // The first ones meet connections that were open, and another cause.
    assert.ok(causes() - told <= 2, `${causes() - told} of 20`);
    const ready = await bed.send('GET', '/readyz');
    assert.equal(ready.status, 503);
    assert.equal(problemOf(ready).code, 'UNAVAILABLE');
    assert.equal((await bed.send('GET', '/livez')).status, 200);
    // What needs no database goes on.
    assert.equal((await bed.post('/login/verify', { authToken: pair.authToken })).status, 204);
    await server.restart();
    await readyWithin(10_000);
    assert.equal((await bed.refresh(pair)).status, 200);
    assert.equal((await create('after')).status, 200);
    assert.deepEqual(await names(), ['after', 'before']);
    assert.deepEqual((await socket.next()).payload, {
      data: { folderChanges: { folder: { name: 'after' } } },
    });
    await socket.close();
  });

  test('is not ready within two seconds when its database is killed, has not done what was on its way, and recovers', async () => {
    const blocker = await connect('nodes');
    await blocker.query('begin; update journal_counter set number = number');
    const waiting = create('on its way');
    await sleep(200);
    await server.crash();
    await answersWithin(2_000, 503);
    isUnavailable(await waiting);
    const fine = {
      database: 'ok',
      migrations: 'ok',
      writes: 'ok',
      'signing key': 'ok',
      bus: 'ok',
      disk: 'ok',
    };
    assert.deepEqual(await checks(), {
      ...fine,
      database: 'failed',
      migrations: 'failed',
      writes: 'failed',
      bus: 'failed',
    });
    await server.restart();
    await readyWithin(10_000);
    await eventually(async () => isDeepStrictEqual(await checks(), fine), 'all is well');
    assert.equal((await names()).includes('on its way'), false);
  });

  test('answers 503 to what takes long, too', async () => {
    const blocker = await connect('nodes');
    await blocker.query('begin; lock table folders in access exclusive mode');
    const waiting = bed.query('{folder{descendants{totalCount}}}', graph.authToken);
    // Not the one that it waits for: the answer might be faster than its own end.
    const isNode = `datname = 'nodes' and application_name = 'espalier'`;
    const isStuck = `select from pg_stat_activity where ${isNode} and wait_event_type = 'Lock'`;
    await eventually(async () => (await ask(isStuck)) > 0, 'a query that waits');
    await ask(`select pg_terminate_backend(pid) from pg_stat_activity where ${isNode}`);
    isUnavailable(await waiting);
    await blocker.end();
    // That its other connections are gone it may learn only now.
    await readyWithin(5_000);
    assert.equal((await names()).includes('before'), true);
  });

  test('does not notice that its idle connections were ended', async () => {
    await names();
    await ask(`select pg_terminate_backend(pid) from pg_stat_activity where datname = 'nodes'`);
    await sleep(100);
    assert.equal((await create('next')).status, 200);
    assert.equal((await names()).includes('next'), true);
  });

  test('answers 503 when a statement takes too long, and is as good as before', async () => {
    const blocker = await connect('nodes');
    await blocker.query('begin; update journal_counter set number = number');
    isUnavailable(await create('too late'));
    await blocker.query('rollback');
    await blocker.end();
    assert.equal((await names()).includes('too late'), false);
    assert.equal((await create('in time')).status, 200);
  });

  test('answers 503 to changes while the server is read-only; reading goes on', async () => {
    await ask('alter database nodes set default_transaction_read_only = on');
    await ask(`select pg_terminate_backend(pid) from pg_stat_activity where datname = 'nodes'`);
    await sleep(100);
    isUnavailable(await create('not now'));
    assert.equal((await names()).includes('in time'), true);
    await ask('alter database nodes reset default_transaction_read_only');
    assert.equal((await create('now')).status, 200);
  });

  test('has told nobody anything that it should not, and has logged no secret', () => {
    const log = bed.logLines.join('\n');
    assert.doesNotMatch(log, new RegExp(new URL(server.url).password));
    assert.doesNotMatch(log, /"level":50/);
  });
});
