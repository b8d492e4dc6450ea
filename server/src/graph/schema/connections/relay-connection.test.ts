import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Refusal } from '../../../refusal.ts';
import { fromListCursor, toListCursor } from './relay-connection.ts';

const isRefused = (error: unknown) => error instanceof Refusal && error.code === 'BAD_INPUT';

test('accepts a cursor only in its own list', () => {
  for (const key of ['anna', 'zoë', '山田', '🌳', '1767225600000 7e57d004-2b97-4e7a-b45f-5387367791cd']) {
    const cursor = toListCursor('users', key);
    assert.match(cursor, /^[\w-]+$/);
    assert.equal(fromListCursor('users', cursor, 'after'), key);
    assert.throws(() => fromListCursor('groups', cursor, 'after'), isRefused);
  }
});

test('rejects a cursor if any single character was changed', () => {
  const cursor = toListCursor('users', 'annabelle');
  for (let index = 0; index < cursor.length; index++) {
    const letter = cursor[index] === 'A' ? 'B' : 'A';
    const edited = cursor.slice(0, index) + letter + cursor.slice(index + 1);
    assert.throws(() => fromListCursor('users', edited, 'after'), isRefused, edited);
  }
});

test('rejects a text that is not a cursor, and names the argument', () => {
  const key = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(key, (text) => void assert.throws(() => fromListCursor('users', text, 'after'), isRefused)),
  );
  assert.throws(() => fromListCursor('users', '', 'after'), /`after` is not a cursor/);
});

test('rejects a cursor with a valid checksum and an impossible key', () => {
  for (const key of ['', '\0', 'a\nb']) {
    assert.throws(() => fromListCursor('users', toListCursor('users', key), 'after'), isRefused);
  }
});
