import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from '../database/database.ts';
import { openJournalFeed } from './journal-feed.ts';

test('does not keep a follower asking for entries that the database no longer has', async (t) => {
  let head = 2_000;
  const database = {
    get: () => ({ number: head, nonce: 1, accessNumber: 1 }),
    all: () => [],
    watch: () => undefined,
  } as unknown as Database;
  const feed = await openJournalFeed({ database, onError: assert.ifError });
  t.after(() => feed.close());
  head = 10;
  assert.equal(await feed.read(50), undefined);
  assert.deepEqual(await feed.read(2_000), []);
});
