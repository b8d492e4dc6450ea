/** What a node tells Prometheus, on both databases. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { catalogue } from '../../server/src/observability/metric-catalogue.ts';
import { databaseKinds, sqlite } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { SocketClient } from '../live/socket-client.ts';
import { administrator, Testbed } from '../support/testbed.ts';
import { Scrape } from './scrape.ts';

for (const kind of databaseKinds) {
  describe(`metrics on ${kind.name}`, () => {
    let bed: Testbed;
    before(async () => {
      bed = await Testbed.start(kind, { settings: { METRICS_PORT: '0', REUSE_TOLERANCE_SECONDS: '10' } });
    });
    after(() => bed.stop());
    const scrape = () => Scrape.of(bed.metricsUrl!);

    test('each metric of the catalogue is there, as what it says it is', async () => {
      const { families } = await scrape();
      for (const { name, type, help } of Object.values(catalogue)) {
        const found = families.get(name);
        assert.deepEqual([name, found?.type, found?.help], [name, type.toUpperCase(), help]);
      }
    });

    test('so are the memory, the processor time and the delay of the event loop', async () => {
      const now = await scrape();
      for (const name of [
        'process_resident_memory_bytes',
        'nodejs_heap_size_used_bytes',
        'process_cpu_seconds_total',
        'nodejs_eventloop_lag_p99_seconds',
      ]) {
        assert.ok(now.number(name)! > 0, name);
      }
    });

    test('requests are counted by method, route and status, whatever way they went', async () => {
      const { authToken } = await bed.logIn();
      const before = await scrape();
      await bed.query('{folder{name}}', authToken);
      await bed.send('GET', '/graphql?query={folder{name}}', {
        headers: { authorization: `Bearer ${authToken}` },
      });
      await bed.query('{folder{name}}', 'a.b.c');
      await bed.send('GET', '/nothing');
      const name = catalogue.requests.name;
      for (const labels of [
        { method: 'POST', route: '/graphql', status: '200' },
        { method: 'GET', route: '/graphql', status: '200' },
        { method: 'POST', route: '/graphql', status: '401' },
        { method: 'GET', route: 'none', status: '404' },
      ]) {
        const counted = async () => (await scrape()).number(name, labels) ?? 0;
        const expected = (before.number(name, labels) ?? 0) + 1;
        await eventually(async () => (await counted()) === expected, `one more of ${JSON.stringify(labels)}`);
      }
    });

    test('logins, refreshes and replays are counted by their outcome', async () => {
      const before = await scrape();
      const grown = async (name: string, outcome: string) =>
        (await scrape()).number(name, { outcome })! - before.number(name, { outcome })!;
      const pair = await bed.logIn();
      await bed.post('/login', { ...administrator, password: 'wrong' });
      await bed.refresh(pair);
      await bed.refresh(pair);
      bed.clock.advanceSeconds(11);
      await bed.refresh(pair);
      assert.equal(await grown('espalier_logins_total', 'ok'), 1);
      assert.equal(await grown('espalier_logins_total', 'refused'), 1);
      assert.equal(await grown('espalier_refreshes_total', 'ok'), 1);
      await eventually(async () => (await grown('espalier_refreshes_total', 'refused')) === 2, 'both');
      assert.equal(await grown('espalier_refresh_token_replays_total', 'tolerated'), 1);
      assert.equal(await grown('espalier_refresh_token_replays_total', 'ended'), 1);
    });

    test('operations are counted with their price, and whether their text was known', async () => {
      const { authToken } = await bed.logIn();
      const before = await scrape();
      const query = '{folder{name title version}}';
      for (let times = 0; times < 3; times++) await bed.query(query, authToken);
      await bed.query('{nonsense', authToken);
      const after = await scrape();
      const grown = (name: string, labels = {}) => after.number(name, labels)! - before.number(name, labels)!;
      assert.equal(grown('espalier_documents_total', { result: 'hit' }), 2);
      assert.equal(grown('espalier_documents_total', { result: 'miss' }), 2);
      assert.equal(grown('espalier_query_price'), 3);
    });

    test('the journal, sockets and subscriptions are as they are', async () => {
      const { authToken } = await bed.logIn();
      const { number } = { number: (await scrape()).number('espalier_journal_head')! };
      const socket = await SocketClient.connect(bed.url, authToken);
      socket.start('1', 'subscription{folderChanges{kind}}');
      await eventually(async () => (await scrape()).number('espalier_subscriptions') === 1, 'it is open');
      assert.equal((await scrape()).number('espalier_sockets'), 1);
      await bed.query('mutation{createFolder(input:{name:"New"}){folder{id}}}', authToken);
      const now = await scrape();
      assert.equal(now.number('espalier_journal_head'), number + 1);
      await eventually(async () => (await scrape()).number('espalier_journal_lag_entries') === 0, 'seen');
      await socket.close();
      await eventually(async () => (await scrape()).number('espalier_sockets') === 0, 'it is closed');
    });

    test('what the database takes, its connections, and what is hashed', async () => {
      const now = await scrape();
      assert.ok(now.number('espalier_database_duration_seconds', { kind: 'statement' })! > 0);
      assert.ok(now.number('espalier_database_duration_seconds', { kind: 'commit' })! > 0);
      assert.ok(now.number('espalier_database_connections', { state: 'open' })! >= 2);
      assert.equal(now.number('espalier_database_waiting'), 0);
      assert.equal(now.number('espalier_password_hashes', { state: 'waiting' }), 0);
      assert.equal(now.number('espalier_ready'), 1);
      assert.equal(now.number('espalier_build_info', { version: '0.0.0-test' }), 1);
    });

    test('each check of /readyz?verbose is there, and what is free on the disk of an embedded database', async () => {
      const now = await scrape();
      for (const check of ['database', 'migrations', 'signing key', 'bus', 'disk']) {
        assert.equal(now.number('espalier_check_ok', { check }), 1, check);
      }
      assert.equal(now.number('espalier_check_ok', { check: 'backup' }), undefined);
      const free = now.number('espalier_database_disk_free_bytes');
      if (kind === sqlite) assert.ok(free! > 0);
      else assert.equal(free, undefined);
    });

    test('nothing of who asked for what is in it', async () => {
      const { authToken } = await bed.logIn();
      await bed.query('{folder(path: "/nowhere/at-all"){name}}', authToken);
      await bed.send('GET', '/nothing-at-all?secret=1');
      const text = await (await fetch(bed.metricsUrl!)).text();
      for (const word of ['admin', 'nowhere', 'nothing', 'secret', authToken]) {
        assert.ok(!text.includes(word), word);
      }
    });
  });
}

describe('the port of the metrics', () => {
  test('has nothing else, and takes GET and HEAD only', async () => {
    const bed = await Testbed.start(sqlite, { settings: { METRICS_PORT: '0' } });
    const url = new URL(bed.metricsUrl!);
    assert.equal((await fetch(new URL('/login', url))).status, 404);
    assert.equal((await fetch(new URL('/', url))).status, 404);
    const posted = await fetch(url, { method: 'POST', body: 'x' });
    assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD']);
    assert.equal((await fetch(url, { method: 'HEAD' })).status, 200);
    assert.equal((await fetch(`${url.href}?x=1`)).status, 200);
    assert.equal((await bed.send('GET', '/metrics')).status, 404);
    await bed.stop();
    await assert.rejects(fetch(url));
  });

  test('is not there unless it is asked for', async () => {
    const bed = await Testbed.start(sqlite);
    assert.equal(bed.metricsUrl, undefined);
    await bed.stop();
  });

  test('that is taken stops the start, and says what to change', async () => {
    const bed = await Testbed.start(sqlite, { settings: { METRICS_PORT: '0' } });
    const { port } = new URL(bed.metricsUrl!);
    await assert.rejects(Testbed.start(sqlite, { settings: { METRICS_PORT: port } }), {
      message: `Port ${port} on 127.0.0.1 is taken. Choose another with ESPALIER_METRICS_PORT or --metrics-port.`,
    });
    await bed.stop();
  });
});
