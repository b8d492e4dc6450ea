import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Refusal } from '../refusal.ts';
import { fromCursor, toCursor } from './folder-slice.ts';
import { sortKey } from './folder-texts.ts';

const parentId = '019c1407-aa00-7abc-8def-0123456789ab';
const folder = { id: '019c1407-bb00-7abc-8def-0123456789ab', key: sortKey('Floor 2') };
const cursor = toCursor(parentId, folder);

const ids = fc.uuid();
const folders = fc.record({ id: ids, key: fc.uint8Array({ maxLength: 300 }) });

const assertRefused = (parent: string, text: string) =>
  assert.throws(
    () => fromCursor(parent, text, 'after'),
    (error) => error instanceof Refusal && error.code === 'BAD_INPUT' && error.message.includes('`after`'),
    JSON.stringify(text),
  );

test('fromCursor() returns the position that toCursor() encoded', () => {
  fc.assert(
    fc.property(ids, folders, (parent, { id, key }) => {
      const position = fromCursor(parent, toCursor(parent, { id, key }), 'after');
      assert.equal(position.id, id);
      assert.ok(Buffer.from(key).equals(position.key));
    }),
  );
});

test('toCursor() makes the same URL-safe cursor each time', () => {
  assert.equal(toCursor(parentId, folder), cursor);
  fc.assert(fc.property(ids, folders, (parent, each) => assert.match(toCursor(parent, each), /^[\w-]+$/)));
});

test('toCursor() makes different cursors for two folders with the same name', () => {
  assert.notEqual(toCursor(parentId, { ...folder, id: parentId }), cursor);
});

test('fromCursor() rejects a cursor of another list', () => {
  fc.assert(
    fc.property(ids, ids, folders, (parent, other, each) => {
      fc.pre(parent !== other);
      assertRefused(other, toCursor(parent, each));
    }),
  );
});

test('fromCursor() rejects a cursor with any one character changed', () => {
  const letters = fc.oneof(fc.constantFrom(...'AZaz09-_+/= .'), fc.string({ unit: 'binary', maxLength: 1 }));
  fc.assert(
    fc.property(folders, fc.nat(), letters, (each, index, letter) => {
      const validCursor = toCursor(parentId, each);
      const at = index % validCursor.length;
      const changedCursor = validCursor.slice(0, at) + letter + validCursor.slice(at + 1);
      fc.pre(changedCursor !== validCursor);
      assertRefused(parentId, changedCursor);
    }),
    { numRuns: 1_000 },
  );
});

test('fromCursor() rejects a cursor that is truncated, extended or padded', () => {
  for (let length = 0; length < cursor.length; length++) assertRefused(parentId, cursor.slice(0, length));
  for (const end of ['A', '=', '==', ' ', '\n']) assertRefused(parentId, cursor + end);
  assertRefused(parentId, ` ${cursor}`);
});

test('fromCursor() rejects a cursor in the standard base64 alphabet', () => {
  const key = sortKey('\u{1f7ff}'.repeat(30));
  const validCursor = toCursor(parentId, { ...folder, key });
  const other = validCursor.replaceAll('-', '+').replaceAll('_', '/');
  assert.notEqual(other, validCursor);
  assertRefused(parentId, other);
});

test('fromCursor() rejects random texts', () => {
  for (const text of ['', '0', 'null', '[]', parentId, 'A'.repeat(28), 'A'.repeat(10_000)]) {
    assertRefused(parentId, text);
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (text) => assertRefused(parentId, text)),
  );
});

test('fromCursor() names the argument in the refusal, but not its value', () => {
  assert.throws(() => fromCursor(parentId, 'nonsense', 'before'), {
    name: 'Refusal',
    message: '`before` is not a cursor of this list of folders.',
  });
});
