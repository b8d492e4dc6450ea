/** When nothing can be written: changes are refused for the time being, all else goes on, and nothing has to be restarted. */

import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import pg from 'pg';
import { databaseKinds, sqlite, type DatabaseKind } from './databases.ts';
import type { HealthCheck } from '../server/src/health.ts';
import { mutation, type GraphBody } from './graph-bed.ts';
import { SocketClient } from './live/socket-client.ts';
import { Scrape } from './metrics/scrape.ts';
import { administrator, problemOf, Testbed, type Answer } from './testbed.ts';
import { withWriteLimit } from './write-limit.ts';

interface FullDisk {
  /** While `work` runs, nothing can be written. */
  readonly whileFull: (url: string, work: () => Promise<void>) => Promise<void>;
  readonly says: string;
  readonly reason: string;
}

const fullDisks: Readonly<Record<DatabaseKind['name'], FullDisk>> = {
  SQLite: {
    whileFull: (_, work) => withWriteLimit(0, work),
    says: 'The database has reached the file size limit of its process.',
    reason: 'file_size_limit',
  },
  PostgreSQL: {
    whileFull: whileTablesRefuse,
    says: 'The disk of the database is full.',
    reason: 'disk_full',
  },
};

/** As the server does when there is no room for a page of a table. */
async function whileTablesRefuse(url: string, work: () => Promise<void>): Promise<void> {
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
  describe(`a disk that takes no more on ${kind.name}`, () => {
    const { whileFull, says, reason } = fullDisks[kind.name]!;
    let bed: Testbed;
    let admin: LoginResponse;
    before(async () => {
      bed = await Testbed.start(kind, { settings: { LOG_LEVEL: 'debug', METRICS_PORT: '0' } });
      admin = await bed.logIn();
    });
    after(() => bed.stop());

    const whenFull = (work: () => Promise<void>) => whileFull(bed.database.url, work);
    const createFolder = (name: string) =>
      bed.query(mutation('createFolder', 'folder{id}'), admin.authToken, { input: { name } });
    const names = async () => {
      const answer = await bed.query('{folder{folders{items{name}}}}', admin.authToken);
      const body = answer.json<GraphBody<{ folder: { folders: { items: { name: string }[] } } }>>();
      return body.data!.folder.folders.items.map(({ name }) => name);
    };
    const isUnavailable = (answer: Answer) => {
      assert.equal(answer.status, 503, answer.text);
      assert.match(answer.headers.get('retry-after')!, /^[1-9]\d*$/);
      const { code, detail } = problemOf(answer);
      assert.deepEqual({ code, detail }, { code: 'UNAVAILABLE', detail: says });
    };

    test('logins, refreshes and logouts are answered with 503, right or wrong, and spend nothing', async () => {
      const [one, two, three] = [await bed.logIn(), await bed.logIn(), await bed.logIn()];
      await whenFull(async () => {
        isUnavailable(await bed.post('/login', administrator));
        isUnavailable(await bed.post('/login', { ...administrator, password: 'wrong' }));
        isUnavailable(await bed.refresh(one));
        isUnavailable(await bed.post('/logout', {}, two.authToken));
        isUnavailable(await bed.post('/logout', { refreshToken: three.refreshToken }));
      });
      assert.equal((await bed.refresh(one)).status, 200);
      assert.equal((await bed.refresh(two)).status, 200);
      assert.equal((await bed.post('/logout', { refreshToken: three.refreshToken })).status, 204);
      assert.equal((await bed.post('/login', administrator)).status, 200);
      assert.equal((await bed.post('/login', { ...administrator, password: 'wrong' })).status, 401);
    });

    test('changes are refused with UNAVAILABLE, and succeed as soon as there is room', async () => {
      await whenFull(async () => {
        for (let time = 0; time < 30; time++) {
          const answer = await createFolder('Plans');
          const { errors } = answer.json<GraphBody<unknown>>();
          assert.equal(errors![0]!.extensions.code, 'UNAVAILABLE', answer.text);
          assert.equal(errors![0]!.message, says);
        }
        assert.deepEqual(await names(), []);
      });
      assert.equal((await createFolder('Plans')).status, 200);
      assert.deepEqual(await names(), ['Plans']);
    });

    test('reading, verifying, open sockets and probes go on', async () => {
      const socket = await SocketClient.open(bed.url);
      socket.init(admin.authToken);
      assert.equal((await socket.next()).type, 'connection_ack');
      socket.start('live', 'subscription{folderChanges{folder{name}}}');
      await whenFull(async () => {
        assert.equal((await createFolder('Later')).json<GraphBody<unknown>>().errors?.length, 1);
        assert.equal((await bed.post('/login/verify', { authToken: admin.authToken })).status, 204);
        assert.deepEqual(await names(), ['Plans']);
        socket.start('read', '{folder{name}}');
        assert.deepEqual(await socket.next(), {
          id: 'read',
          type: 'next',
          payload: { data: { folder: { name: 'Root' } } },
        });
        assert.equal((await socket.next()).type, 'complete');
        for (const path of ['/livez', '/readyz']) assert.equal((await bed.send('GET', path)).status, 200);
      });
      assert.equal((await createFolder('Later')).status, 200);
      assert.deepEqual(await socket.next(), {
        id: 'live',
        type: 'next',
        payload: { data: { folderChanges: { folder: { name: 'Later' } } } },
      });
      socket.socket.terminate();
    });

    test('shows in the probe, the health of the node, the metrics and the log until a change is written', async () => {
      const probe = async () => {
        const answer = await bed.send('GET', '/readyz?verbose');
        assert.equal(answer.status, 200);
        const { checks, reasons } = answer.json<{ checks: Record<string, string>; reasons?: object }>();
        return { writes: checks['writes'], database: checks['database'], reasons };
      };
      const health = async () => {
        const answer = await bed.query('{server{health{name isOk detail}}}', admin.authToken);
        const { data } = answer.json<GraphBody<{ server: { health: HealthCheck[] } }>>();
        return data!.server.health.find(({ name }) => name === 'writes')!;
      };
      const metrics = async () => {
        const scrape = await Scrape.of(bed.metricsUrl!);
        const failures = scrape.number('espalier_write_failures_total', { reason })!;
        return { isOk: scrape.number('espalier_check_ok', { check: 'writes' }), failures };
      };
      const logged = (text: string) => bed.logLines.filter((line) => line.includes(text)).length;
      await createFolder('Working');
      assert.deepEqual(await probe(), { writes: 'ok', database: 'ok', reasons: undefined });
      const before = await metrics();
      const linesBefore = [logged('Changes fail:'), logged('Changes are written again.')];
      assert.equal(before.isOk, 1);
      await whenFull(async () => {
        for (let time = 0; time < 2; time++) await createFolder('Failing');
        assert.deepEqual(await probe(), { writes: 'failed', database: 'ok', reasons: { writes: says } });
        const { isOk, detail } = await health();
        assert.equal(isOk, false);
        assert.ok(detail.startsWith(`Changes fail: ${says} (`), detail);
      });
      assert.deepEqual(await metrics(), { isOk: 0, failures: before.failures + 2 });
      // Reading proves nothing, nor does a transaction that changes no row.
      await names();
      assert.equal((await probe()).writes, 'failed');
      assert.deepEqual(
        [logged('Changes fail:'), logged('Changes are written again.')],
        [linesBefore[0]! + 1, linesBefore[1]],
      );
      await createFolder('Working again');
      assert.deepEqual(await probe(), { writes: 'ok', database: 'ok', reasons: undefined });
      assert.equal((await health()).isOk, true);
      assert.equal((await metrics()).isOk, 1);
      assert.equal(logged('Changes are written again.'), linesBefore[1]! + 1);
    });

    if (kind === sqlite)
      test('one that fills up amid a large change leaves nothing of it behind', async () => {
        const log = `${bed.database.url.slice('sqlite:'.length)}-wal`;
        const folders = Array.from({ length: 3_000 }, (_, place) => ({ name: `Room ${place}` }));
        const importAll = () =>
          bed.query(mutation('importFolders', 'folderCount'), admin.authToken, {
            input: { tree: [{ name: 'House', folders }] },
          });
        await withWriteLimit(statSync(log).size + 200_000, async () => {
          const { errors } = (await importAll()).json<GraphBody<unknown>>();
          assert.equal(errors![0]!.extensions.code, 'UNAVAILABLE');
        });
        assert.ok(!(await names()).includes('House'));
        const { data } = (await importAll()).json<GraphBody<{ importFolders: { folderCount: number } }>>();
        assert.equal(data!.importFolders.folderCount, 3_001);
      });

    test('housekeeping fails, and does its work the next time', async () => {
      bed.clock.advanceSeconds(100 * 86_400);
      await whenFull(() => assert.rejects(bed.sweep(), { code: 'UNAVAILABLE' }));
      await bed.sweep();
    });

    test('none of it was taken for a bug', () => {
      const bugs = bed.logLines.filter((line) => (JSON.parse(line) as { level: number }).level >= 50);
      assert.deepEqual(bugs, []);
    });
  });
}
