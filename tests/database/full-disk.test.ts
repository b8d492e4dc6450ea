/** While the disk is full, the server refuses changes and does everything else. Afterwards it needs no restart. */

import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import pg from 'pg';
import { databaseKinds, sqlite, type DatabaseKind } from '../support/databases.ts';
import type { HealthCheck } from '../../server/src/observability/health.ts';
import { mutation, type GraphBody } from '../support/graph-testbed.ts';
import { SocketClient } from '../live/socket-client.ts';
import { Scrape } from '../metrics/scrape.ts';
import { administrator, problemOf, Testbed, type TestResponse } from '../support/testbed.ts';
import { withWriteLimit } from '../support/write-limit.ts';

interface FullDisk {
  /** Prevents all writes while `work` runs. */
  readonly whileFull: (url: string, work: () => Promise<void>) => Promise<void>;
  readonly message: string;
  readonly reason: string;
}

const fullDisks: Readonly<Record<DatabaseKind['name'], FullDisk>> = {
  SQLite: {
    whileFull: (_, work) => withWriteLimit(0, work),
    message: 'The database has reached the file size limit of its process.',
    reason: 'file_size_limit',
  },
  PostgreSQL: {
    whileFull: whileTablesRefuseWrites,
    message: 'The disk of the database is full.',
    reason: 'disk_full',
  },
};

/** Makes each write fail as if PostgreSQL had no space for another page of a table. */
async function whileTablesRefuseWrites(url: string, work: () => Promise<void>): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  const onEachTable = (statement: string) => `do $$ declare name text; begin
    for name in select relname from pg_class
      where relnamespace = current_schema()::regnamespace and relkind = 'r'
    loop execute format('${statement}', name); end loop; end $$`;
  try {
    await client.query(`create function no_room() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`);
    await client.query(
      onEachTable(
        'create trigger no_room before insert or update or delete on %I execute function no_room()',
      ),
    );
    await work();
  } finally {
    await client.query('drop function if exists no_room cascade');
    await client.end();
  }
}

for (const kind of databaseKinds) {
  describe(`a full disk on ${kind.name}`, () => {
    const { whileFull, message, reason } = fullDisks[kind.name]!;
    let testbed: Testbed;
    let admin: LoginResponse;
    before(async () => {
      testbed = await Testbed.start(kind, { settings: { LOG_LEVEL: 'debug', METRICS_PORT: '0' } });
      admin = await testbed.logIn();
    });
    after(() => testbed.stop());

    const whenFull = (work: () => Promise<void>) => whileFull(testbed.database.url, work);
    const createFolder = (name: string) =>
      testbed.query(mutation('createFolder', 'folder{id}'), admin.authToken, { input: { name } });
    const readNames = async () => {
      const answer = await testbed.query('{folder{folders{items{name}}}}', admin.authToken);
      const body = answer.json<GraphBody<{ folder: { folders: { items: { name: string }[] } } }>>();
      return body.data!.folder.folders.items.map(({ name }) => name);
    };
    const assertUnavailable = (answer: TestResponse) => {
      assert.equal(answer.status, 503, answer.text);
      assert.match(answer.headers.get('retry-after')!, /^[1-9]\d*$/);
      const { code, detail } = problemOf(answer);
      assert.deepEqual({ code, detail }, { code: 'UNAVAILABLE', detail: message });
    };

    test('makes logins, refreshes and logouts fail with 503, and spends no token', async () => {
      const [one, two, three] = [await testbed.logIn(), await testbed.logIn(), await testbed.logIn()];
      await whenFull(async () => {
        assertUnavailable(await testbed.post('/login', administrator));
        assertUnavailable(await testbed.post('/login', { ...administrator, password: 'wrong' }));
        assertUnavailable(await testbed.refresh(one));
        assertUnavailable(await testbed.post('/logout', {}, two.authToken));
        assertUnavailable(await testbed.post('/logout', { refreshToken: three.refreshToken }));
      });
      assert.equal((await testbed.refresh(one)).status, 200);
      assert.equal((await testbed.refresh(two)).status, 200);
      assert.equal((await testbed.post('/logout', { refreshToken: three.refreshToken })).status, 204);
      assert.equal((await testbed.post('/login', administrator)).status, 200);
      assert.equal((await testbed.post('/login', { ...administrator, password: 'wrong' })).status, 401);
    });

    test('makes changes fail with UNAVAILABLE until there is space', async () => {
      await whenFull(async () => {
        for (let time = 0; time < 30; time++) {
          const answer = await createFolder('Plans');
          const { errors } = answer.json<GraphBody<unknown>>();
          assert.equal(errors![0]!.extensions.code, 'UNAVAILABLE', answer.text);
          assert.equal(errors![0]!.message, message);
        }
        assert.deepEqual(await readNames(), []);
      });
      assert.equal((await createFolder('Plans')).status, 200);
      assert.deepEqual(await readNames(), ['Plans']);
    });

    test('does not affect reads, verification, open sockets and probes', async () => {
      const socket = await SocketClient.open(testbed.url);
      socket.init(admin.authToken);
      assert.equal((await socket.next()).type, 'connection_ack');
      socket.start('live', 'subscription{folderChanges{folder{name}}}');
      await whenFull(async () => {
        assert.equal((await createFolder('Later')).json<GraphBody<unknown>>().errors?.length, 1);
        assert.equal((await testbed.post('/login/verify', { authToken: admin.authToken })).status, 204);
        assert.deepEqual(await readNames(), ['Plans']);
        socket.start('read', '{folder{name}}');
        assert.deepEqual(await socket.next(), {
          id: 'read',
          type: 'next',
          payload: { data: { folder: { name: 'Root' } } },
        });
        assert.equal((await socket.next()).type, 'complete');
        for (const path of ['/livez', '/readyz']) assert.equal((await testbed.send('GET', path)).status, 200);
      });
      assert.equal((await createFolder('Later')).status, 200);
      assert.deepEqual(await socket.next(), {
        id: 'live',
        type: 'next',
        payload: { data: { folderChanges: { folder: { name: 'Later' } } } },
      });
      socket.socket.terminate();
    });

    test('is visible in the probe, the node health, the metrics and the log until a change is written', async () => {
      const probe = async () => {
        const answer = await testbed.send('GET', '/readyz?verbose');
        assert.equal(answer.status, 200);
        const { checks, reasons } = answer.json<{ checks: Record<string, string>; reasons?: object }>();
        return { writes: checks['writes'], database: checks['database'], reasons };
      };
      const readHealth = async () => {
        const answer = await testbed.query('{server{health{name isOk detail}}}', admin.authToken);
        const { data } = answer.json<GraphBody<{ server: { health: HealthCheck[] } }>>();
        return data!.server.health.find(({ name }) => name === 'writes')!;
      };
      const readMetrics = async () => {
        const scrape = await Scrape.of(testbed.metricsUrl!);
        const failures = scrape.number('espalier_write_failures_total', { reason })!;
        return { isOk: scrape.number('espalier_check_ok', { check: 'writes' }), failures };
      };
      const countLogLines = (text: string) => testbed.logLines.filter((line) => line.includes(text)).length;
      await createFolder('Working');
      assert.deepEqual(await probe(), { writes: 'ok', database: 'ok', reasons: undefined });
      const before = await readMetrics();
      const linesBefore = [countLogLines('Changes fail:'), countLogLines('Changes are written again.')];
      assert.equal(before.isOk, 1);
      await whenFull(async () => {
        for (let time = 0; time < 2; time++) await createFolder('Failing');
        assert.deepEqual(await probe(), { writes: 'failed', database: 'ok', reasons: { writes: message } });
        const { isOk, detail } = await readHealth();
        assert.equal(isOk, false);
        assert.ok(detail.startsWith(`Changes fail: ${message} (`), detail);
      });
      assert.deepEqual(await readMetrics(), { isOk: 0, failures: before.failures + 2 });
      // Neither a read nor a transaction without changed rows proves that writes work.
      await readNames();
      assert.equal((await probe()).writes, 'failed');
      assert.deepEqual(
        [countLogLines('Changes fail:'), countLogLines('Changes are written again.')],
        [linesBefore[0]! + 1, linesBefore[1]],
      );
      await createFolder('Working again');
      assert.deepEqual(await probe(), { writes: 'ok', database: 'ok', reasons: undefined });
      assert.equal((await readHealth()).isOk, true);
      assert.equal((await readMetrics()).isOk, 1);
      assert.equal(countLogLines('Changes are written again.'), linesBefore[1]! + 1);
    });

    if (kind === sqlite)
      test('leaves no part of a large change that it interrupts', async () => {
        const walFile = `${testbed.database.url.slice('sqlite:'.length)}-wal`;
        const folders = Array.from({ length: 3_000 }, (_, index) => ({ name: `Room ${index}` }));
        const importAll = () =>
          testbed.query(mutation('importFolders', 'folderCount'), admin.authToken, {
            input: { tree: [{ name: 'House', folders }] },
          });
        await withWriteLimit(statSync(walFile).size + 200_000, async () => {
          const { errors } = (await importAll()).json<GraphBody<unknown>>();
          assert.equal(errors![0]!.extensions.code, 'UNAVAILABLE');
        });
        assert.ok(!(await readNames()).includes('House'));
        const { data } = (await importAll()).json<GraphBody<{ importFolders: { folderCount: number } }>>();
        assert.equal(data!.importFolders.folderCount, 3_001);
      });

    test('makes housekeeping fail once and succeed the next time', async () => {
      testbed.clock.advanceSeconds(100 * 86_400);
      await whenFull(() => assert.rejects(testbed.purge(), { code: 'UNAVAILABLE' }));
      await testbed.purge();
    });

    test('is never logged as a bug', () => {
      const bugs = testbed.logLines.filter((line) => (JSON.parse(line) as { level: number }).level >= 50);
      assert.deepEqual(bugs, []);
    });
  });
}
