import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database, Reader } from '../database/database.ts';
import { Refusal } from '../refusal.ts';
import { createAccessCache } from './access-cache.ts';

const maxAttempts = 3;

/** A database whose snapshots have other access numbers than reads outside of them. */
function databaseWith(numberOf: (moment: number) => number) {
  const counted = { moments: 0, reports: 0 };
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
    moment: (work: (reader: Reader) => Promise<unknown>) => {
      assert.ok(++counted.moments <= 100, 'it is read without end');
      return work(reader(numberOf(counted.moments)));
    },
    reportOutdated: () => {
      counted.reports++;
      return new Refusal('UNAVAILABLE', 'outdated');
    },
  } as unknown as Database;
  return { database, counted };
}

test('refuses, after a few attempts, a database whose snapshots stay older than its head', async () => {
  const { database, counted } = databaseWith(() => 3);
  await assert.rejects(async () => createAccessCache(database).accessOf('ann'), { message: 'outdated' });
  assert.deepEqual(counted, { moments: maxAttempts, reports: 1 });
});

test('reads again while a snapshot that was begun before is older than the head', async () => {
  const { database, counted } = databaseWith((moment) => (moment < 2 ? 3 : 5));
  const { access, position } = await createAccessCache(database).accessOf('ann');
  assert.deepEqual([access.isAdministrator, position.accessNumber], [true, 5]);
  assert.deepEqual(counted, { moments: 2, reports: 0 });
});
