/** Health checks in the metrics. A scrape does not wait for a check that never ends. */

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Metrics, type MetricSources } from '../../server/src/observability/metrics.ts';

function createMetrics(checkHealth: MetricSources['checkHealth']): Metrics {
  const metrics = new Metrics({ login: '/login', refresh: '/login/refresh' });
  metrics.collectFrom({
    build: { version: '1', database: 'sqlite' },
    isReady: () => Promise.resolve(true),
    checkHealth,
    passwords: { hashing: { running: 0, waiting: 0 } },
    database: { connections: () => ({ open: 2, busy: 0, waiting: 0 }) },
    backups: undefined,
    activity: { sockets: 0, subscriptions: 0, responses: { computed: 0, shared: 0 } },
    readSizes: () => Promise.resolve({ folders: 3, users: 1, databaseBytes: 4_096 }),
    feed: { last: 1 },
    readHead: () => Promise.resolve(1),
  });
  return metrics;
}

const readChecks = async (metrics: Metrics) =>
  (await metrics.text()).split('\n').filter((line) => /^espalier_(ready|check_ok|database_disk)/.test(line));

test('a scrape reports a full disk as a failed check of a ready node', async () => {
  let checkCount = 0;
  let checks = [
    { name: 'disk', isOk: false, freeBytes: 0 },
    { name: 'backup', isOk: true },
  ];
  const metrics = createMetrics(() => {
    checkCount++;
    return Promise.resolve(checks);
  });
  assert.deepEqual(await readChecks(metrics), [
    'espalier_check_ok{check="disk"} 0',
    'espalier_check_ok{check="backup"} 1',
    'espalier_database_disk_free_bytes 0',
    'espalier_ready 1',
  ]);
  assert.equal(checkCount, 1, 'a scrape runs the checks once');
  checks = [{ name: 'disk', isOk: true, freeBytes: 5e9 }];
  assert.deepEqual(await readChecks(metrics), [
    'espalier_check_ok{check="disk"} 1',
    'espalier_database_disk_free_bytes 5000000000',
    'espalier_ready 1',
  ]);
});

test('a scrape omits checks that fail or never end, and contains the other metrics', async () => {
  assert.deepEqual(await readChecks(createMetrics(() => Promise.reject(new Error('no')))), [
    'espalier_ready 1',
  ]);
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const pendingChecks = readChecks(createMetrics(() => new Promise(() => undefined)));
    mock.timers.tick(1_750);
    assert.deepEqual(await pendingChecks, ['espalier_ready 1']);
  } finally {
    mock.timers.reset();
  }
});
