/** The metrics of a node for Prometheus, on both databases. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { catalog } from '../../server/src/observability/metric-catalog.ts';
import { databaseKinds, sqlite } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { SocketClient } from '../live/socket-client.ts';
import { administrator, Testbed } from '../support/testbed.ts';
import { Scrape } from './scrape.ts';

for (const kind of databaseKinds) {
  describe(`metrics on ${kind.name}`, () => {
    let testbed: Testbed;
    before(async () => {
      testbed = await Testbed.start(kind, { settings: { METRICS_PORT: '0', REUSE_TOLERANCE_SECONDS: '10' } });
    });
    after(() => testbed.stop());
    const scrape = () => Scrape.of(testbed.metricsUrl!);

    test('contain each metric of the catalog with its type and help', async () => {
      const { families } = await scrape();
      for (const { name, type, help } of Object.values(catalog)) {
        const family = families.get(name);
        assert.deepEqual([name, family?.type, family?.help], [name, type.toUpperCase(), help]);
      }
    });

    test('contain memory, processor time and the event loop delay', async () => {
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

    test('count requests by method, route and status', async () => {
      const { authToken } = await testbed.logIn();
      const before = await scrape();
      await testbed.query('{folder{name}}', authToken);
      await testbed.send('GET', '/graphql?query={folder{name}}', {
        headers: { authorization: `Bearer ${authToken}` },
      });
      await testbed.query('{folder{name}}', 'a.b.c');
      await testbed.send('GET', '/nothing');
      const name = catalog.requests.name;
      for (const labels of [
        { method: 'POST', route: '/graphql', status: '200' },
        { method: 'GET', route: '/graphql', status: '200' },
        { method: 'POST', route: '/graphql', status: '401' },
        { method: 'GET', route: 'none', status: '404' },
      ]) {
        const readCount = async () => (await scrape()).number(name, labels) ?? 0;
        const expected = (before.number(name, labels) ?? 0) + 1;
        await eventually(
          async () => (await readCount()) === expected,
          `one more of ${JSON.stringify(labels)}`,
        );
      }
    });

    test('count logins, refreshes and replays by outcome', async () => {
      const before = await scrape();
      const readIncrease = async (name: string, outcome: string) =>
        (await scrape()).number(name, { outcome })! - before.number(name, { outcome })!;
      const tokens = await testbed.logIn();
      await testbed.post('/login', { ...administrator, password: 'wrong' });
      await testbed.refresh(tokens);
      await testbed.refresh(tokens);
      testbed.clock.advanceSeconds(11);
      await testbed.refresh(tokens);
      assert.equal(await readIncrease('espalier_logins_total', 'ok'), 1);
      assert.equal(await readIncrease('espalier_logins_total', 'refused'), 1);
      assert.equal(await readIncrease('espalier_refreshes_total', 'ok'), 1);
      await eventually(
        async () => (await readIncrease('espalier_refreshes_total', 'refused')) === 2,
        'both refusals are counted',
      );
      assert.equal(await readIncrease('espalier_refresh_token_replays_total', 'tolerated'), 1);
      assert.equal(await readIncrease('espalier_refresh_token_replays_total', 'ended'), 1);
    });

    test('count operations with their cost and whether their document was cached', async () => {
      const { authToken } = await testbed.logIn();
      const before = await scrape();
      const query = '{folder{name title version}}';
      for (let times = 0; times < 3; times++) await testbed.query(query, authToken);
      await testbed.query('{nonsense', authToken);
      const after = await scrape();
      const grown = (name: string, labels = {}) => after.number(name, labels)! - before.number(name, labels)!;
      assert.equal(grown('espalier_documents_total', { result: 'hit' }), 2);
      assert.equal(grown('espalier_documents_total', { result: 'miss' }), 2);
      assert.equal(grown('espalier_query_cost'), 3);
    });

    test('contain the current numbers of journal entries, sockets and subscriptions', async () => {
      const { authToken } = await testbed.logIn();
      const { number } = { number: (await scrape()).number('espalier_journal_head')! };
      const socket = await SocketClient.connect(testbed.url, authToken);
      socket.start('1', 'subscription{folderChanges{kind}}');
      await eventually(
        async () => (await scrape()).number('espalier_subscriptions') === 1,
        'the subscription is open',
      );
      assert.equal((await scrape()).number('espalier_sockets'), 1);
      await testbed.query('mutation{createFolder(input:{name:"New"}){folder{id}}}', authToken);
      const now = await scrape();
      assert.equal(now.number('espalier_journal_head'), number + 1);
      await eventually(
        async () => (await scrape()).number('espalier_journal_lag_entries') === 0,
        'the node has read the whole journal',
      );
      await socket.close();
      await eventually(async () => (await scrape()).number('espalier_sockets') === 0, 'the socket is closed');
    });

    test('contain database durations, connections and password hashes', async () => {
      const now = await scrape();
      assert.ok(now.number('espalier_database_duration_seconds', { kind: 'statement' })! > 0);
      assert.ok(now.number('espalier_database_duration_seconds', { kind: 'commit' })! > 0);
      assert.ok(now.number('espalier_database_connections', { state: 'open' })! >= 2);
      assert.equal(now.number('espalier_database_waiting'), 0);
      assert.equal(now.number('espalier_password_hashes', { state: 'waiting' }), 0);
      assert.equal(now.number('espalier_ready'), 1);
      assert.equal(now.number('espalier_build_info', { version: '0.0.0-test' }), 1);
    });

    test('contain each check of /readyz?verbose, and the free disk space of an embedded database', async () => {
      const now = await scrape();
      for (const check of ['database', 'migrations', 'signing key', 'notifications', 'disk']) {
        assert.equal(now.number('espalier_check_ok', { check }), 1, check);
      }
      assert.equal(now.number('espalier_check_ok', { check: 'backup' }), undefined);
      const free = now.number('espalier_database_disk_free_bytes');
      if (kind === sqlite) assert.ok(free! > 0);
      else assert.equal(free, undefined);
    });

    test('contain no data of users or their requests', async () => {
      const { authToken } = await testbed.logIn();
      await testbed.query('{folder(path: "/nowhere/at-all"){name}}', authToken);
      await testbed.send('GET', '/nothing-at-all?secret=1');
      const text = await (await fetch(testbed.metricsUrl!)).text();
      for (const word of ['admin', 'nowhere', 'nothing', 'secret', authToken]) {
        assert.ok(!text.includes(word), word);
      }
    });
  });
}

describe('the metrics port', () => {
  test('serves only the metrics, and accepts only GET and HEAD', async () => {
    const testbed = await Testbed.start(sqlite, { settings: { METRICS_PORT: '0' } });
    const url = new URL(testbed.metricsUrl!);
    assert.equal((await fetch(new URL('/login', url))).status, 404);
    assert.equal((await fetch(new URL('/', url))).status, 404);
    const postResponse = await fetch(url, { method: 'POST', body: 'x' });
    assert.deepEqual([postResponse.status, postResponse.headers.get('allow')], [405, 'GET, HEAD']);
    assert.equal((await fetch(url, { method: 'HEAD' })).status, 200);
    assert.equal((await fetch(`${url.href}?x=1`)).status, 200);
    assert.equal((await testbed.send('GET', '/metrics')).status, 404);
    await testbed.stop();
    await assert.rejects(fetch(url));
  });

  test('is closed unless it is configured', async () => {
    const testbed = await Testbed.start(sqlite);
    assert.equal(testbed.metricsUrl, undefined);
    await testbed.stop();
  });

  test('prevents the start if it is in use, and suggests a fix', async () => {
    const testbed = await Testbed.start(sqlite, { settings: { METRICS_PORT: '0' } });
    const { port } = new URL(testbed.metricsUrl!);
    await assert.rejects(Testbed.start(sqlite, { settings: { METRICS_PORT: port } }), {
      message: `Port ${port} on 127.0.0.1 is used by another web server. Stop it, or choose another port with ESPALIER_METRICS_PORT or --metrics-port.`,
    });
    await testbed.stop();
  });
});
