import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPages, type PageVariables } from './pages.ts';

test('continues after an empty page that has a next page', async () => {
  const pages: string[][] = [[], ['a'], [], ['b']];
  const requested: PageVariables[] = [];
  const items = readPages({}, 10, (page) => {
    requested.push(page);
    const index = Number(page.after ?? 0);
    const pageInfo = { endCursor: String(index + 1), hasNextPage: index + 1 < pages.length };
    return Promise.resolve({ items: pages[index]!, pageInfo });
  });
  const read: string[] = [];
  for await (const item of items) read.push(item);
  assert.deepEqual(read, ['a', 'b']);
  assert.deepEqual(
    requested.map(({ after }) => after),
    [null, '1', '2', '3'],
  );
});
