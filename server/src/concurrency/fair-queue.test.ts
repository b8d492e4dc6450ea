import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { FairQueue, type FairQueueOptions, type QueueEntry } from './fair-queue.ts';

class QueueFullError extends Error {}

/** A queue with jobs that end only when the test finishes them. */
class ManualJobs {
  readonly queue: FairQueue;
  /** The names of the jobs, in the order in which they started. */
  readonly startOrder: string[] = [];
  readonly outcomes = new Map<string, string>();
  readonly #finish: (() => void)[] = [];

  constructor(options: Partial<FairQueueOptions> = {}) {
    const defaults = {
      permits: 1,
      maxWaiting: 100,
      maxWaitingPerKey: 100,
      fullError: () => new QueueFullError(),
    };
    this.queue = new FairQueue({ ...defaults, ...options });
  }

  add(name: string, entry: QueueEntry): void {
    const work = () => {
      this.startOrder.push(name);
      return new Promise<void>((resolve) => this.#finish.push(resolve));
    };
    const settle = (outcome: string) => void this.outcomes.set(name, outcome);
    this.queue.run(entry, work).then(
      () => settle('done'),
      (error: unknown) => settle(error instanceof QueueFullError ? 'full' : String(error)),
    );
  }

  addMany(count: number, entry: QueueEntry): void {
    for (let number = 1; number <= count; number++) {
      this.add(`${entry.key}${entry.subkey ?? ''}${number}`, entry);
    }
  }

  /** Ends the job that has run longest. */
  async finishOne(): Promise<void> {
    this.#finish.shift()!();
    await setImmediate();
  }

  async finishAll(): Promise<void> {
    while (this.#finish.length > 0) await this.finishOne();
  }
}

describe('a fair queue', () => {
  test('serves a new key next, ahead of 64 waiting jobs of another key', async () => {
    const jobs = new ManualJobs();
    jobs.addMany(65, { key: 'a' });
    jobs.add('other', { key: 'b' });
    await jobs.finishOne();
    assert.deepEqual(jobs.startOrder, ['a1', 'other']);
    await jobs.finishAll();
    assert.equal(jobs.outcomes.size, 66);
  });

  test('serves keys in turn and the jobs of one key in order', async () => {
    const jobs = new ManualJobs();
    for (const key of ['a', 'b', 'c']) jobs.addMany(3, { key });
    await jobs.finishAll();
    assert.deepEqual(jobs.startOrder, ['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3', 'b3', 'c3']);
  });

  test('alternates between the subkeys of one key without giving that key more permits', async () => {
    const jobs = new ManualJobs();
    for (const subkey of ['x', 'y']) jobs.addMany(3, { key: 'a', subkey });
    jobs.addMany(2, { key: 'b' });
    await jobs.finishAll();
    assert.deepEqual(jobs.startOrder, ['ax1', 'b1', 'ay1', 'b2', 'ax2', 'ay2', 'ax3', 'ay3']);
  });

  test('does not starve a waiting key while new keys keep arriving', async () => {
    const jobs = new ManualJobs();
    jobs.addMany(2, { key: 'a' });
    for (let number = 1; number <= 3; number++) {
      jobs.add(`new ${number}`, { key: `new ${number}` });
      await jobs.finishOne();
    }
    assert.deepEqual(jobs.startOrder, ['a1', 'new 1', 'a2', 'new 2']);
    await jobs.finishAll();
  });

  test('runs as many jobs as it has permits, and counts them', async () => {
    const jobs = new ManualJobs({ permits: 3 });
    jobs.addMany(4, { key: 'a' });
    jobs.add('other', { key: 'b' });
    assert.deepEqual([jobs.queue.running, jobs.queue.waiting], [3, 2]);
    await jobs.finishOne();
    assert.deepEqual(jobs.startOrder, ['a1', 'a2', 'a3', 'other']);
    await jobs.finishAll();
    assert.deepEqual([jobs.queue.running, jobs.queue.waiting], [0, 0]);
  });

  test('refuses a job only if its key has too many waiting jobs', async () => {
    const jobs = new ManualJobs({ maxWaitingPerKey: 2 });
    jobs.addMany(4, { key: 'a' });
    jobs.add('other', { key: 'b' });
    await setImmediate();
    assert.deepEqual([...jobs.outcomes], [['a4', 'full']]);
    await jobs.finishAll();
    assert.equal(jobs.outcomes.get('other'), 'done');
  });

  test('makes room for another key by dropping the newest job of the longest queue', async () => {
    const jobs = new ManualJobs({ maxWaiting: 4 });
    jobs.addMany(4, { key: 'a', subkey: 'x' });
    jobs.add('ay1', { key: 'a', subkey: 'y' });
    jobs.add('other', { key: 'b' });
    await setImmediate();
    assert.deepEqual([...jobs.outcomes], [['ax4', 'full']]);
    assert.equal(jobs.queue.waiting, 4);
    await jobs.finishAll();
    assert.deepEqual(jobs.startOrder, ['ax1', 'other', 'ay1', 'ax2', 'ax3']);
  });

  test('never drops the only waiting job of a key', async () => {
    const jobs = new ManualJobs({ maxWaiting: 2 });
    for (const key of ['a', 'b', 'c', 'd']) jobs.add(key, { key });
    await setImmediate();
    assert.deepEqual([...jobs.outcomes], [['d', 'full']]);
    await jobs.finishAll();
    assert.deepEqual(jobs.startOrder, ['a', 'b', 'c']);
  });

  test('removes a waiting job when its signal aborts, but does not interrupt a running job', async () => {
    const jobs = new ManualJobs();
    const abort = new AbortController();
    const { signal } = abort;
    jobs.add('running', { key: 'a', signal });
    jobs.add('waiting', { key: 'a', signal });
    jobs.add('other', { key: 'b' });
    abort.abort('gone');
    await setImmediate();
    assert.deepEqual([...jobs.outcomes], [['waiting', 'gone']]);
    jobs.add('late', { key: 'a', signal });
    await jobs.finishAll();
    assert.deepEqual(jobs.startOrder, ['running', 'other']);
    assert.deepEqual(Object.fromEntries(jobs.outcomes), {
      waiting: 'gone',
      late: 'gone',
      running: 'done',
      other: 'done',
    });
    assert.deepEqual([jobs.queue.running, jobs.queue.waiting], [0, 0]);
  });

  test('passes the permit on when a job fails, even if it throws synchronously', async () => {
    const jobs = new ManualJobs();
    const broken = new Error('broken');
    const failing = jobs.queue.run({ key: 'a' }, () => Promise.reject(broken));
    const throwing = jobs.queue.run({ key: 'a' }, () => {
      throw broken;
    });
    const next = jobs.queue.run({ key: 'a' }, () => 'done');
    await assert.rejects(failing, broken);
    await assert.rejects(throwing, broken);
    assert.equal(await next, 'done');
    assert.equal(jobs.queue.running, 0);
  });
});
