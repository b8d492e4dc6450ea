import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everyItem, pagesOf, type PageSlice } from './pages.ts';

/** Reads pages of a list of numbers, and records the requests in `slices`. */
function numbers(count: number, slices: PageSlice[] = []) {
  return (slice: PageSlice) => {
    slices.push(slice);
    const start = Number(slice.after ?? 0);
    const end = Math.min(count, start + slice.first);
    const items = Array.from({ length: end - start }, (_, index) => start + index);
    const endCursor = items.length > 0 ? String(end) : null;
    return Promise.resolve({ items, pageInfo: { hasNextPage: end < count, endCursor } });
  };
}

async function sizesOf(pages: AsyncIterable<readonly number[]>): Promise<number[]> {
  const sizes: number[] = [];
  for await (const { length } of pages) sizes.push(length);
  return sizes;
}

test('reads a list to its end, page by page', async () => {
  assert.deepEqual(await sizesOf(pagesOf(numbers(7), { pageSize: 3 })), [3, 3, 1]);
  assert.equal((await everyItem(numbers(2_500))).length, 2_500);
});

test('requests no more items than the maximum', async () => {
  const slices: PageSlice[] = [];
  assert.deepEqual(await sizesOf(pagesOf(numbers(100, slices), { pageSize: 4, maxItems: 6 })), [4, 2]);
  assert.deepEqual(slices, [
    { first: 4, after: null },
    { first: 2, after: '4' },
  ]);
});

test('yields one empty page for an empty list, and for a maximum of 0', async () => {
  assert.deepEqual(await sizesOf(pagesOf(numbers(0))), [0]);
  assert.deepEqual(await sizesOf(pagesOf(numbers(5), { maxItems: 0 })), [0]);
});
