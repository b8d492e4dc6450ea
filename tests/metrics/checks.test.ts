/** What a node lacks, as Prometheus is told it; one that cannot find out is not waited for. */

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Metrics, type MetricSources } from '../../server/src/observability/metrics.ts';

function watching(checkHealth: MetricSources['checkHealth']): Metrics {
  const metrics = new Metrics({ login: '/login', refresh: '/login/refresh' });
  metrics.collectFrom({
    build: { version: '1', database: 'sqlite' },
    isReady: () => Promise.resolve(true),
    checkHealth,
    passwords: { hashing: { running: 0, waiting: 0 } },
    database: { connections: () => ({ open: 2, busy: 0, waiting: 0 }) },
    backups: undefined,
    writeFailureReasons: [],
    open: { sockets: 0, subscriptions: 0, responses: { computed: 0, shared: 0 } },
    journal: { seen: () => 1, readHead: () => Promise.resolve(1) },
  });
  return metrics;
}

const told = async (metrics: Metrics) =>
  (await metrics.text()).split('\n').filter((line) => /^espalier_(ready|check_ok|database_disk)/.test(line));

test('a full disk is a check that fails while the node is ready, and a check that is gone is not told any more', async () => {
  let looks = 0;
  let checks = [
    { name: 'disk', isOk: false, freeBytes: 0 },
    { name: 'backup', isOk: true },
  ];
  const metrics = watching(() => {
    looks++;
    return Promise.resolve(checks);
  });
  assert.deepEqual(await told(metrics), [
    'espalier_check_ok{check="disk"} 0',
    'espalier_check_ok{check="backup"} 1',
    'espalier_database_disk_free_bytes 0',
    'espalier_ready 1',
  ]);
  assert.equal(looks, 1, 'one look serves all that a scrape tells');
  checks = [{ name: 'disk', isOk: true, freeBytes: 5e9 }];
  assert.deepEqual(await told(metrics), [
    'espalier_check_ok{check="disk"} 1',
    'espalier_database_disk_free_bytes 5000000000',
    'espalier_ready 1',
  ]);
});

test('checks that fail or never end leave a scrape without them, and with all the rest', async () => {
  assert.deepEqual(await told(watching(() => Promise.reject(new Error('no')))), ['espalier_ready 1']);
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const asked = told(watching(() => new Promise(() => undefined)));
    mock.timers.tick(1_750);
    assert.deepEqual(await asked, ['espalier_ready 1']);
  } finally {
    mock.timers.reset();
  }
});
