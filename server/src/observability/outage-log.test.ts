import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOutageLog } from './outage-log.ts';

test('logs an outage when it begins, then once a minute with the number of repetitions', () => {
  const lines: unknown[] = [];
  let now = 1_000_000;
  const log = { warn: (fields: object, message: string) => void lines.push([message, fields]) };
  const logOutage = createOutageLog(log as never, { now: () => now });
  const gone = new Error('connect ECONNREFUSED');

  for (const requestId of ['1', '2', '3']) logOutage('It cannot be used.', gone, { requestId });
  assert.deepEqual(lines.splice(0), [['It cannot be used.', { requestId: '1', err: gone }]]);
  const full = new Error('full');
  logOutage('It cannot be used.', full);
  assert.deepEqual(lines.splice(0), [['It cannot be used.', { err: full }]]);

  now += 59_999;
  logOutage('It cannot be used.', gone, { requestId: '4' });
  assert.deepEqual(lines, []);
  now += 1;
  logOutage('It cannot be used.', gone, { requestId: '5' });
  assert.deepEqual(lines.splice(0), [['It cannot be used.', { requestId: '5', err: gone, repeated: 3 }]]);
  now += 60_000;
  logOutage('It cannot be used.', gone);
  assert.deepEqual(lines.splice(0), [['It cannot be used.', { err: gone }]]);
  now -= 1_000_000;
  logOutage('It cannot be used.', gone);
  assert.equal(lines.length, 1);
});

test('remembers only a limited number of outages', () => {
  let lines = 0;
  const logOutage = createOutageLog({ warn: () => lines++ } as never, { now: () => 0 });
  for (let port = 0; port < 1_000; port++) logOutage('It is gone.', new Error(`port ${port}`));
  logOutage('It is gone.', new Error('port 0'));
  assert.equal(lines, 1_001);
});
