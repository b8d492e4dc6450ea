import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAllPages } from './pages.ts';

test('reads all pages of a list, each after the cursor of the page before', async () => {
  const pages = [
    { items: ['a', 'b'], pageInfo: { hasNextPage: true, endCursor: 'b' } },
    { items: ['c'], pageInfo: { hasNextPage: false, endCursor: 'c' } },
  ];
  const cursors: (string | null)[] = [];
  const items = await readAllPages((after) => {
    cursors.push(after);
    return Promise.resolve(pages[cursors.length - 1]!);
  });
  assert.deepEqual(items, ['a', 'b', 'c']);
  assert.deepEqual(cursors, [null, 'b']);
});

test('a list that is gone has no items', async () => {
  assert.deepEqual(await readAllPages(() => Promise.resolve(null)), []);
});
