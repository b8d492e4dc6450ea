import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database, Reader } from '../database/database.ts';
import { Refusal } from '../refusal.ts';
import { AccessCache } from './access-cache.ts';

const maxAttempts = 3;

/** A database with different access numbers inside and outside of snapshots. */
function databaseWith(numberOf: (snapshot: number) => number) {
  const counts = { snapshots: 0, reports: 0 };
  const reader = (accessNumber: number) =>
    ({
      get: (statement: { parts: readonly unknown[] }) => {
        const text = JSON.stringify(statement.parts);
        if (text.includes('journal_counter')) return { number: 9, nonce: 1, accessNumber };
        if (text.includes('from users')) return { isAdministrator: 1, disabledAt: null };
        return { id: 'root' };
      },
      all: () => [],
    }) as unknown as Reader;
  const database = {
    ...reader(5),
    shortSnapshot: (work: (reader: Reader) => Promise<unknown>) => {
      assert.ok(++counts.snapshots <= 100, 'reads endlessly');
      return work(reader(numberOf(counts.snapshots)));
    },
    reportStale: () => {
      counts.reports++;
      return new Refusal('UNAVAILABLE', 'stale');
    },
  } as unknown as Database;
  return { database, counts };
}

test('reports a stale database if three snapshots in a row are older than the head', async () => {
  const { database, counts } = databaseWith(() => 3);
  await assert.rejects(async () => new AccessCache(database).accessOf({ userId: 'ann' }), {
    message: 'stale',
  });
  assert.deepEqual(counts, { snapshots: maxAttempts, reports: 1 });
});

test('reads a new snapshot if a shared snapshot is older than the head', async () => {
  const { database, counts } = databaseWith((snapshot) => (snapshot < 2 ? 3 : 5));
  const { access, position } = await new AccessCache(database).accessOf({ userId: 'ann' });
  assert.deepEqual([access.isAdministrator, position.accessNumber], [true, 5]);
  assert.deepEqual(counts, { snapshots: 2, reports: 0 });
});
