/** What supervisors and load balancers ask: answered at once, by the truth, and without a load on the database. */

import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Database } from '../server/src/database/database.ts';
import type { GraphResult } from '../server/src/graph/graph.ts';
import { createReadiness } from '../server/src/database/readiness.ts';
import type { HealthCheck } from '../server/src/health.ts';
import { databaseKinds, sqlite } from './databases.ts';
import { eventually } from './eventually.ts';
import { StagedApp } from './live/staged-app.ts';
import { Scrape } from './metrics/scrape.ts';
import { RawConnection } from './raw-connection.ts';
import { administrator, problemOf, Testbed, type Answer } from './testbed.ts';

const probes = { '/livez': { status: 'ok' }, '/readyz': { status: 'ready' } };
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const query = (app: StagedApp) =>
  `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${app.token('ann')}\r\n` +
  'Content-Type: application/json\r\nContent-Length: 15\r\n\r\n{"query":"{x}"}';

function isNotReady(answer: Answer, reason: string): void {
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
    let bed: Testbed;
    let looks = 0;
    let isBroken = false;
    before(async () => {
      bed = await Testbed.start(kind, {
        onStatement(text) {
          if (!text.includes('from settings')) return;
          looks++;
          if (isBroken) throw new Error(secret);
        },
      });
    });
    after(() => bed.stop());

    /** What was seen last holds for a moment. */
    const nextWith = async (status: number): Promise<Answer> => {
      const start = performance.now();
      for (;;) {
        const answer = await bed.send('GET', '/readyz');
        if (answer.status === status) return answer;
        assert.ok(performance.now() - start < 1_000, `never ${status}`);
      }
    };

    for (const [path, body] of Object.entries(probes)) {
      test(`GET ${path} answers 200 to anybody, and is not to be kept`, async () => {
        const headers = [{}, { authorization: 'Bearer rubbish' }, { accept: 'text/plain' }];
        for (const given of headers) {
          for (const address of [path, `/${path}`, `${path}?quiet`]) {
            const answer = await bed.send('GET', address, { headers: given });
            assert.equal(answer.status, 200);
            assert.deepEqual(answer.json(), body);
            assert.match(answer.headers.get('content-type')!, /^application\/json/);
            assert.equal(answer.headers.get('cache-control'), 'no-store');
          }
        }
      });

      test(`HEAD ${path} answers the same without the body`, async () => {
        const answer = await bed.send('HEAD', path);
        assert.equal(answer.status, 200);
        assert.equal(answer.text, '');
        assert.equal(answer.headers.get('content-length'), String(JSON.stringify(body).length));
        assert.equal(answer.headers.get('cache-control'), 'no-store');
      });
    }

    const fine = {
      database: 'ok',
      migrations: 'ok',
      writes: 'ok',
      'signing key': 'ok',
      bus: 'ok',
      disk: 'ok',
    };

    test('who asks for more is told what a node needs, and whether it has it', async () => {
      const answer = await bed.send('GET', '/readyz?verbose');
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.json(), { status: 'ready', checks: fine });
    });

    test('an answer that is fine is nothing to log, but for who wants to see every request', () => {
      const lines = bed.logLines.map((text) => JSON.parse(text) as { level: number; route?: string });
      const ofProbes = lines.filter(({ route }) => route !== undefined && route in probes);
      assert.ok(ofProbes.length > 0);
      assert.ok(ofProbes.every(({ level }) => level <= 20));
    });

    test('however many ask, the database is read a few times a second', async () => {
      looks = 0;
      const start = performance.now();
      for (let round = 0; round < 5; round++) {
        const answers = await Promise.all(Array.from({ length: 50 }, () => bed.send('GET', '/readyz')));
        assert.ok(answers.every(({ status }) => status === 200));
      }
      const most = 1 + (performance.now() - start) / 250;
      assert.ok(looks <= most, `${looks} reads, at most ${most} expected`);
    });

    test('a node that cannot read its database is alive, not ready, tells nobody why, and recovers', async () => {
      const { authToken } = await bed.logIn();
      isBroken = true;
      const answer = await nextWith(503);
      isNotReady(answer, 'The database does not answer.');
      const verbose = await bed.send('GET', '/readyz?verbose');
      assert.equal(verbose.status, 503);
      const { detail, checks } = verbose.json<{ detail: string; checks: object }>();
      assert.equal(detail, 'The database does not answer.');
      assert.deepEqual(checks, { ...fine, database: 'failed', migrations: 'failed', writes: 'failed' });
      const head = await bed.send('HEAD', '/readyz');
      assert.equal(head.status, 503);
      assert.equal(head.text, '');
      assert.equal((await bed.send('GET', '/livez')).status, 200);
      isBroken = false;
      await nextWith(200);
      assert.equal((await bed.query('{folder{name}}', authToken)).status, 200);
      const asked = bed.logLines.map((line) => JSON.parse(line) as { level: number; route?: string });
      assert.ok(asked.every(({ level, route }) => route !== '/readyz' || level <= 20));
      const told = bed.logLines.filter((line) => line.includes('the database '));
      assert.equal(told.length, 2);
      assert.match(told[0]!, /"level":40.*db-7\.internal.*does not answer/);
      assert.match(told[1]!, /"level":30.*answers again/);
    });

    test('a database that is lost is told in the log where no program asks, too', async () => {
      const earlier = bed.logLines.length;
      const isTold = (text: string) => bed.logLines.slice(earlier).some((line) => line.includes(text));
      isBroken = true;
      await eventually(async () => {
        await bed.sweep().catch(() => undefined);
        return isTold('the database does not answer');
      }, 'it is told');
      isBroken = false;
      await eventually(async () => {
        await bed.sweep();
        return isTold('the database answers again');
      }, 'it is told to be over');
    });

    test('they are below the base path, and not beside it', async () => {
      const below = await Testbed.start(kind, { settings: { BASE_PATH: '/tree/api' } });
      for (const [path, body] of Object.entries(probes)) {
        assert.deepEqual((await below.send('GET', path)).json(), body);
        assert.equal((await fetch(new URL(path, below.url))).status, 404);
      }
      await below.stop();
    });
  });
}

describe('the folder of the embedded database', () => {
  test('that is moved away makes its node not ready, says what to do to those it concerns, and is enough when it is back', async (t) => {
    const bed = await Testbed.start(sqlite, { settings: { METRICS_PORT: '0' } });
    t.after(() => bed.stop());
    const { authToken } = await bed.logIn();
    const folder = dirname(bed.database.url.slice('sqlite:'.length));
    const ready = async (status: number) => (await bed.send('GET', '/readyz')).status === status;
    const databaseCheck = async () => {
      const answer = await bed.query('{server{health{name isOk detail}}}', authToken);
      return answer.json<{ data: { server: { health: HealthCheck[] } } }>().data.server.health[0]!;
    };
    assert.equal((await databaseCheck()).isOk, true);
    renameSync(folder, `${folder}.away`);
    try {
      await eventually(() => ready(503), 'it is not ready');
      const { checks } = (await bed.send('GET', '/readyz?verbose')).json<{ checks: object }>();
      assert.deepEqual(checks, {
        database: 'failed',
        migrations: 'ok',
        writes: 'failed',
        'signing key': 'ok',
        bus: 'ok',
        disk: 'failed',
      });
      const { name, isOk, detail } = await databaseCheck();
      assert.deepEqual({ name, isOk }, { name: 'database', isOk: false });
      assert.match(
        detail,
        /was moved, deleted or replaced.*Put it back.*Do not stop or restart it meanwhile/,
      );
      const scrape = await Scrape.of(bed.metricsUrl!);
      assert.equal(scrape.number('espalier_ready'), 0);
      assert.equal(scrape.number('espalier_check_ok', { check: 'database' }), 0);
      assert.equal(scrape.number('espalier_check_ok', { check: 'migrations' }), 1);
      assert.equal(scrape.number('espalier_database_disk_free_bytes'), undefined);
      const refused = await bed.post('/login', administrator);
      assert.equal(refused.status, 503);
      assert.equal(problemOf(refused).detail, 'The database cannot be written right now. Try again later.');
    } finally {
      renameSync(`${folder}.away`, folder);
    }
    await eventually(() => ready(200), 'it is ready again');
    await bed.logIn();
    assert.equal((await databaseCheck()).isOk, true);
    const told = bed.logLines.map((line) => JSON.parse(line) as { level: number; msg: string });
    const ofFile = told.filter(({ msg }) => msg.includes('espalier.db'));
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
  let app: StagedApp;
  /** Of the database; each is answered, or left waiting, by the test. */
  let reads: { answer: () => void; fail: () => void }[] = [];
  const database = {
    findFault: () => undefined,
    get: () =>
      new Promise((resolve, reject) => {
        reads.push({ answer: () => resolve({}), fail: () => reject(new Error('no')) });
      }),
  } as unknown as Database;
  const start = async (times: { answerWithinMs: number; holdsForMs: number }) => {
    reads = [];
    app = await StagedApp.start({
      isReady: createReadiness({
        database,
        recheckFault: () => Promise.resolve(),
        onChange: () => undefined,
        times,
      }),
    });
  };
  afterEach(() => app.stop());

  const ask = async (): Promise<Answer> => {
    const response = await fetch(`${app.url}/readyz`);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: <T>() => JSON.parse(text) as T };
  };
  const nextRead = async (count: number) => {
    while (reads.length < count) await new Promise((resolve) => setImmediate(resolve));
    return reads[count - 1]!;
  };

  test('all who ask while the database is looked at share the one look', async () => {
    await start({ answerWithinMs: 10_000, holdsForMs: 0 });
    const connection = await RawConnection.open(app.url);
    connection.send(get('/readyz').repeat(50) + get('/livez'));
    (await nextRead(1)).answer();
    for (let count = 0; count < 50; count++) assert.equal((await connection.read())?.status, 200);
    connection.close();
    assert.equal(reads.length, 1);
    const again = ask();
    (await nextRead(2)).fail();
    isNotReady(await again, 'The database does not answer.');
  });

  test('what was seen holds for a moment, good or bad', async () => {
    await start({ answerWithinMs: 10_000, holdsForMs: 60_000 });
    const asking = ask();
    (await nextRead(1)).fail();
    isNotReady(await asking, 'The database does not answer.');
    isNotReady(await ask(), 'The database does not answer.');
    assert.equal(reads.length, 1);
  });

  test('a database that keeps silent is not waited for, and once it answers that is enough', async () => {
    await start({ answerWithinMs: 20, holdsForMs: 0 });
    isNotReady(await ask(), 'The database does not answer.');
    isNotReady(await ask(), 'The database does not answer.');
    assert.equal(reads.length, 2);
    // Too late: nobody is told of it.
    reads[0]!.fail();
    const asking = ask();
    (await nextRead(3)).answer();
    assert.equal((await asking).status, 200);
  });

  test('a node that stops is not ready from that moment on, and alive to the last', async () => {
    await start({ answerWithinMs: 10_000, holdsForMs: 0 });
    const one = await RawConnection.open(app.url);
    const other = await RawConnection.open(app.url);
    for (const connection of [one, other]) {
      assert.equal((await connection.exchange(get('/livez') + get('/readyz')))?.status, 200);
    }
    const { answer } = await nextRead(1);
    let asked = 0;
    const work = Promise.withResolvers<GraphResult>();
    app.open = () => {
      asked++;
      return work.promise;
    };
    const third = await RawConnection.open(app.url);
    third.send(query(app));
    await eventually(() => asked === 1, 'it is worked on');
    const stopped = app.stop();
    await assert.rejects(async () => {
      for (;;) (await RawConnection.open(app.url)).close();
    }, /ECONNRE(FUSED|SET)/);
    one.send(get('/readyz'));
    other.send(get('/livez'));
    // What is sent after them has come: so have they.
    third.send(query(app));
    await eventually(() => asked === 2, 'they have come');
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
