import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { GraphQLResolveInfo } from 'graphql';
import type { Snapshot } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { maxRowsPerSlice, type Task } from '../concurrency/fair-scheduler.ts';
import { completeInSlices, encode, SingleSlice, writeJson, yieldingSnapshot } from './time-slices.ts';
import type { Budget } from './cost/budget.ts';

/** A task that yields after each slice and records the rows of the largest slice. */
class CountingTask implements Task {
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

describe('a yielding snapshot', () => {
  test('reads synchronously while the slice has room', () => {
    const reader = yieldingSnapshot(snapshotOf(1), new SingleSlice(new CountingTask()));
    assert.equal((reader.all(statement, {}) as unknown[]).length, 1);
  });

  test('yields before a statement that would exceed the slice', async () => {
    const task = new CountingTask();
    let statements = 0;
    const reader = yieldingSnapshot(
      snapshotOf(0, () => void statements++),
      task,
    );
    void reader.all(statement, {}, 1_500);
    const second = reader.all(statement, {}, 1_500);
    assert.equal(statements, 1, 'the second statement has not run');
    await second;
    assert.equal(statements, 2);
    assert.equal(task.largest, 1_500);
  });

  test('counts rows that a statement returns beyond its estimate', () => {
    const task = new SingleSlice(new CountingTask());
    const reader = yieldingSnapshot(snapshotOf(maxRowsPerSlice), task);
    void reader.all(statement, {});
    assert.throws(() => reader.all(statement, {}));
    assert.ok(task.isExceeded);
  });
});

test('rejects all reads of a single slice after the slice is exceeded', () => {
  let statements = 0;
  const task = new SingleSlice(new CountingTask());
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

  test('is completed in slices of limited size', async () => {
    const task = new CountingTask();
    const list = Array.from({ length: 1_000 }, (_, index) => index);
    const elements = completeInSlices(list, { task, budget: budgetOf(10) }, info);
    const atOnce = elements.filter((each) => typeof each === 'number');
    assert.equal(atOnce.length, 200);
    assert.deepEqual(await Promise.all(elements.map(async (each) => each)), list);
    assert.ok(task.largest <= maxRowsPerSlice, String(task.largest));
    assert.equal(task.yields, 4);
  });

  test('is returned unchanged if it fits into one slice', () => {
    const context = { task: new SingleSlice(new CountingTask()), budget: budgetOf(10) };
    assert.deepEqual(completeInSlices([1, 2, 3], context, info), [1, 2, 3]);
  });
});

test('writes a large value in slices, with the result of JSON.stringify()', async () => {
  const leaf = (number: number) => ({ id: number, name: `"${number}"`, none: null, list: [] });
  const value = {
    empty: {},
    folder: { items: Array.from({ length: 3_000 }, (_, number) => leaf(number)), total: 3_000 },
    nested: Array.from({ length: 60 }, () => Array.from({ length: 60 }, (_, number) => leaf(number))),
  };
  const task = new CountingTask();
  assert.equal(await writeJson(value, task), JSON.stringify(value));
  assert.ok(task.yields > 10);
  assert.ok(task.largest <= maxRowsPerSlice, String(task.largest));
});

test('encodes a large text in slices, with the result of Buffer.from()', async () => {
  // Each step would end between the halves of a surrogate pair.
  for (const start of ['', '-']) {
    const text = start + '🌳é'.repeat(400_000);
    const task = new CountingTask();
    assert.ok((await encode(text, task)).equals(Buffer.from(text)));
  }
  const halves = '\ud83c'.repeat(300_000);
  assert.ok((await encode(halves, new CountingTask())).equals(Buffer.from(halves)));
  const task = new CountingTask();
  await encode('x'.repeat(10_000_000), task);
  assert.ok(task.yields > 1);
});
