import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { InfiniteQueryObserver, QueryClient } from '@tanstack/react-query';
import { readFilledPage, readNextPage } from './pages.ts';

const queryKey = ['letters'];
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A list of letters, two on a page; the server answers when the test lets it, as of the moment of the question. */
function bed() {
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
  /** Lets all answers go until nothing is asked any more. */
  const settle = async () => {
    for (let idle = 0; idle < 3; idle++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (waiting.length > 0) idle = 0;
      for (const answer of waiting.splice(0)) answer();
    }
  };
  const shown = () =>
    list
      .getCurrentResult()
      .data?.pages.flatMap(({ items }) => items)
      .join('');
  const state = () => queries.getQueryState<{ pages: unknown[] }>(queryKey);
  const more = () => readNextPage(list, state);
  return { queries, server, settle, shown, state, more, stop };
}

describe('the next page', () => {
  test('is read alone if nothing has changed', async () => {
    const { server, settle, shown, more } = bed();
    await settle();
    server.letters.unshift('x');
    void more();
    await settle();
    assert.equal(shown(), 'abcd');
  });

  test('comes after what is being read again', async () => {
    const { queries, server, settle, shown, state, more } = bed();
    await settle();
    server.letters.unshift('x');
    void queries.invalidateQueries({ queryKey });
    void more();
    await settle();
    assert.equal(shown(), 'xabc');
    assert.equal(state()!.isInvalidated, false);
  });

  test('comes after what could not be read again, once it can', async () => {
    const { queries, server, settle, shown, state, more } = bed();
    await settle();
    server.letters.unshift('x');
    server.error = new Error('broken');
    void queries.invalidateQueries({ queryKey });
    void more();
    await settle();
    assert.deepEqual([shown(), state()!.isInvalidated], ['ab', true]);
    server.error = null;
    void more();
    await settle();
    assert.equal(shown(), 'xabc');
  });

  test('loses nothing that changes while it is read', async () => {
    const { queries, server, settle, shown, state, more } = bed();
    await settle();
    void more();
    for (const letter of ['x', 'y']) {
      server.letters.unshift(letter);
      void queries.invalidateQueries({ queryKey });
      void more();
    }
    await settle();
    assert.match(shown()!, /^yxab/);
    assert.equal(state()!.isInvalidated, false);
  });

  test('is not read when whoever looked at the list has gone: what has changed is read when they come back', async () => {
    const { queries, server, settle, state, more, stop } = bed();
    await settle();
    server.letters.unshift('x');
    void queries.invalidateQueries({ queryKey });
    void more();
    stop();
    await settle();
    assert.deepEqual([state()!.data!.pages.length, state()!.isInvalidated], [1, true]);
  });
});

describe('empty pages', () => {
  const pages = (...items: string[][]) => {
    const asked: (string | null)[] = [];
    const read = (after: string | null) => {
      asked.push(after);
      const index = Number(after ?? 0);
      const pageInfo = { hasNextPage: index + 1 < items.length, endCursor: String(index + 1) };
      return Promise.resolve({ items: items[index]!, totalCount: 0, pageInfo });
    };
    return { asked, read };
  };

  test('are passed over until a page has items', async () => {
    const { asked, read } = pages([], [], ['a'], ['b']);
    assert.deepEqual((await readFilledPage(null, read)).items, ['a']);
    assert.deepEqual(asked, [null, '1', '2']);
  });

  test('end with the last page', async () => {
    const { asked, read } = pages([], []);
    assert.deepEqual((await readFilledPage(null, read)).items, []);
    assert.equal(asked.length, 2);
  });

  test('end after twenty of them, and leave the rest to the next request', async () => {
    const { asked, read } = pages(...Array.from({ length: 50 }, () => []));
    assert.equal((await readFilledPage(null, read)).pageInfo.hasNextPage, true);
    assert.equal(asked.length, 20);
  });
});
