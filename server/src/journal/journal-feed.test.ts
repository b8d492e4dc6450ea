import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from '../database/database.ts';
import { JournalFeed } from './journal-feed.ts';

test('returns undefined instead of entries that the database has lost', async (t) => {
  let head = 2_000;
  const database = {
    get: () => ({ number: head, nonce: 1, accessNumber: 1 }),
    all: () => [],
    onCommit: () => undefined,
  } as unknown as Database;
  const feed = await JournalFeed.open({ database, onError: assert.ifError });
  t.after(() => feed.close());
  head = 10;
  assert.equal(await feed.read(50), undefined);
  assert.deepEqual(await feed.read(2_000), []);
});

/** A database whose journal grows when the test calls `grow`. */
function createGrowingDatabase(start: number) {
  let last = start;
  const entry = (number: number) => ({
    number,
    nonce: number,
    changesAccess: 0,
    pathIds: null,
    oldPathIds: null,
  });
  const database = {
    get: () => ({ ...entry(last), accessNumber: 1 }),
    all: (_: unknown, { number: after, limit }: { number: number; limit: number }) =>
      Array.from({ length: Math.min(last - after, limit) }, (_each, at) => entry(after + at + 1)),
    onCommit: () => undefined,
  } as unknown as Database;
  return { database, grow: (by: number) => (last += by) };
}

test('omits entries that the feed has not read yet when a subscription is behind', async (t) => {
  const { database, grow } = createGrowingDatabase(100);
  const feed = await JournalFeed.open({ database, onError: assert.ifError });
  t.after(() => feed.close());
  grow(5);
  const entries = await feed.read(95);
  assert.deepEqual(
    entries!.map(({ number }) => number),
    [96, 97, 98, 99, 100],
  );
});

test('wakes subscriptions in batches, one of each key before the second of any key', async (t) => {
  const { database, grow } = createGrowingDatabase(100);
  const feed = await JournalFeed.open({ database, onError: assert.ifError });
  t.after(() => feed.close());
  const woken: string[] = [];
  const { signal } = new AbortController();
  const subscribe = async (key: string | undefined) => {
    await feed.waitForEntry(100, signal, key);
    woken.push(key ?? 'no key');
  };
  const many = Array.from({ length: 1_000 }, () => subscribe('anna'));
  const all = [...many, subscribe('bert'), subscribe(undefined)];
  grow(1);
  feed.poll();
  await all.at(-1);
  await all.at(-2);
  assert.ok(woken.indexOf('bert') <= 3, String(woken.indexOf('bert')));
  const inFirstRound = woken.length;
  assert.ok(inFirstRound <= 102, String(inFirstRound));
  await Promise.all(all);
  assert.equal(woken.length, 1_002);
});
