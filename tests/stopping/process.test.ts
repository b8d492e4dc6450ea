/** How the process ends: what it says, what it leaves behind, and its exit code. */

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { join } from 'node:path';
import BetterSqlite from 'better-sqlite3';
import { databaseKinds, postgres, sqlite, type TestDatabase } from '../support/databases.ts';
import { SocketClient } from '../live/socket-client.ts';
import { administrator, NodeProcess, type NodeOptions } from '../many-nodes/node-process.ts';
import { connectionsTo } from '../postgres/connections-to.ts';
import { withoutHasteWarning } from '../postgres/haste.ts';
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
  describe(`the end of a node on ${kind.name}`, () => {
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

    test('SIGTERM closes sockets with 1001 and a cursor, ends with 0, and leaves nothing behind', async () => {
      const stopping = await start();
      const client = await SocketClient.connect(stopping.url, (await logIn(stopping)).token);
      client.start('1', 'subscription{folderChanges{kind}}');
      stopping.signal('SIGTERM');
      const { code, reason } = await client.closed();
      assert.equal(code, 1001);
      assert.match(reason, /^Going away; cursor=\S+$/);
      await stopping.ended();
      assert.equal(stopping.exitCode, 0);
      assert.match(stopping.output, /\nStopping; [^\n]+\nStopped\.\n$/);
      const lines = withoutHasteWarning(stopping.log).trim().split('\n');
      assert.deepEqual(
        lines.map((line) => (JSON.parse(line) as { msg: string }).msg),
        ['made a new, empty installation', 'started', 'request', 'request', 'stopping', 'stopped'],
      );
      if (kind === postgres) assert.equal(await connectionsTo(database.url), 0);
    });

    for (const [how, signal] of [
      ['thrown', 'SIGUSR2'],
      ['rejected', 'SIGWINCH'],
    ] as const) {
      test(`a bug that is ${how} where nobody looks ends the process with 1, and is logged once`, async () => {
        const preload = join(import.meta.dirname, 'bug-on-signal.ts');
        const failing = await start({ preload });
        failing.signal(signal);
        await failing.ended();
        assert.equal(failing.exitCode, 1);
        const lines = withoutHasteWarning(failing.log).trim().split('\n');
        assert.equal(lines.length, 3, failing.log);
        assert.match(lines[0]!, /"msg":"made a new, empty installation"/);
        assert.match(lines[1]!, /"msg":"started"/);
        const line = JSON.parse(lines[2]!) as { level: number; err: { message: string } };
        assert.deepEqual([line.level, line.err.message], [60, `a bug that was ${how}`]);
      });
    }
  });
}

describe('signals on SQLite', () => {
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
    test(`${first} waits for what is in flight, and ${second} after it does not: ${code}`, async () => {
      const settings = { STOP_DELAY_SECONDS: '600' };
      node = await NodeProcess.start({ databaseUrl: database.url, settings });
      node.signal(first);
      await node.waitForOutput('Stopping');
      assert.equal((await fetch(`${node.url}/readyz`)).status, 503);
      const { status, connection } = await logIn(node);
      assert.deepEqual({ status, connection }, { status: 200, connection: 'close' });
      // A terminal gives one Ctrl-C twice when npm is in between: what comes too soon is not a second one.
      const again = setInterval(() => node.signal(second), 100);
      await node.ended();
      clearInterval(again);
      assert.equal(node.exitCode, code);
      assert.doesNotMatch(node.output, /Stopped/);
    });
  }

  test('one Ctrl-C that comes twice is one: what is in flight is waited for', async () => {
    node = await NodeProcess.start({ databaseUrl: database.url, settings: { STOP_DELAY_SECONDS: '1' } });
    node.signal('SIGINT');
    await node.waitForOutput('Stopping');
    node.signal('SIGINT');
    await node.ended();
    assert.equal(node.exitCode, 0);
    assert.match(node.output, /Stopped/);
  });

  test('a signal before it listens ends the start, with nothing half done', async () => {
    const path = database.url.slice('sqlite:'.length);
    const other = new BetterSqlite(path);
    other.pragma(`application_id = ${0x45535041}`);
    other.pragma('journal_mode = wal');
    other.exec('begin immediate');
    // An unknown variable is warned of right before the database is opened, which waits for the other one.
    node = NodeProcess.launch({ databaseUrl: database.url, settings: { NOT_A_SETTING: '1' } });
    await node.waitForOutput('NOT_A_SETTING');
    node.signal('SIGTERM');
    await node.waitForOutput('Stopping');
    other.exec('commit');
    await node.ended();
    assert.equal(node.exitCode, 0);
    assert.match(node.output, /^\nStopping; [^\n]+\nStopped\.\n$/);
    const tables = other.prepare(`select name from sqlite_schema where name = 'users'`).all();
    const users = tables.length > 0 ? other.prepare('select count(*) from users').pluck().get() : 0;
    assert.equal(users, 0);
    other.close();
    node = await NodeProcess.start({ databaseUrl: database.url });
    assert.match(node.output, /First start/);
  });
});

describe('a database that is lost while the node stops on PostgreSQL', () => {
  for (const [how, lose] of [
    ['gone', (relay: SilentRelay) => relay.close()],
    ['silent', (relay: SilentRelay) => relay.silence()],
  ] as const) {
    test(`the node ends with 0 although it is ${how}`, async () => {
      const database = await postgres.createForServer();
      const relay = await SilentRelay.open(database.url);
      const node = await NodeProcess.start({ databaseUrl: relay.url });
      await logIn(node);
      lose(relay);
      node.signal('SIGTERM');
      await node.ended();
      relay.close();
      assert.equal(node.exitCode, 0);
      assert.match(node.output, /\nStopped\.\n$/);
      await database.remove();
    });
  }
});
