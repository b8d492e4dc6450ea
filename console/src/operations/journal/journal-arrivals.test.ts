import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addArrivals,
  noArrivals,
  releaseHeld,
  mergeArrivals,
  type Arrivals,
  type Numbered,
} from './journal-arrivals.ts';

const entries = (...numbers: number[]) => numbers.map((number) => ({ number }));
const numbers = (list: readonly Numbered[]) => list.map(({ number }) => number);
const emptyArrivals: Arrivals<Numbered> = noArrivals;

test('puts new entries above earlier ones', () => {
  const arrivals = addArrivals(addArrivals(emptyArrivals, entries(5, 6), false), entries(7), false);
  assert.deepEqual(numbers(arrivals.visibleEntries), [7, 6, 5]);
  assert.deepEqual(arrivals.heldEntries, []);
});

test('ignores entries that are repeated after a lost connection', () => {
  const arrivals = addArrivals(addArrivals(emptyArrivals, entries(5, 6), false), entries(5, 6, 7), false);
  assert.deepEqual(numbers(arrivals.visibleEntries), [7, 6, 5]);
  assert.equal(addArrivals(arrivals, entries(6, 7), false), arrivals);
});

test('holds entries in order while the user reads further down', () => {
  const arrivals = addArrivals(
    addArrivals(addArrivals(emptyArrivals, entries(1), false), entries(2, 3), true),
    entries(4),
    true,
  );
  assert.deepEqual([numbers(arrivals.visibleEntries), numbers(arrivals.heldEntries)], [[1], [4, 3, 2]]);
  assert.deepEqual(numbers(releaseHeld(arrivals).visibleEntries), [4, 3, 2, 1]);
  assert.deepEqual(numbers(addArrivals(arrivals, entries(5), false).visibleEntries), [5, 4, 3, 2, 1]);
});

test('drops everything when too many entries have arrived', () => {
  const manyEntries = entries(...Array.from({ length: 5_000 }, (_, index) => index));
  const arrivals = addArrivals(emptyArrivals, manyEntries, true);
  assert.ok(!arrivals.isTooMany && arrivals.heldEntries.length < 2_500);
  assert.deepEqual(releaseHeld(arrivals), { visibleEntries: [], heldEntries: [], isTooMany: true });
});

test('shows an entry once if a page also contains it', () => {
  assert.deepEqual(numbers(mergeArrivals(entries(9, 8, 7), entries(8, 7, 6))), [9, 8, 7, 6]);
  assert.deepEqual(numbers(mergeArrivals(entries(9), [])), [9]);
});
