import assert from 'node:assert/strict';
import { test } from 'node:test';
import { singleFlight } from './single-flight.ts';

test('shares one call between concurrent callers only', async () => {
  let calls = 0;
  const read = singleFlight(() => Promise.resolve(++calls));
  assert.deepEqual(await Promise.all([read(), read(), read()]), [1, 1, 1]);
  assert.equal(await read(), 2);
});

test('caches the result for the configured time', async () => {
  let calls = 0;
  const read = singleFlight(() => Promise.resolve(++calls), 60_000);
  assert.deepEqual([await read(), await read()], [1, 1]);
});

test('passes a failure only to the callers that share the call', async () => {
  let isBroken = true;
  const read = singleFlight(() => (isBroken ? Promise.reject(new Error('no')) : Promise.resolve('yes')));
  await Promise.all([assert.rejects(read()), assert.rejects(read())]);
  isBroken = false;
  assert.equal(await read(), 'yes');
});
