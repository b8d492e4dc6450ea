import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOutageLog } from './outage-log.ts';

test('a trouble is told when it begins, then once a minute with how often it was met', () => {
  const lines: unknown[] = [];
  let now = 1_000_000;
  const log = { warn: (facts: object, message: string) => void lines.push([message, facts]) };
  const note = createOutageLog(log as never, { now: () => now });
  const gone = new Error('connect ECONNREFUSED');

  for (const requestId of ['1', '2', '3']) note('It cannot be used.', gone, { requestId });
  assert.deepEqual(lines.splice(0), [['It cannot be used.', { requestId: '1', err: gone }]]);
  const full = new Error('full');
  note('It cannot be used.', full);
  assert.deepEqual(lines.splice(0), [['It cannot be used.', { err: full }]]);

  now += 59_999;
  note('It cannot be used.', gone, { requestId: '4' });
  assert.deepEqual(lines, []);
  now += 1;
  note('It cannot be used.', gone, { requestId: '5' });
  assert.deepEqual(lines.splice(0), [['It cannot be used.', { requestId: '5', err: gone, repeated: 3 }]]);
  now += 60_000;
  note('It cannot be used.', gone);
  assert.deepEqual(lines.splice(0), [['It cannot be used.', { err: gone }]]);
  now -= 1_000_000;
  note('It cannot be used.', gone);
  assert.equal(lines.length, 1);
});

test('however many kinds there are, few are remembered', () => {
  let lines = 0;
  const note = createOutageLog({ warn: () => lines++ } as never, { now: () => 0 });
  for (let port = 0; port < 1_000; port++) note('It is gone.', new Error(`port ${port}`));
  note('It is gone.', new Error('port 0'));
  assert.equal(lines, 1_001);
});
