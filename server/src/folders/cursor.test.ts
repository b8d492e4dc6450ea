import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Refusal } from '../refusal.ts';
import { fromCursor, toCursor } from './cursor.ts';
import { sortKey } from './text-keys.ts';

const parentId = '019c1407-aa00-7abc-8def-0123456789ab';
const folder = { id: '019c1407-bb00-7abc-8def-0123456789ab', key: sortKey('Floor 2') };
const cursor = toCursor(parentId, folder);

const ids = fc.uuid();
const folders = fc.record({ id: ids, key: fc.uint8Array({ maxLength: 300 }) });

const assertRefused = (parent: string, given: string) =>
  assert.throws(
    () => fromCursor(parent, given, 'after'),
    (error) => error instanceof Refusal && error.code === 'BAD_INPUT' && error.message.includes('`after`'),
    JSON.stringify(given),
  );

test('a cursor leads back to the place it was made for', () => {
  fc.assert(
    fc.property(ids, folders, (parent, { id, key }) => {
      const position = fromCursor(parent, toCursor(parent, { id, key }), 'after');
      assert.equal(position.id, id);
      assert.ok(Buffer.from(key).equals(position.key));
    }),
  );
});

test('a cursor is the same each time and safe in a URL', () => {
  assert.equal(toCursor(parentId, folder), cursor);
  fc.assert(fc.property(ids, folders, (parent, each) => assert.match(toCursor(parent, each), /^[\w-]+$/)));
});

test('two folders of the same name have different cursors', () => {
  assert.notEqual(toCursor(parentId, { ...folder, id: parentId }), cursor);
});

test('a cursor of another list is refused', () => {
  fc.assert(
    fc.property(ids, ids, folders, (parent, other, each) => {
      fc.pre(parent !== other);
      assertRefused(other, toCursor(parent, each));
    }),
  );
});

test('a cursor with any one character edited is refused', () => {
  const letters = fc.oneof(fc.constantFrom(...'AZaz09-_+/= .'), fc.string({ unit: 'binary', maxLength: 1 }));
  fc.assert(
    fc.property(folders, fc.nat(), letters, (each, place, letter) => {
      const whole = toCursor(parentId, each);
      const at = place % whole.length;
      const edited = whole.slice(0, at) + letter + whole.slice(at + 1);
      fc.pre(edited !== whole);
      assertRefused(parentId, edited);
    }),
    { numRuns: 1_000 },
  );
});

test('a cursor that is cut short, prolonged or padded is refused', () => {
  for (let length = 0; length < cursor.length; length++) assertRefused(parentId, cursor.slice(0, length));
  for (const end of ['A', '=', '==', ' ', '\n']) assertRefused(parentId, cursor + end);
  assertRefused(parentId, ` ${cursor}`);
});

test('the other alphabet of base64 is refused even where it means the same bytes', () => {
  const key = sortKey('\u{1f7ff}'.repeat(30));
  const whole = toCursor(parentId, { ...folder, key });
  const other = whole.replaceAll('-', '+').replaceAll('_', '/');
  assert.notEqual(other, whole);
  assertRefused(parentId, other);
});

test('garbage is refused', () => {
  for (const garbage of ['', '0', 'null', '[]', parentId, 'A'.repeat(28), 'A'.repeat(10_000)]) {
    assertRefused(parentId, garbage);
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (text) => assertRefused(parentId, text)),
  );
});

test('a refusal names the argument and does not echo what was given', () => {
  assert.throws(() => fromCursor(parentId, 'nonsense', 'before'), {
    name: 'Refusal',
    message: '`before` is not a cursor of this list of folders.',
  });
});
