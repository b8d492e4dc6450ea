import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LoadMonitor } from './overload.ts';

test('a process is behind after three looks with seconds of its own work each, until there is little', () => {
  const told: boolean[] = [];
  const watch = new LoadMonitor(({ isBehind }) => told.push(isBehind));
  watch.recordCpu(4_000);
  watch.recordCpu(10_000);
  assert.equal(watch.isBehind, false);
  watch.recordCpu(3_000);
  assert.equal(watch.isBehind, true);
  watch.recordCpu(2_000);
  assert.equal(watch.isBehind, true);
  watch.recordCpu(900);
  assert.equal(watch.isBehind, false);
  assert.deepEqual(told, [true, false]);
});

test('a single long round, or a core that is just busy, is not being behind', () => {
  const watch = new LoadMonitor();
  for (let count = 0; count < 100; count++) {
    watch.recordCpu(30_000);
    watch.recordCpu(8_000);
    watch.recordCpu(1_000);
  }
  for (let count = 0; count < 100; count++) watch.recordCpu(2_999);
  assert.equal(watch.isBehind, false);
});

test('memory is short for some looks after a collection that left little, or until one that left more', () => {
  const watch = new LoadMonitor();
  watch.recordHeap(0.8);
  assert.equal(watch.isMemoryShort, false);
  watch.recordHeap(0.9);
  assert.equal(watch.isMemoryShort, true);
  watch.recordHeap(0.5);
  assert.equal(watch.isMemoryShort, false);
  watch.recordHeap(0.95);
  for (let count = 0; count < 5; count++) watch.recordCpu(100);
  assert.equal(watch.isMemoryShort, false);
});

test('it looks at this process by itself', async () => {
  const seen: number[] = [];
  const watch = new LoadMonitor();
  watch.recordHeap = (share) => void seen.push(share);
  const stop = watch.start();
  const kept: unknown[] = [];
  while (seen.length === 0) {
    for (let count = 0; count < 10_000; count++) kept.push({ count });
    await new Promise(setImmediate);
  }
  stop();
  assert.ok(seen[0]! > 0 && seen[0]! < 1);
});
