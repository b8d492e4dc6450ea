import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createPlaces } from './places.ts';

test('no more run at once than there are places, and all get their turn in the order of asking', async () => {
  const places = createPlaces(3);
  const begun: number[] = [];
  let running = 0;
  const work = Array.from({ length: 20 }, (_, number) =>
    places.use(async () => {
      begun.push(number);
      assert.ok(++running <= 3);
      await setImmediate();
      running--;
    }),
  );
  assert.equal(places.waiting, 17);
  await Promise.all(work);
  assert.deepEqual(begun, [...begun.keys()]);
  assert.equal(places.taken, 0);
});

test('a place whose work fails goes to the next', async () => {
  const places = createPlaces(1);
  const broken = new Error('broken');
  const failing = places.use(() => Promise.reject(broken));
  const next = places.use(() => Promise.resolve('done'));
  await assert.rejects(failing, broken);
  assert.equal(await next, 'done');
  assert.equal(places.taken, 0);
});
