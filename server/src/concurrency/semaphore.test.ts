import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createSemaphore } from './semaphore.ts';

test('runs as many jobs as it has permits, in the order of their arrival', async () => {
  const semaphore = createSemaphore(3);
  const startOrder: number[] = [];
  let running = 0;
  const jobs = Array.from({ length: 20 }, (_, number) =>
    semaphore.run(async () => {
      startOrder.push(number);
      assert.ok(++running <= 3);
      await setImmediate();
      running--;
    }),
  );
  assert.equal(semaphore.waiting, 17);
  await Promise.all(jobs);
  assert.deepEqual(startOrder, [...startOrder.keys()]);
  assert.equal(semaphore.running, 0);
});

test('passes the permit of a failed job to the next job', async () => {
  const semaphore = createSemaphore(1);
  const broken = new Error('broken');
  const failing = semaphore.run(() => Promise.reject(broken));
  const next = semaphore.run(() => Promise.resolve('done'));
  await assert.rejects(failing, broken);
  assert.equal(await next, 'done');
  assert.equal(semaphore.running, 0);
});
