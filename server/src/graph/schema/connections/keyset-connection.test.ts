import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Refusal } from '../../../refusal.ts';
import { fromListCursor, toListCursor } from './keyset-connection.ts';

const isRefused = (error: unknown) => error instanceof Refusal && error.code === 'BAD_INPUT';

test('a cursor leads back to its key in its own list, and nowhere in another', () => {
  for (const key of ['anna', 'zoë', '山田', '🌳', '1767225600000 7e57d004-2b97-4e7a-b45f-5387367791cd']) {
    const cursor = toListCursor('users', key);
    assert.match(cursor, /^[\w-]+$/);
    assert.equal(fromListCursor('users', cursor, 'after'), key);
    assert.throws(() => fromListCursor('groups', cursor, 'after'), isRefused);
  }
});

test('a cursor that was edited is refused, wherever the edit is', () => {
  const cursor = toListCursor('users', 'annabelle');
  for (let place = 0; place < cursor.length; place++) {
    const letter = cursor[place] === 'A' ? 'B' : 'A';
    const edited = cursor.slice(0, place) + letter + cursor.slice(place + 1);
    assert.throws(() => fromListCursor('users', edited, 'after'), isRefused, edited);
  }
});

test('anything else is refused, and the refusal names the argument', () => {
  const key = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(key, (text) => void assert.throws(() => fromListCursor('users', text, 'after'), isRefused)),
  );
  assert.throws(() => fromListCursor('users', '', 'after'), /`after` is not a cursor/);
});

test('a cursor with a right checksum and a key that nothing can have is refused', () => {
  for (const key of ['', '\0', 'a\nb']) {
    assert.throws(() => fromListCursor('users', toListCursor('users', key), 'after'), isRefused);
  }
});
