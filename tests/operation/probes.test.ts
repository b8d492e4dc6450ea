/** Probes of supervisors and load balancers: fast, accurate and without load on the database. */

import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Database } from '../../server/src/database/database.ts';
import type { GraphResult } from '../../server/src/graph/graph.ts';
import { createReadiness } from '../../server/src/database/readiness.ts';
import type { HealthCheck } from '../../server/src/observability/health.ts';
import { databaseKinds, sqlite } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { StubApp } from '../live/stub-app.ts';
import { Scrape } from '../metrics/scrape.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { administrator, problemOf, Testbed, type TestResponse } from '../support/testbed.ts';

const probes = { '/livez': { status: 'ok' }, '/readyz': { status: 'ready' } };
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const query = (app: StubApp) =>
  `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${app.token('ann')}\r\n` +
  'Content-Type: application/json\r\nContent-Length: 15\r\n\r\n{"query":"{x}"}';

function assertNotReady(answer: TestResponse, reason: string): void {
  assert.equal(answer.status, 503);
  assert.match(answer.headers.get('content-type')!, /^application\/problem\+json/);
  assert.equal(answer.headers.get('retry-after'), '1');
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const { code, detail } = problemOf(answer);
  assert.deepEqual({ code, detail }, { code: 'UNAVAILABLE', detail: reason });
}

for (const kind of databaseKinds) {
  describe(`probes on ${kind.name}`, () => {
    const secret = 'connect ECONNREFUSED db-7.internal:5432';
    let testbed: Testbed;
    let reads = 0;
    let isBroken = false;
    before(async () => {
      testbed = await Testbed.start(kind, {
        onStatement(text) {
          if (!text.includes('from settings')) return;
          reads++;
          if (isBroken) throw new Error(secret);
        },
      });
    });
    after(() => testbed.stop());

    /** Polls until the cached state changes. */
    const pollUntil = async (status: number): Promise<TestResponse> => {
      const start = performance.now();
      for (;;) {
        const answer = await testbed.send('GET', '/readyz');
        if (answer.status === status) return answer;
        assert.ok(performance.now() - start < 1_000, `/readyz never returned ${status}`);
      }
    };

    for (const [path, body] of Object.entries(probes)) {
      test(`GET ${path} answers 200 without authentication and forbids caching`, async () => {
        const headers = [{}, { authorization: 'Bearer rubbish' }, { accept: 'text/plain' }];
        for (const header of headers) {
          for (const address of [path, `/${path}`, `${path}?quiet`]) {
            const answer = await testbed.send('GET', address, { headers: header });
            assert.equal(answer.status, 200);
            assert.deepEqual(answer.json(), body);
            assert.match(answer.headers.get('content-type')!, /^application\/json/);
            assert.equal(answer.headers.get('cache-control'), 'no-store');
          }
        }
      });

      test(`HEAD ${path} answers the same without the body`, async () => {
        const answer = await testbed.send('HEAD', path);
        assert.equal(answer.status, 200);
        assert.equal(answer.text, '');
        assert.equal(answer.headers.get('content-length'), String(JSON.stringify(body).length));
        assert.equal(answer.headers.get('cache-control'), 'no-store');
      });
    }

    const allOk = {
      database: 'ok',
      migrations: 'ok',
      writes: 'ok',
      'signing key': 'ok',
      notifications: 'ok',
      disk: 'ok',
    };

    test('list all checks of the node if the request is verbose', async () => {
      const readChecks = () => testbed.send('GET', '/readyz?verbose');
      // A node on PostgreSQL opens its connection for notifications after the port.
      const isListening = async () =>
        (await readChecks()).json<{ checks: typeof allOk }>().checks.notifications === 'ok';
      await eventually(isListening, 'the node receives notifications');
      const answer = await readChecks();
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.json(), { status: 'ready', checks: allOk });
    });

    test('are logged only at debug level if they succeed', () => {
      const lines = testbed.logLines.map((text) => JSON.parse(text) as { level: number; route?: string });
      const probeLines = lines.filter(({ route }) => route !== undefined && route in probes);
      assert.ok(probeLines.length > 0);
      assert.ok(probeLines.every(({ level }) => level <= 20));
    });

    test('read the database only a few times a second, even with many requests', async () => {
      reads = 0;
      const start = performance.now();
      for (let round = 0; round < 5; round++) {
        const answers = await Promise.all(Array.from({ length: 50 }, () => testbed.send('GET', '/readyz')));
        assert.ok(answers.every(({ status }) => status === 200));
      }
      const maxReads = 1 + (performance.now() - start) / 250;
      assert.ok(reads <= maxReads, `${reads} reads, at most ${maxReads} expected`);
    });

    test('report a node without its database as alive but not ready, and hide the reason', async () => {
      const { authToken } = await testbed.logIn();
      isBroken = true;
      const answer = await pollUntil(503);
      assertNotReady(answer, 'The database does not respond.');
      const verbose = await testbed.send('GET', '/readyz?verbose');
      assert.equal(verbose.status, 503);
      const { detail, checks } = verbose.json<{ detail: string; checks: object }>();
      assert.equal(detail, 'The database does not respond.');
      assert.deepEqual(checks, { ...allOk, database: 'failed', migrations: 'failed', writes: 'failed' });
      const head = await testbed.send('HEAD', '/readyz');
      assert.equal(head.status, 503);
      assert.equal(head.text, '');
      assert.equal((await testbed.send('GET', '/livez')).status, 200);
      isBroken = false;
      await pollUntil(200);
      assert.equal((await testbed.query('{folder{name}}', authToken)).status, 200);
      const lines = testbed.logLines.map((line) => JSON.parse(line) as { level: number; route?: string });
      assert.ok(lines.every(({ level, route }) => route !== '/readyz' || level <= 20));
      const databaseLines = testbed.logLines.filter((line) => /"msg":"the database /i.test(line));
      assert.equal(databaseLines.length, 2);
      assert.match(databaseLines[0]!, /"level":40.*db-7\.internal.*does not respond/);
      assert.match(databaseLines[1]!, /"level":30.*responds again/);
    });

    test('are not needed for the log line about a lost database', async () => {
      const lineCount = testbed.logLines.length;
      const isLogged = (text: string) =>
        testbed.logLines.slice(lineCount).some((line) => line.includes(text));
      isBroken = true;
      await eventually(async () => {
        await testbed.purge().catch(() => undefined);
        return isLogged('The database does not respond. Requests fail');
      }, 'the failure is logged');
      isBroken = false;
      await eventually(async () => {
        await testbed.purge();
        return isLogged('the database responds again');
      }, 'the recovery is logged');
    });

    test('are available only below the base path', async () => {
      const testbed = await Testbed.start(kind, { settings: { BASE_PATH: '/tree/api' } });
      for (const [path, body] of Object.entries(probes)) {
        assert.deepEqual((await testbed.send('GET', path)).json(), body);
        assert.equal((await fetch(new URL(path, testbed.url))).status, 404);
      }
      await testbed.stop();
    });
  });
}

describe('a node with an embedded database', () => {
  test('is not ready while the folder of the database is moved away, and explains what to do', async (t) => {
    const testbed = await Testbed.start(sqlite, { settings: { METRICS_PORT: '0' } });
    t.after(() => testbed.stop());
    const { authToken } = await testbed.logIn();
    const folder = dirname(testbed.database.url.slice('sqlite:'.length));
    const hasReadyStatus = async (status: number) => (await testbed.send('GET', '/readyz')).status === status;
    const databaseCheck = async () => {
      const answer = await testbed.query('{server{health{name isOk detail}}}', authToken);
      return answer.json<{ data: { server: { health: HealthCheck[] } } }>().data.server.health[0]!;
    };
    assert.equal((await databaseCheck()).isOk, true);
    renameSync(folder, `${folder}.away`);
    try {
      await eventually(() => hasReadyStatus(503), 'the node is not ready');
      const { checks } = (await testbed.send('GET', '/readyz?verbose')).json<{ checks: object }>();
      assert.deepEqual(checks, {
        database: 'failed',
        migrations: 'ok',
        writes: 'failed',
        'signing key': 'ok',
        notifications: 'ok',
        disk: 'failed',
      });
      const { name, isOk, detail } = await databaseCheck();
      assert.deepEqual({ name, isOk }, { name: 'database', isOk: false });
      assert.match(detail, /was moved, deleted or replaced.*Put it back.*Do not stop or restart the server/);
      const scrape = await Scrape.of(testbed.metricsUrl!);
      assert.equal(scrape.number('espalier_ready'), 0);
      assert.equal(scrape.number('espalier_check_ok', { check: 'database' }), 0);
      assert.equal(scrape.number('espalier_check_ok', { check: 'migrations' }), 1);
      assert.equal(scrape.number('espalier_database_disk_free_bytes'), undefined);
      const refused = await testbed.post('/login', administrator);
      assert.equal(refused.status, 503);
      assert.equal(problemOf(refused).detail, 'The database cannot be written right now. Try again later.');
    } finally {
      renameSync(`${folder}.away`, folder);
    }
    await eventually(() => hasReadyStatus(200), 'the node is ready again');
    await testbed.logIn();
    assert.equal((await databaseCheck()).isOk, true);
    const logged = testbed.logLines.map((line) => JSON.parse(line) as { level: number; msg: string });
    const ofFile = logged.filter(({ msg }) => msg.includes('espalier.db'));
    assert.deepEqual(
      ofFile.map(({ level, msg }) => [level, /was moved|is back/.exec(msg)?.[0]]),
      [
        [50, 'was moved'],
        [30, 'is back'],
      ],
    );
  });
});

describe('readiness', () => {
  let app: StubApp;
  /** Pending reads of the database. The test answers them or leaves them pending. */
  let reads: { answer: () => void; fail: () => void }[] = [];
  const database = {
    findFault: () => undefined,
    get: () =>
      new Promise((resolve, reject) => {
        reads.push({ answer: () => resolve({}), fail: () => reject(new Error('no')) });
      }),
  } as unknown as Database;
  const start = async (times: { timeoutMs: number; cacheMs: number }) => {
    reads = [];
    app = await StubApp.start({
      isReady: createReadiness({
        database,
        recheckFault: () => Promise.resolve(),
        onChange: () => undefined,
        ...times,
      }),
    });
  };
  afterEach(() => app.stop());

  const probe = async (): Promise<TestResponse> => {
    const response = await fetch(`${app.url}/readyz`);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: <T>() => JSON.parse(text) as T };
  };
  const waitForRead = async (count: number) => {
    while (reads.length < count) await new Promise((resolve) => setImmediate(resolve));
    return reads[count - 1]!;
  };

  test('shares one database read among all concurrent requests', async () => {
    await start({ timeoutMs: 10_000, cacheMs: 0 });
    const connection = await RawConnection.open(app.url);
    connection.send(get('/readyz').repeat(50) + get('/livez'));
    (await waitForRead(1)).answer();
    for (let count = 0; count < 50; count++) assert.equal((await connection.read())?.status, 200);
    connection.close();
    assert.equal(reads.length, 1);
    const secondProbe = probe();
    (await waitForRead(2)).fail();
    assertNotReady(await secondProbe, 'The database does not respond.');
  });

  test('caches its result for a short time, even a failure', async () => {
    await start({ timeoutMs: 10_000, cacheMs: 60_000 });
    const pendingProbe = probe();
    (await waitForRead(1)).fail();
    assertNotReady(await pendingProbe, 'The database does not respond.');
    assertNotReady(await probe(), 'The database does not respond.');
    assert.equal(reads.length, 1);
  });

  test('does not wait for a silent database, and recovers when the database responds', async () => {
    await start({ timeoutMs: 20, cacheMs: 0 });
    assertNotReady(await probe(), 'The database does not respond.');
    assertNotReady(await probe(), 'The database does not respond.');
    assert.equal(reads.length, 2);
    // This late result is ignored.
    reads[0]!.fail();
    const pendingProbe = probe();
    (await waitForRead(3)).answer();
    assert.equal((await pendingProbe).status, 200);
  });

  test('ends immediately when the node begins to stop, while the node stays alive', async () => {
    await start({ timeoutMs: 10_000, cacheMs: 0 });
    const one = await RawConnection.open(app.url);
    const other = await RawConnection.open(app.url);
    for (const connection of [one, other]) {
      assert.equal((await connection.exchange(get('/livez') + get('/readyz')))?.status, 200);
    }
    const { answer } = await waitForRead(1);
    let calls = 0;
    const work = Promise.withResolvers<GraphResult>();
    app.open = () => {
      calls++;
      return work.promise;
    };
    const third = await RawConnection.open(app.url);
    third.send(query(app));
    await eventually(() => calls === 1, 'the query runs');
    const stopped = app.stop();
    await assert.rejects(async () => {
      for (;;) (await RawConnection.open(app.url)).close();
    }, /ECONNRE(FUSED|SET)/);
    one.send(get('/readyz'));
    other.send(get('/livez'));
    // This request arrives after the others, so they have arrived as well.
    third.send(query(app));
    await eventually(() => calls === 2, 'all requests have arrived');
    answer();
    for (const connection of [one, other]) {
      const first = await connection.read();
      assert.equal(first?.status, 503);
      assert.match(first.body, /This node is stopping\./);
    }
    const ready = await one.read();
    assert.equal(ready?.status, 503);
    assert.match(ready.body, /This node is stopping\./);
    assert.match(ready.head, /connection: close/i);
    assert.equal((await other.read())?.status, 200);
    work.resolve({ isExecuted: true, text: '{}' });
    await stopped;
    assert.equal(reads.length, 1);
  });
});
