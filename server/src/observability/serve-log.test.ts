import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { readSettings } from '../config/config.ts';
import { serveLog, type ServeLog } from './log.ts';

const url = 'http://localhost:4000';
const environment = {
  ESPALIER_DATABASE_URL: 'postgres://tree:not-for-the-log@db.example/tree',
  ESPALIER_WORKERS: '2',
};
let folder: string;
let descriptor: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'espalier-test-'));
  descriptor = openSync(join(folder, 'log'), 'a');
});
afterEach(() => {
  closeSync(descriptor);
  rmSync(folder, { recursive: true });
});

function logLifecycle(serverLog: ServeLog): string {
  serverLog.warn(undefined);
  serverLog.warn('This is not safe.');
  serverLog.logStarted({ url, metricsUrl: undefined, version: '1.2.3' });
  serverLog.logStopping('SIGTERM');
  serverLog.logStopped();
  return readFileSync(join(folder, 'log'), 'utf8');
}

test('logs the start and the stop as JSON lines if standard error is not a terminal', () => {
  const { settings } = readSettings({ environment });
  const text = logLifecycle(serveLog(settings, descriptor, false));
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { time, pid, hostname, ...rest } = JSON.parse(line) as Record<string, unknown>;
      assert.ok(time && pid && hostname);
      return rest;
    });
  assert.deepEqual(lines, [
    { level: 40, msg: 'This is not safe.' },
    { level: 30, version: '1.2.3', url, database: 'postgresql', workers: 2, msg: 'started' },
    { level: 30, signal: 'SIGTERM', msg: 'stopping' },
    { level: 30, msg: 'stopped' },
  ]);
});

test('logs nothing below the log level', () => {
  const { settings } = readSettings({ environment: { ...environment, ESPALIER_LOG_LEVEL: 'error' } });
  assert.equal(logLifecycle(serveLog(settings, descriptor, false)), '');
});

test('prints only warnings as text on a terminal, at every log level', () => {
  const { settings } = readSettings({ environment: { ...environment, ESPALIER_LOG_LEVEL: 'error' } });
  const printed = mock.method(console, 'error', () => undefined);
  try {
    assert.equal(logLifecycle(serveLog(settings, descriptor, true)), '');
    assert.deepEqual(
      printed.mock.calls.map(({ arguments: texts }) => texts),
      [['warning: This is not safe.']],
    );
  } finally {
    printed.mock.restore();
  }
});
