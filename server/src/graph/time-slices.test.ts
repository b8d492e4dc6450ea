import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { GraphQLResolveInfo } from 'graphql';
import type { Snapshot } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { FairScheduler } from '../concurrency/fair-scheduler.ts';
import {
  encode,
  completeInSlices,
  maxRowsPerSlice,
  SingleSlice,
  yieldingSnapshot,
  writeJson,
  type Task,
} from './time-slices.ts';
import type { Budget } from './cost/budget.ts';

/** Counts what is done between two yields, which end a piece. */
class Counter implements Task {
  yields = 0;
  readonly pendingReads = new Set<Promise<unknown>>();
  #rows = 0;
  largest = 0;

  yieldBefore(rows: number): Promise<void> | undefined {
    if (this.#rows === 0 || this.#rows + rows <= maxRowsPerSlice) {
      this.addRows(rows);
      return undefined;
    }
    this.#rows = 0;
    this.yields++;
    this.addRows(rows);
    return Promise.resolve();
  }

  addRows(rows: number): void {
    this.#rows += rows;
    this.largest = Math.max(this.largest, this.#rows);
  }

  pause(): void {}
  resume(): void {}
}

const statement = sql<object, { id: number }>`select 1`;

function snapshotOf(rows: number, onRead: () => void = () => undefined): Snapshot {
  return {
    isConsistent: true,
    isEmbedded: true,
    all: () => {
      onRead();
      return Array.from({ length: rows }, () => ({})) as never[];
    },
    get: () => undefined,
    end: () => undefined,
  };
}

describe('a paced snapshot', () => {
  test('reads at once as long as the piece is not over', () => {
    const reader = yieldingSnapshot(snapshotOf(1), new SingleSlice(new Counter()));
    assert.equal((reader.all(statement, {}) as unknown[]).length, 1);
  });

  test('waits before the statement that would make the piece too large', async () => {
    const counter = new Counter();
    let statements = 0;
    const reader = yieldingSnapshot(
      snapshotOf(0, () => void statements++),
      counter,
    );
    void reader.all(statement, {}, 1_500);
    const second = reader.all(statement, {}, 1_500);
    assert.equal(statements, 1, 'the second statement has not run');
    await second;
    assert.equal(statements, 2);
    assert.equal(counter.largest, 1_500);
  });

  test('counts rows that were not known before', () => {
    const task = new SingleSlice(new Counter());
    const reader = yieldingSnapshot(snapshotOf(maxRowsPerSlice), task);
    void reader.all(statement, {});
    assert.throws(() => reader.all(statement, {}));
    assert.ok(task.isExceeded);
  });
});

test('an answer of one piece reads nothing more once it is over', () => {
  let statements = 0;
  const task = new SingleSlice(new Counter());
  const reader = yieldingSnapshot(
    snapshotOf(0, () => void statements++),
    task,
  );
  assert.throws(() => reader.all(statement, {}, maxRowsPerSlice + 1));
  assert.throws(() => reader.all(statement, {}, 1));
  assert.equal(statements, 0);
});

describe('a long list', () => {
  const info = {} as GraphQLResolveInfo;
  const budgetOf = (values: number) => ({ valuesOfElement: () => values }) as unknown as Budget;

  test('is completed in portions of no more values than a piece may have', async () => {
    const counter = new Counter();
    const list = Array.from({ length: 1_000 }, (_, place) => place);
    const portions = completeInSlices(list, { task: counter, budget: budgetOf(10) }, info);
    const atOnce = portions.filter((each) => typeof each === 'number');
    assert.equal(atOnce.length, 200);
    assert.deepEqual(await Promise.all(portions.map(async (each) => each)), list);
    assert.ok(counter.largest <= maxRowsPerSlice, String(counter.largest));
    assert.equal(counter.yields, 4);
  });

  test('of a few elements is handed on as it is', () => {
    const context = { task: new SingleSlice(new Counter()), budget: budgetOf(10) };
    assert.deepEqual(completeInSlices([1, 2, 3], context, info), [1, 2, 3]);
  });
});

test('a large text is what JSON.stringify writes, in pieces', async () => {
  const leaf = (number: number) => ({ id: number, name: `"${number}"`, none: null, list: [] });
  const value = {
    empty: {},
    folder: { items: Array.from({ length: 3_000 }, (_, number) => leaf(number)), total: 3_000 },
    nested: Array.from({ length: 60 }, () => Array.from({ length: 60 }, (_, number) => leaf(number))),
  };
  const counter = new Counter();
  assert.equal(await writeJson(value, counter), JSON.stringify(value));
  assert.ok(counter.yields > 10);
  assert.ok(counter.largest <= maxRowsPerSlice, String(counter.largest));
});

test('a large text is encoded as Buffer.from does, in pieces', async () => {
  // Each step would end within a character of two code units.
  for (const start of ['', '-']) {
    const text = start + '🌳é'.repeat(400_000);
    const counter = new Counter();
    assert.ok((await encode(text, counter)).equals(Buffer.from(text)));
  }
  const halves = '\ud83c'.repeat(300_000);
  assert.ok((await encode(halves, new Counter())).equals(Buffer.from(halves)));
  const counter = new Counter();
  await encode('x'.repeat(10_000_000), counter);
  assert.ok(counter.yields > 1);
});

describe('the turns of long work', () => {
  /** Each round of the event loop is one step of the test. */
  function stepwise(options = {}) {
    const due: (() => void)[] = [];
    let ms = 0;
    const turns = new FairScheduler({
      defer: (resume) => void due.push(resume),
      now: () => ms,
      maxRows: 10,
      ...options,
    });
    const step = async () => {
      due.shift()?.();
      for (let microtask = 0; microtask < 20; microtask++) await Promise.resolve();
    };
    return { turns, step, spend: (more: number) => void (ms += more) };
  }

  /** Examines ten rows in each of so many steps. */
  const work = (order: string[], name: string, steps: number) => async (task: Task) => {
    for (let step = 0; step < steps; step++) {
      await task.yieldBefore(10);
      order.push(name);
    }
  };

  test('let another user begin between two pieces', async () => {
    const { turns, step, spend } = stepwise();
    const order: string[] = [];
    const spending = async (task: Task) => {
      for (let piece = 0; piece < 5; piece++) {
        await task.yieldBefore(10);
        order.push('anna');
        spend(5);
      }
    };
    const long = turns.schedule('anna', spending);
    for (let round = 0; order.length < 2; round++) await step();
    const short = turns.run('bert', () => void order.push('bert'));
    for (let round = 0; order.length < 6; round++) await step();
    await Promise.all([long, short]);
    assert.ok(order.indexOf('bert') <= 3, order.join());
  });

  test('end when the receiver is gone', async () => {
    const { turns, step } = stepwise();
    const order: string[] = [];
    const gone = new AbortController();
    const long = turns.schedule('anna', work(order, 'anna', 5), { signal: gone.signal });
    const failed = assert.rejects(long, /The client no longer waits/);
    for (let round = 0; order.length < 2; round++) await step();
    gone.abort();
    for (let round = 0; round < 20; round++) await step();
    await failed;
    assert.equal(order.length, 2);
    const never = turns.schedule('anna', () => void order.push('never'), { signal: gone.signal });
    const refused = assert.rejects(never, /The client no longer waits/);
    for (let round = 0; round < 20; round++) await step();
    await refused;
    assert.equal(order.length, 2);
  });

  test('are begun by one user only so many at a time, and by others all the same', async () => {
    const { turns, step } = stepwise({ maxRunning: 2 });
    const begun: string[] = [];
    const gate = Promise.withResolvers<void>();
    const hold = (name: string) => turns.run(name, () => (begun.push(name), gate.promise));
    const all = ['anna', 'anna', 'anna', 'anna', 'bert'].map(hold);
    for (let round = 0; round < 20; round++) await step();
    assert.deepEqual(begun, ['anna', 'anna', 'bert']);
    gate.resolve();
    for (let round = 0; round < 20; round++) await step();
    await Promise.all(all.map(async (each) => each));
    assert.equal(begun.length, 5);
  });
});
