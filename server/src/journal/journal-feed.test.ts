import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from '../database/database.ts';
import { JournalFeed } from './journal-feed.ts';

test('returns undefined for a position after which the database has lost entries', async (t) => {
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

test('omits entries that the feed has not read yet', async (t) => {
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

test('wakes one waiting subscription of each key before a second of any key', async (t) => {
  const { database, grow } = createGrowingDatabase(100);
  const feed = await JournalFeed.open({ database, onError: assert.ifError });
  t.after(() => feed.close());
  const wakeOrder: string[] = [];
  const { signal } = new AbortController();
  const subscribe = async (key: string | undefined) => {
    await feed.waitForEntry(100, signal, key);
    wakeOrder.push(key ?? 'no key');
  };
  const many = Array.from({ length: 1_000 }, () => subscribe('anna'));
  const all = [...many, subscribe('bert'), subscribe(undefined)];
  grow(1);
  feed.poll();
  await all.at(-1);
  await all.at(-2);
  assert.ok(wakeOrder.indexOf('bert') <= 3, String(wakeOrder.indexOf('bert')));
  const inFirstRound = wakeOrder.length;
  assert.ok(inFirstRound <= 102, String(inFirstRound));
  await Promise.all(all);
  assert.equal(wakeOrder.length, 1_002);
});
