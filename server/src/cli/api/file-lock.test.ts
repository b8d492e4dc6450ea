import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { systemClock } from '../../clock.ts';
import { FileLock } from './file-lock.ts';

/** Larger than every process id. */
const noProcess = 2 ** 22 + 1;

function newLock(t: TestContext): { path: string; lock: FileLock } {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-lock-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'a/lock');
  return { path, lock: new FileLock(path, systemClock) };
}

test('runs one job at a time, even after a job fails, and removes the lock file', async (t) => {
  const { path, lock } = newLock(t);
  let holders = 0;
  const work = async (number: number) => {
    assert.equal(++holders, 1);
    await new Promise(setImmediate);
    holders--;
    if (number % 2) throw new Error('of the work');
    return number;
  };
  const all = await Promise.allSettled([0, 1, 2, 3, 4].map((number) => lock.hold(() => work(number))));
  assert.deepEqual(
    all.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
  );
  assert.ok(!existsSync(path));
});

test('lets one waiting process take over the lock of a killed process', async (t) => {
  const { path, lock } = newLock(t);
  await lock.hold(() => Promise.resolve());
  writeFileSync(path, `${noProcess} ${hostname()}\n`);
  let holders = 0;
  await Promise.all(
    [1, 2, 3].map(() =>
      lock.hold(async () => {
        assert.equal(++holders, 1);
        await new Promise(setImmediate);
        holders--;
      }),
    ),
  );
});

test('waits for a lock from another machine until it is stale', async (t) => {
  const { path, lock } = newLock(t);
  await lock.hold(() => Promise.resolve());
  writeFileSync(path, `${noProcess} elsewhere\n`);
  let isHeld = false;
  const held = lock.hold(() => Promise.resolve((isHeld = true)));
  for (let round = 0; round < 10; round++) await new Promise(setImmediate);
  assert.ok(!isHeld);
  utimesSync(path, 0, 0);
  await held;
});
