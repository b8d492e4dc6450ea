import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOptions, sortBy, toVariables, writeOptions } from './children-list.ts';

const read = (query: string) => readOptions(new URLSearchParams(query));
const defaults = { field: 'NAME', direction: 'ASC', text: '', page: 1 } as const;

test('uses defaults for missing and invalid parameters in the address', () => {
  assert.deepEqual(read(''), defaults);
  assert.deepEqual(read('order=size&direction=up&page=-3'), defaults);
  assert.deepEqual(read('page=1e99'), defaults);
});

test('reads the options that it wrote to the address', () => {
  const options = { field: 'UPDATED', direction: 'DESC', text: 'floor 2', page: 7 } as const;
  const written = Object.entries(writeOptions(options)).map(([name, value]) => [name, value ?? '']);
  assert.deepEqual(readOptions(new URLSearchParams(written)), options);
  assert.deepEqual(writeOptions(defaults), { order: null, direction: null, text: null, page: null });
});

test('reverses the order when the same column is chosen again', () => {
  const updated = sortBy({ ...defaults, page: 3 }, 'UPDATED');
  assert.deepEqual(updated, { ...defaults, field: 'UPDATED', direction: 'DESC' });
  assert.equal(sortBy(updated, 'UPDATED').direction, 'ASC');
  assert.equal(sortBy(defaults, 'NAME').direction, 'DESC');
});

test('converts a page to the number of folders to skip', () => {
  assert.deepEqual(toVariables({ ...defaults, page: 3, text: 'a' }), {
    first: 50,
    skip: 100,
    filter: { nameContains: 'a' },
    orderBy: { field: 'NAME', direction: 'ASC' },
  });
});
