import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LoadMonitor } from './overload.ts';

describe('a load monitor', () => {
  test('reports overload after three busy checks in a row, until a calm check', () => {
    const reported: boolean[] = [];
    const monitor = new LoadMonitor(({ isBehind }) => reported.push(isBehind));
    monitor.recordCpu(4_000);
    monitor.recordCpu(10_000);
    assert.equal(monitor.isBehind, false);
    monitor.recordCpu(3_000);
    assert.equal(monitor.isBehind, true);
    monitor.recordCpu(2_000);
    assert.equal(monitor.isBehind, true);
    monitor.recordCpu(900);
    assert.equal(monitor.isBehind, false);
    assert.deepEqual(reported, [true, false]);
  });

  test('reports no overload for single busy checks or a fully used core', () => {
    const monitor = new LoadMonitor();
    for (let count = 0; count < 100; count++) {
      monitor.recordCpu(30_000);
      monitor.recordCpu(8_000);
      monitor.recordCpu(1_000);
    }
    for (let count = 0; count < 100; count++) monitor.recordCpu(2_999);
    assert.equal(monitor.isBehind, false);
  });

  test('reports short memory until a garbage collection frees enough or several checks pass', () => {
    const monitor = new LoadMonitor();
    monitor.recordHeap(0.8);
    assert.equal(monitor.isMemoryShort, false);
    monitor.recordHeap(0.9);
    assert.equal(monitor.isMemoryShort, true);
    monitor.recordHeap(0.5);
    assert.equal(monitor.isMemoryShort, false);
    monitor.recordHeap(0.95);
    for (let count = 0; count < 5; count++) monitor.recordCpu(100);
    assert.equal(monitor.isMemoryShort, false);
  });

  test('measures the heap of this process after a garbage collection', async () => {
    const shares: number[] = [];
    const monitor = new LoadMonitor();
    monitor.recordHeap = (share) => void shares.push(share);
    const stop = monitor.start();
    const garbage: unknown[] = [];
    while (shares.length === 0) {
      for (let count = 0; count < 10_000; count++) garbage.push({ count });
      await new Promise(setImmediate);
    }
    stop();
    assert.ok(shares[0]! > 0 && shares[0]! < 1);
  });
});
