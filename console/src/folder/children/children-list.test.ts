import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rangeText, readChoice, sortedBy, variablesOf, writeChoice } from './children-list.ts';

const read = (query: string) => readChoice(new URLSearchParams(query));
const usual = { field: 'NAME', direction: 'ASC', text: '', page: 1 } as const;

test('what the address does not say is as usual, and so is what it says wrongly', () => {
  assert.deepEqual(read(''), usual);
  assert.deepEqual(read('order=size&direction=up&page=-3'), usual);
  assert.deepEqual(read('page=1e99'), usual);
});

test('a choice comes back from the address', () => {
  const choice = { field: 'UPDATED', direction: 'DESC', text: 'floor 2', page: 7 } as const;
  const written = Object.entries(writeChoice(choice)).map(([name, value]) => [name, value ?? '']);
  assert.deepEqual(readChoice(new URLSearchParams(written)), choice);
  assert.deepEqual(writeChoice(usual), { order: null, direction: null, text: null, page: null });
});

test('sorting by another column begins anew, by the same column turns', () => {
  const updated = sortedBy({ ...usual, page: 3 }, 'UPDATED');
  assert.deepEqual(updated, { ...usual, field: 'UPDATED', direction: 'DESC' });
  assert.equal(sortedBy(updated, 'UPDATED').direction, 'ASC');
  assert.equal(sortedBy(usual, 'NAME').direction, 'DESC');
});

test('a page is asked for by how many come before it', () => {
  assert.deepEqual(variablesOf({ ...usual, page: 3, text: 'a' }), {
    first: 50,
    skip: 100,
    filter: { nameContains: 'a' },
    orderBy: { field: 'NAME', direction: 'ASC' },
  });
});

test('the range of a page is told with the total', () => {
  assert.equal(rangeText(2, 50, 3000), '51–100 of 3,000');
  assert.equal(rangeText(1, 3, 3), '1–3 of 3');
  assert.equal(rangeText(9, 0, 3), 'None of 3 on this page');
  assert.equal(rangeText(1, 0, 0), 'None');
});
