import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  arrive,
  noArrivals,
  release,
  withArrivals,
  type Arrivals,
  type Numbered,
} from './journal-arrivals.ts';

const entries = (...numbers: number[]) => numbers.map((number) => ({ number }));
const numbers = (list: readonly Numbered[]) => list.map(({ number }) => number);
const none: Arrivals<Numbered> = noArrivals;

test('puts new entries above earlier ones', () => {
  const arrivals = arrive(arrive(none, entries(5, 6), false), entries(7), false);
  assert.deepEqual(numbers(arrivals.shown), [7, 6, 5]);
  assert.deepEqual(arrivals.held, []);
});

test('ignores entries that are repeated after a lost connection', () => {
  const arrivals = arrive(arrive(none, entries(5, 6), false), entries(5, 6, 7), false);
  assert.deepEqual(numbers(arrivals.shown), [7, 6, 5]);
  assert.equal(arrive(arrivals, entries(6, 7), false), arrivals);
});

test('holds entries while the user reads further down, and then shows them in order', () => {
  const held = arrive(arrive(arrive(none, entries(1), false), entries(2, 3), true), entries(4), true);
  assert.deepEqual([numbers(held.shown), numbers(held.held)], [[1], [4, 3, 2]]);
  assert.deepEqual(numbers(release(held).shown), [4, 3, 2, 1]);
  assert.deepEqual(numbers(arrive(held, entries(5), false).shown), [5, 4, 3, 2, 1]);
});

test('drops everything when too many entries have arrived', () => {
  const many = entries(...Array.from({ length: 5_000 }, (_, place) => place));
  const held = arrive(none, many, true);
  assert.ok(!held.isTooMany && held.held.length < 2_500);
  assert.deepEqual(release(held), { shown: [], held: [], isTooMany: true });
});

test('does not show an entry twice that has been read again since', () => {
  assert.deepEqual(numbers(withArrivals(entries(9, 8, 7), entries(8, 7, 6))), [9, 8, 7, 6]);
  assert.deepEqual(numbers(withArrivals(entries(9), [])), [9]);
});
