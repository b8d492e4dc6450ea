/** How the process of a node ends: its output, its exit code, and that it leaves no connection. */

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { join } from 'node:path';
import BetterSqlite from 'better-sqlite3';
import { databaseKinds, postgres, sqlite, type TestDatabase } from '../support/databases.ts';
import { SocketClient } from '../live/socket-client.ts';
import { administrator, NodeProcess, type NodeOptions } from '../many-nodes/node-process.ts';
import { countConnections } from '../postgres/count-connections.ts';
import { withoutSyncWarning } from '../postgres/sync-warning.ts';
import { SilentRelay } from './silent-relay.ts';

async function logIn(
  node: NodeProcess,
): Promise<{ status: number; connection: string | null; token: string }> {
  const response = await fetch(`${node.url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(administrator),
  });
  const { authToken } = (await response.json()) as { authToken: string };
  return { status: response.status, connection: response.headers.get('connection'), token: authToken };
}

for (const kind of databaseKinds) {
  describe(`the process of a node on ${kind.name}`, () => {
    let database: TestDatabase;
    let node: NodeProcess | undefined;
    beforeEach(async () => (database = await kind.createForServer()));
    afterEach(async () => {
      await node?.kill();
      await database.remove();
    });
    const start = async (options: Omit<NodeOptions, 'databaseUrl'> = {}) =>
      (node = await NodeProcess.start({
        databaseUrl: database.url,
        settings: { LOG_LEVEL: 'info' },
        ...options,
      }));

    test('closes sockets with 1001 and a cursor on SIGTERM, and exits with 0', async () => {
      const stopping = await start();
      const client = await SocketClient.connect(stopping.url, (await logIn(stopping)).token);
      client.start('1', 'subscription{folderChanges{kind}}');
      stopping.signal('SIGTERM');
      const { code, reason } = await client.closed();
      assert.equal(code, 1001);
      assert.match(reason, /^Going away; cursor=\S+$/);
      await stopping.waitUntilEnded();
      assert.equal(stopping.exitCode, 0);
      assert.match(stopping.output, /\nStopping\. [^\n]+\nStopped\.\n$/);
      const lines = withoutSyncWarning(stopping.log).trim().split('\n');
      assert.deepEqual(
        lines.map((line) => (JSON.parse(line) as { msg: string }).msg),
        ['created a new, empty installation', 'started', 'request', 'request', 'stopping', 'stopped'],
      );
      if (kind === postgres) assert.equal(await countConnections(database.url), 0);
    });

    for (const [kindOfBug, signal] of [
      ['thrown', 'SIGUSR2'],
      ['rejected', 'SIGWINCH'],
    ] as const) {
      test(`exits with 1 and logs one line after an unhandled error that was ${kindOfBug}`, async () => {
        const preload = join(import.meta.dirname, 'bug-on-signal.ts');
        const failing = await start({ preload });
        failing.signal(signal);
        await failing.waitUntilEnded();
        assert.equal(failing.exitCode, 1);
        const lines = withoutSyncWarning(failing.log).trim().split('\n');
        assert.equal(lines.length, 3, failing.log);
        assert.match(lines[0]!, /"msg":"created a new, empty installation"/);
        assert.match(lines[1]!, /"msg":"started"/);
        const line = JSON.parse(lines[2]!) as { level: number; err: { message: string } };
        assert.deepEqual([line.level, line.err.message], [60, `a bug that was ${kindOfBug}`]);
      });
    }
  });
}

describe('a stop signal on SQLite', () => {
  let database: TestDatabase;
  let node: NodeProcess;
  beforeEach(async () => (database = await sqlite.create()));
  afterEach(async () => {
    await node.kill();
    await database.remove();
  });

  for (const [first, second, code] of [
    ['SIGTERM', 'SIGTERM', 143],
    ['SIGINT', 'SIGINT', 130],
    ['SIGHUP', 'SIGTERM', 143],
  ] as const) {
    test(`ends the node immediately if ${second} follows ${first}: exit code ${code}`, async () => {
      const settings = { STOP_DELAY_SECONDS: '600' };
      node = await NodeProcess.start({ databaseUrl: database.url, settings });
      node.signal(first);
      await node.waitForOutput('Stopping');
      assert.equal((await fetch(`${node.url}/readyz`)).status, 503);
      const { status, connection } = await logIn(node);
      assert.deepEqual({ status, connection }, { status: 200, connection: 'close' });
      // With npm in between, a terminal sends one Ctrl-C twice. A signal that follows too soon does not count as the
      // second one.
      const interval = setInterval(() => node.signal(second), 100);
      await node.waitUntilEnded();
      clearInterval(interval);
      assert.equal(node.exitCode, code);
      assert.doesNotMatch(node.output, /Stopped/);
    });
  }

  test('counts once if Ctrl-C sends it twice, and running requests finish', async () => {
    node = await NodeProcess.start({ databaseUrl: database.url, settings: { STOP_DELAY_SECONDS: '1' } });
    node.signal('SIGINT');
    await node.waitForOutput('Stopping');
    node.signal('SIGINT');
    await node.waitUntilEnded();
    assert.equal(node.exitCode, 0);
    assert.match(node.output, /Stopped/);
  });

  test('ends the start without partial data if it arrives before the port is open', async () => {
    const path = database.url.slice('sqlite:'.length);
    const connection = new BetterSqlite(path);
    connection.pragma(`application_id = ${0x45535041}`);
    connection.pragma('journal_mode = wal');
    connection.exec('begin immediate');
    // The server logs the warning about an unknown variable right before it opens the database and waits for the lock.
    node = NodeProcess.launch({ databaseUrl: database.url, settings: { NOT_A_SETTING: '1' } });
    await node.waitForOutput('NOT_A_SETTING');
    node.signal('SIGTERM');
    await node.waitForOutput('Stopping');
    connection.exec('commit');
    await node.waitUntilEnded();
    assert.equal(node.exitCode, 0);
    assert.match(node.output, /^\nStopping\. [^\n]+\nStopped\.\n$/);
    const tables = connection.prepare(`select name from sqlite_schema where name = 'users'`).all();
    const users = tables.length > 0 ? connection.prepare('select count(*) from users').pluck().get() : 0;
    assert.equal(users, 0);
    connection.close();
    node = await NodeProcess.start({ databaseUrl: database.url });
    assert.match(node.output, /First start/);
  });
});

describe('a PostgreSQL database that is lost during a stop', () => {
  for (const [state, lose] of [
    ['gone', (relay: SilentRelay) => relay.close()],
    ['silent', (relay: SilentRelay) => relay.silence()],
  ] as const) {
    test(`lets the node exit with 0 although it is ${state}`, async () => {
      const database = await postgres.createForServer();
      const relay = await SilentRelay.open(database.url);
      const node = await NodeProcess.start({ databaseUrl: relay.url });
      await logIn(node);
      lose(relay);
      node.signal('SIGTERM');
      await node.waitUntilEnded();
      relay.close();
      assert.equal(node.exitCode, 0);
      assert.match(node.output, /\nStopped\.\n$/);
      await database.remove();
    });
  }
});
