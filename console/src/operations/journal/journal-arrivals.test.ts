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
const none: Arrivals<Numbered> = noArrivals;

test('puts new entries above earlier ones', () => {
  const arrivals = addArrivals(addArrivals(none, entries(5, 6), false), entries(7), false);
  assert.deepEqual(numbers(arrivals.visible), [7, 6, 5]);
  assert.deepEqual(arrivals.held, []);
});

test('ignores entries that are repeated after a lost connection', () => {
  const arrivals = addArrivals(addArrivals(none, entries(5, 6), false), entries(5, 6, 7), false);
  assert.deepEqual(numbers(arrivals.visible), [7, 6, 5]);
  assert.equal(addArrivals(arrivals, entries(6, 7), false), arrivals);
});

test('holds entries while the user reads further down, and then shows them in order', () => {
  const held = addArrivals(
    addArrivals(addArrivals(none, entries(1), false), entries(2, 3), true),
    entries(4),
    true,
  );
  assert.deepEqual([numbers(held.visible), numbers(held.held)], [[1], [4, 3, 2]]);
  assert.deepEqual(numbers(releaseHeld(held).visible), [4, 3, 2, 1]);
  assert.deepEqual(numbers(addArrivals(held, entries(5), false).visible), [5, 4, 3, 2, 1]);
});

test('drops everything when too many entries have arrived', () => {
  const many = entries(...Array.from({ length: 5_000 }, (_, index) => index));
  const held = addArrivals(none, many, true);
  assert.ok(!held.isTooMany && held.held.length < 2_500);
  assert.deepEqual(releaseHeld(held), { visible: [], held: [], isTooMany: true });
});

test('shows an entry once even if a page that was read again contains it', () => {
  assert.deepEqual(numbers(mergeArrivals(entries(9, 8, 7), entries(8, 7, 6))), [9, 8, 7, 6]);
  assert.deepEqual(numbers(mergeArrivals(entries(9), [])), [9]);
});
