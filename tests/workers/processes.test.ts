/** The processes of a node with workers: how they end, together, and what they say when they cannot start. */

import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { databaseKinds, postgres, sqlite, type TestDatabase } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { NodeProcess } from '../many-nodes/node-process.ts';
import { connectionsTo } from '../postgres/connections-to.ts';
import { withoutHasteWarning } from '../postgres/haste.ts';
import { isAlive, post, WorkersBed } from './workers-bed.ts';

for (const kind of databaseKinds) {
  describe(`the end of two workers on ${kind.name}`, () => {
    let bed: WorkersBed;
    let token: string;
    beforeEach(async () => {
      bed = await WorkersBed.start(kind, { LOG_LEVEL: 'debug' });
      token = (await bed.logIn()).authToken;
      await bed.connectToEach(token);
      await eventually(() => bed.processes.length === 2, 'both have logged something');
    });
    afterEach(() => bed.stop());

    test('SIGTERM closes the sockets of both with 1001 and a cursor, ends with 0, and leaves nothing behind', async () => {
      const { node, processes, database } = bed;
      const clients = [await bed.socketTo(1, token), await bed.socketTo(2, token)];
      for (const client of clients) {
        client.start('1', 'subscription{folderChanges{kind}}');
        // What is begun after the signal would be nothing to go on with.
        client.send({ type: 'ping' });
        assert.equal((await client.next()).type, 'pong');
      }
      node.signal('SIGTERM');
      for (const client of clients) {
        const { code, reason } = await client.closed();
        assert.equal(code, 1001);
        assert.match(reason, /^Going away; cursor=\S+$/);
      }
      await node.ended();
      assert.equal(node.exitCode, 0);
      assert.match(node.output, /\nStopping; [^\n]+\nStopped\.\n$/);
      assert.deepEqual(processes.filter(isAlive), []);
      const lines = withoutHasteWarning(node.log).trim().split('\n');
      const unexpected = lines.filter(
        (line) => !/"level":20,.*"worker":[12]|"level":30,.*"worker":[12],.*"msg":"request"/.test(line),
      );
      assert.deepEqual(
        unexpected.map((line) => {
          const { msg, workers, signal } = JSON.parse(line) as Record<string, unknown>;
          return [msg, workers ?? signal];
        }),
        [
          ['made a new, empty installation', undefined],
          ['started', 2],
          ['stopping', 'SIGTERM'],
          ['stopped', undefined],
        ],
      );
      if (kind === postgres) assert.equal(await connectionsTo(database.url), 0);
    });

    test('workers do not outlive a primary that is killed', async () => {
      const { node, processes } = bed;
      await node.kill();
      await eventually(() => !processes.some(isAlive), 'both workers are gone');
    });
  });
}

test('two workers on SQLite finish the requests that are in progress when SIGTERM arrives', async () => {
  const bed = await WorkersBed.start(sqlite);
  try {
    const { authToken } = await bed.logIn();
    const connections = await bed.connectToEach(authToken);
    const request = post('/graphql', { query: '{folder{name}}' }, authToken);
    const half = request.length - 10;
    for (const connection of connections) connection.send(request.slice(0, half));
    bed.node.signal('SIGTERM');
    await eventually(
      () =>
        fetch(bed.node.url).then(
          () => false,
          () => true,
        ),
      'both workers have closed the port',
    );
    for (const connection of connections) {
      assert.equal((await connection.exchange(request.slice(half)))?.status, 200);
    }
    await bed.node.ended();
    assert.equal(bed.node.exitCode, 0);
  } finally {
    await bed.stop();
  }
});

test('a second cluster on the port of the first does not start', async () => {
  const bed = await WorkersBed.start(sqlite);
  const database = await sqlite.create();
  const { port } = new URL(bed.node.url);
  const second = NodeProcess.launch({ databaseUrl: database.url, settings: { WORKERS: '2', PORT: port } });
  try {
    await second.ended();
    assert.equal(second.exitCode, 1);
    assert.equal(
      second.log.split('\n').at(-2),
      `espalier: Port ${port} on 127.0.0.1 is taken. Choose another with ESPALIER_PORT or --port.`,
    );
  } finally {
    await second.kill();
    await bed.stop();
    await database.remove();
  }
});

describe('signals to two workers on SQLite', () => {
  let database: TestDatabase;
  let node: NodeProcess;
  beforeEach(async () => (database = await sqlite.create()));
  afterEach(async () => {
    await node.kill();
    await database.remove();
  });

  test('until the port is closed all of them say that they stop; a second signal does not wait: 143', async () => {
    const settings = { WORKERS: '2', STOP_DELAY_SECONDS: '600' };
    node = await NodeProcess.start({ databaseUrl: database.url, settings });
    node.signal('SIGTERM');
    await node.waitForOutput('Stopping');
    const isStopping = async () => {
      const answers = await Promise.all([1, 2, 3, 4].map(() => fetch(`${node.url}/readyz`)));
      return answers.every(({ status }) => status === 503);
    };
    await eventually(isStopping, 'none of them is ready');
    node.signal('SIGTERM');
    await node.ended();
    assert.equal(node.exitCode, 143);
    assert.doesNotMatch(node.output, /Stopped/);
  });

  for (const [what, settings, message] of [
    ['a number that is none', { WORKERS: 'two' }, 'ESPALIER_WORKERS is "two", which is not usable'],
    ['no worker at all', { WORKERS: '0' }, 'ESPALIER_WORKERS is "0", which is not usable'],
  ] as const) {
    test(`${what} stops the start, with what would be accepted`, async () => {
      node = NodeProcess.launch({ databaseUrl: database.url, settings });
      await node.ended();
      assert.equal(node.exitCode, 1);
      assert.equal(node.log, `espalier: ${message}: it takes a whole number from 1 to 64.\n`);
    });
  }

  test('a port that is taken is told as by a single process, and nothing stays behind', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    node = NodeProcess.launch({ databaseUrl: database.url, settings: { WORKERS: '2', PORT: String(port) } });
    await node.ended();
    other.close();
    assert.equal(node.exitCode, 1);
    assert.equal(
      node.log.split('\n').at(-2),
      `espalier: Port ${port} on 127.0.0.1 is taken. Choose another with ESPALIER_PORT or --port.`,
    );
  });

  test('a database that cannot be used is told as by a single process', async () => {
    node = NodeProcess.launch({ databaseUrl: 'sqlite:/dev/null/none.db', settings: { WORKERS: '2' } });
    await node.ended();
    assert.equal(node.exitCode, 1);
    assert.match(node.log, /espalier: The database file \/dev\/null\/none\.db cannot be opened: [^\n]+\n$/);
  });
});

test('a node whose workers cannot be started any more on SQLite says so, and ends with 1', async () => {
  const bed = await WorkersBed.start(sqlite, { LOG_LEVEL: 'debug' });
  const { node, database } = bed;
  await bed.connectToEach((await bed.logIn()).authToken);
  await eventually(() => bed.processes.length === 2, 'both have logged something');
  const file = database.url.slice('sqlite:'.length);
  for (const pid of bed.processes) process.kill(pid, 'SIGKILL');
  rmSync(`${file}-wal`);
  writeFileSync(file, 'no database any more'.repeat(1000));
  await node.ended();
  assert.equal(node.exitCode, 1);
  assert.match(node.log, /"msg":"a worker has ended: another takes its place"/);
  assert.match(node.log, /\nespalier: No worker can be started: the log says why\.\n$/);
  await bed.stop();
});
