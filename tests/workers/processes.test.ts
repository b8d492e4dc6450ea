/** The processes of a node with workers: how they end together, and their output when they cannot start. */

import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { databaseKinds, postgres, sqlite, type TestDatabase } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { NodeProcess } from '../many-nodes/node-process.ts';
import { countConnections } from '../postgres/count-connections.ts';
import { withoutSyncWarning } from '../postgres/sync-warning.ts';
import { isAlive, post, WorkersTestbed } from './workers-testbed.ts';

for (const kind of databaseKinds) {
  describe(`a server with two workers on ${kind.name}`, () => {
    let testbed: WorkersTestbed;
    let token: string;
    beforeEach(async () => {
      testbed = await WorkersTestbed.start(kind, { LOG_LEVEL: 'debug' });
      token = (await testbed.logIn()).authToken;
      await testbed.connectToEach(token);
      await eventually(() => testbed.workerPids.length === 2, 'both workers have written a log line');
    });
    afterEach(() => testbed.stop());

    test('closes all sockets with 1001 and a cursor on SIGTERM, and leaves no process', async () => {
      const { node, workerPids, database } = testbed;
      const clients = [await testbed.openSocketTo(1, token), await testbed.openSocketTo(2, token)];
      for (const client of clients) {
        client.start('1', 'subscription{folderChanges{kind}}');
        // A subscription that starts after the signal would have no cursor.
        client.send({ type: 'ping' });
        assert.equal((await client.next()).type, 'pong');
      }
      node.signal('SIGTERM');
      for (const client of clients) {
        const { code, reason } = await client.closed();
        assert.equal(code, 1001);
        assert.match(reason, /^Going away; cursor=\S+$/);
      }
      await node.waitUntilEnded();
      assert.equal(node.exitCode, 0);
      assert.match(node.output, /\nStopping\. [^\n]+\nStopped\.\n$/);
      assert.deepEqual(workerPids.filter(isAlive), []);
      const lines = withoutSyncWarning(node.log).trim().split('\n');
      const lifecycleLines = lines.filter(
        (line) => !/"level":20,.*"worker":[12]|"level":30,.*"worker":[12],.*"msg":"request"/.test(line),
      );
      assert.deepEqual(
        lifecycleLines.map((line) => {
          const { msg, workers, signal } = JSON.parse(line) as Record<string, unknown>;
          return [msg, workers ?? signal];
        }),
        [
          ['created a new, empty installation', undefined],
          ['started', 2],
          ['stopping', 'SIGTERM'],
          ['stopped', undefined],
        ],
      );
      if (kind === postgres) assert.equal(await countConnections(database.url), 0);
    });

    test('leaves no workers when its primary is killed', async () => {
      const { node, workerPids } = testbed;
      await node.kill();
      await eventually(() => !workerPids.some(isAlive), 'both workers have ended');
    });
  });
}

test('a server with two workers finishes the requests in progress on both when SIGTERM arrives', async () => {
  const testbed = await WorkersTestbed.start(sqlite);
  try {
    const { authToken } = await testbed.logIn();
    const connections = await testbed.connectToEach(authToken);
    const request = post('/graphql', { query: '{folder{name}}' }, authToken);
    const half = request.length - 10;
    for (const connection of connections) connection.send(request.slice(0, half));
    testbed.node.signal('SIGTERM');
    await eventually(
      () =>
        fetch(testbed.node.url).then(
          () => false,
          () => true,
        ),
      'both workers have closed the port',
    );
    for (const connection of connections) {
      assert.equal((await connection.exchange(request.slice(half)))?.status, 200);
    }
    await testbed.node.waitUntilEnded();
    assert.equal(testbed.node.exitCode, 0);
  } finally {
    await testbed.stop();
  }
});

test('a second server with workers does not start on the port of the first', async () => {
  const testbed = await WorkersTestbed.start(sqlite);
  const database = await sqlite.create();
  const { port } = new URL(testbed.node.url);
  const second = NodeProcess.launch({ databaseUrl: database.url, settings: { WORKERS: '2', PORT: port } });
  try {
    await second.waitUntilEnded();
    assert.equal(second.exitCode, 1);
    assert.equal(
      second.log.split('\n').at(-2),
      `espalier: Port ${port} on 127.0.0.1 is used by another Espalier server. Stop it, or choose another port with ESPALIER_PORT or --port.`,
    );
  } finally {
    await second.kill();
    await testbed.stop();
    await database.remove();
  }
});

describe('a server with two workers and its own settings on SQLite', () => {
  let database: TestDatabase;
  let node: NodeProcess;
  beforeEach(async () => (database = await sqlite.create()));
  afterEach(async () => {
    await node.kill();
    await database.remove();
  });

  test('reports not ready after SIGTERM, and exits immediately with 143 on a second SIGTERM', async () => {
    const settings = { WORKERS: '2', STOP_DELAY_SECONDS: '600' };
    node = await NodeProcess.start({ databaseUrl: database.url, settings });
    node.signal('SIGTERM');
    await node.waitForOutput('Stopping');
    const isStopping = async () => {
      const answers = await Promise.all([1, 2, 3, 4].map(() => fetch(`${node.url}/readyz`)));
      return answers.every(({ status }) => status === 503);
    };
    await eventually(isStopping, 'no worker is ready');
    node.signal('SIGTERM');
    await node.waitUntilEnded();
    assert.equal(node.exitCode, 143);
    assert.doesNotMatch(node.output, /Stopped/);
  });

  for (const [what, settings, message] of [
    ['an invalid number', { WORKERS: 'two' }, 'Invalid value "two" for ESPALIER_WORKERS'],
    ['zero workers', { WORKERS: '0' }, 'Invalid value "0" for ESPALIER_WORKERS'],
  ] as const) {
    test(`does not start with ${what}, and prints the accepted values`, async () => {
      node = NodeProcess.launch({ databaseUrl: database.url, settings });
      await node.waitUntilEnded();
      assert.equal(node.exitCode, 2);
      assert.equal(node.log, `espalier: ${message}: use a whole number from 1 to 64.\n`);
    });
  }

  test('reports a port in use like a single process', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    node = NodeProcess.launch({ databaseUrl: database.url, settings: { WORKERS: '2', PORT: String(port) } });
    await node.waitUntilEnded();
    other.close();
    assert.equal(node.exitCode, 1);
    assert.equal(
      node.log.split('\n').at(-2),
      `espalier: Port ${port} on 127.0.0.1 is used by another program. Stop it, or choose another port with ESPALIER_PORT or --port.`,
    );
  });

  test('reports an unusable database like a single process', async () => {
    node = NodeProcess.launch({ databaseUrl: 'sqlite:/dev/null/none.db', settings: { WORKERS: '2' } });
    await node.waitUntilEnded();
    assert.equal(node.exitCode, 1);
    assert.match(node.log, /espalier: Cannot open the database file \/dev\/null\/none\.db: [^\n]+\n$/);
  });
});

test('a primary exits with 1 and prints the reason if its workers can no longer start', async () => {
  const testbed = await WorkersTestbed.start(sqlite, { LOG_LEVEL: 'debug' });
  const { node, database } = testbed;
  await testbed.connectToEach((await testbed.logIn()).authToken);
  await eventually(() => testbed.workerPids.length === 2, 'both workers have written a log line');
  const file = database.url.slice('sqlite:'.length);
  for (const pid of testbed.workerPids) process.kill(pid, 'SIGKILL');
  rmSync(`${file}-wal`);
  writeFileSync(file, 'not a database'.repeat(1000));
  await node.waitUntilEnded();
  assert.equal(node.exitCode, 1);
  assert.match(node.log, /"msg":"A worker ended unexpectedly\./);
  assert.match(node.log, /\nespalier: No worker can be started\. See the log for the reason\.\n$/);
  await testbed.stop();
});
