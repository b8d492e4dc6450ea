import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { InfiniteQueryObserver, QueryClient } from '@tanstack/react-query';
import { readAllPages, readFilledPage, readNextPage, formatRange } from './pages.ts';

const queryKey = ['letters'];
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A list of letters, two on a page. Responses have the state at request time and arrive when the test delivers them. */
function createList() {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: Infinity } } });
  const server = { letters: [...'abcdef'], error: null as Error | null };
  const waiting: (() => void)[] = [];
  const list = new InfiniteQueryObserver(queries, {
    queryKey,
    initialPageParam: null as string | null,
    queryFn: async ({ pageParam, signal }) => {
      const from = pageParam === null ? 0 : server.letters.indexOf(pageParam) + 1;
      const items = server.letters.slice(from, from + 2);
      const page = { items, hasMore: from + 2 < server.letters.length };
      await new Promise<void>((resolve, reject) => {
        waiting.push(resolve);
        signal.addEventListener('abort', () => reject(new Error('aborted')));
      });
      if (server.error) throw server.error;
      return page;
    },
    getNextPageParam: ({ items, hasMore }) => (hasMore ? items.at(-1)! : null),
  });
  const stop = list.subscribe(() => {});
  ends.push(stop, () => queries.clear());
  /** Delivers pending responses until no request is left. */
  const settle = async () => {
    for (let idle = 0; idle < 3; idle++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (waiting.length > 0) idle = 0;
      for (const answer of waiting.splice(0)) answer();
    }
  };
  const displayed = () =>
    list
      .getCurrentResult()
      .data?.pages.flatMap(({ items }) => items)
      .join('');
  const state = () => queries.getQueryState<{ pages: unknown[] }>(queryKey);
  const readMore = () => readNextPage(list, state);
  return { queries, server, settle, displayed, state, readMore, stop };
}

describe('readNextPage()', () => {
  test('reads only the next page if nothing has changed', async () => {
    const { server, settle, displayed, readMore } = createList();
    await settle();
    server.letters.unshift('x');
    void readMore();
    await settle();
    assert.equal(displayed(), 'abcd');
  });

  test('waits for a pending refetch', async () => {
    const { queries, server, settle, displayed, state, readMore } = createList();
    await settle();
    server.letters.unshift('x');
    void queries.invalidateQueries({ queryKey });
    void readMore();
    await settle();
    assert.equal(displayed(), 'xabc');
    assert.equal(state()!.isInvalidated, false);
  });

  test('reads the list again first if the last refetch failed', async () => {
    const { queries, server, settle, displayed, state, readMore } = createList();
    await settle();
    server.letters.unshift('x');
    server.error = new Error('broken');
    void queries.invalidateQueries({ queryKey });
    void readMore();
    await settle();
    assert.deepEqual([displayed(), state()!.isInvalidated], ['ab', true]);
    server.error = null;
    void readMore();
    await settle();
    assert.equal(displayed(), 'xabc');
  });

  test('loses no change that arrives while it reads', async () => {
    const { queries, server, settle, displayed, state, readMore } = createList();
    await settle();
    void readMore();
    for (const letter of ['x', 'y']) {
      server.letters.unshift(letter);
      void queries.invalidateQueries({ queryKey });
      void readMore();
    }
    await settle();
    assert.match(displayed()!, /^yxab/);
    assert.equal(state()!.isInvalidated, false);
  });

  test('reads nothing after the list is unmounted, and leaves it stale', async () => {
    const { queries, server, settle, state, readMore, stop } = createList();
    await settle();
    server.letters.unshift('x');
    void queries.invalidateQueries({ queryKey });
    void readMore();
    stop();
    await settle();
    assert.deepEqual([state()!.data!.pages.length, state()!.isInvalidated], [1, true]);
  });
});

describe('readFilledPage()', () => {
  const pages = (...items: string[][]) => {
    const cursors: (string | null)[] = [];
    const read = (after: string | null) => {
      cursors.push(after);
      const index = Number(after ?? 0);
      const pageInfo = { hasNextPage: index + 1 < items.length, endCursor: String(index + 1) };
      return Promise.resolve({ items: items[index]!, totalCount: 0, pageInfo });
    };
    return { cursors, read };
  };

  test('skips empty pages', async () => {
    const { cursors, read } = pages([], [], ['a'], ['b']);
    assert.deepEqual((await readFilledPage(null, read)).items, ['a']);
    assert.deepEqual(cursors, [null, '1', '2']);
  });

  test('returns the last page even if it is empty', async () => {
    const { cursors, read } = pages([], []);
    assert.deepEqual((await readFilledPage(null, read)).items, []);
    assert.equal(cursors.length, 2);
  });

  test('stops after twenty empty pages', async () => {
    const { cursors, read } = pages(...Array.from({ length: 50 }, () => []));
    assert.equal((await readFilledPage(null, read)).pageInfo.hasNextPage, true);
    assert.equal(cursors.length, 20);
  });
});

describe('readAllPages()', () => {
  test('reads all pages of a list, each after the cursor of the previous page', async () => {
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

  test('returns no items for a missing list', async () => {
    assert.deepEqual(await readAllPages(() => Promise.resolve(null)), []);
  });
});

test('formats the range of a page with the total, if it is known', () => {
  assert.equal(formatRange(1, 50, 3000), '51–100 of 3,000');
  assert.equal(formatRange(0, 3, 3), '1–3 of 3');
  assert.equal(formatRange(8, 0, 3), 'None of 3 on this page');
  assert.equal(formatRange(1, 20, undefined), '51–70');
});
