import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isRowId } from '../database/statement.ts';
import { newFolderId, newFolderIds } from './new-folder-rows.ts';

const now = Date.UTC(2026, 0, 31, 12);
const latest = 2 ** 48 - 1;

test('newFolderId() makes UUIDs of version 7 that begin with the time in milliseconds', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: latest }), (time) => {
      const id = newFolderId(time);
      assert.match(id, /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
      assert.equal(parseInt(id.replaceAll('-', '').slice(0, 12), 16), time);
      assert.ok(isRowId(id));
    }),
  );
});

test('newFolderId() makes greater ids in a later millisecond', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: latest - 1 }),
      fc.integer({ min: 1, max: 10_000 }),
      (time, step) => {
        const later = Math.min(time + step, latest);
        assert.ok(newFolderId(time) < newFolderId(later));
      },
    ),
  );
});

test('newFolderId() makes different ids in the same millisecond', () => {
  const ids = Array.from({ length: 1_000 }, () => newFolderId(now));
  assert.equal(new Set(ids).size, ids.length);
});

test('newFolderIds() makes ascending ids that differ from other ids of the same millisecond', () => {
  const [one, other] = [newFolderIds(now), newFolderIds(now)];
  const ids = Array.from({ length: 5_000 }, () => one());
  assert.deepEqual(ids, ids.toSorted());
  for (const id of ids) assert.match(id, /^019c13ec-9e00-7[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/);
  assert.equal(new Set([...ids, ...ids.map(other)]).size, 2 * ids.length);
});
