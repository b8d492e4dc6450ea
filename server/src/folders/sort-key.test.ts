import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Refusal } from '../refusal.ts';
import { toFolderName } from './folder-texts.ts';
import { sortKey } from './text-keys.ts';

const compare = (a: string, b: string) => Buffer.compare(sortKey(a), sortKey(b));
const assertOrder = (...names: string[]) => assert.deepEqual(names.toReversed().sort(compare), names);

/** Any name that a folder may have; letters, digits and accents are frequent, so that names are often near each other. */
const names = (longest: number) =>
  fc
    .oneof(
      fc.string({ unit: fc.constantFrom(...'aAbäÄàzZ019 .ßñ\u0301'), minLength: 1, maxLength: longest }),
      fc.string({ unit: 'binary', minLength: 1, maxLength: longest }),
    )
    .map(asName)
    .filter((name) => name !== undefined);

function asName(text: string): string | undefined {
  try {
    return toFolderName(text);
  } catch (error) {
    assert.ok(error instanceof Refusal);
    return undefined;
  }
}

test('numbers are ordered by value, wherever they stand', () => {
  assertOrder('Floor 1', 'Floor 2', 'Floor 10', 'Floor 10a', 'Floor 11', 'Floor 100');
  assertOrder('2 b', '10 a', '10 b');
  assertOrder('v1.2.9', 'v1.2.10', 'v1.10.1');
  assertOrder('1', '2', '12', 'a');
});

test('any two numbers of up to 200 digits are ordered by value', () => {
  const number = fc
    .integer({ min: 1, max: 200 })
    .chain((digits) => fc.bigInt({ min: 0n, max: 10n ** BigInt(digits) - 1n }));
  fc.assert(
    fc.property(number, number, fc.constantFrom('', 'Floor ', 'é'), (a, b, before) => {
      assert.equal(compare(`${before}${a}`, `${before}${b}`), a < b ? -1 : a > b ? 1 : 0);
    }),
  );
});

test('leading zeros do not make a number greater, and decide only when all else is equal', () => {
  assertOrder('file 007', 'file 8', 'file 0009');
  assertOrder('file 01 a', 'file 1 b', 'file 01 c');
  assert.notEqual(compare('file 01', 'file 1'), 0);
  assertOrder('0', '1', 'a');
  assert.notEqual(compare('0', '00'), 0);
});

test('case and accents decide only when all else is equal', () => {
  assertOrder('apple', 'Apple', 'banana', 'Banana', 'cherry');
  assertOrder('resume a', 'résumé b', 'Resume c');
  assertOrder('a', 'A', 'ä', 'b');
  assertOrder('zebra', 'Zurich', 'Zürich', 'zürich z');
});

test('a name comes before what continues it', () => {
  fc.assert(
    fc.property(names(40), names(40), (name, more) => {
      // A mark or a digit would not continue the name but change its last letter or number.
      fc.pre(!/^[\p{M}\d]/u.test(more) && asName(name + more) === name + more);
      assert.equal(compare(name, name + more), -1);
    }),
  );
});

test('names that differ have keys that differ, so that the order is total', () => {
  fc.assert(
    fc.property(names(100), names(100), (a, b) => {
      assert.equal(compare(a, b) === 0, a === b);
      assert.equal(compare(a, b), -compare(b, a) + 0);
    }),
  );
});

test('the order is the same however the names are sorted', () => {
  fc.assert(
    fc.property(fc.uniqueArray(names(20), { maxLength: 20 }), (given) => {
      assert.deepEqual(given.toSorted(compare), given.toReversed().sort(compare));
    }),
  );
});

test('a key has at most 1,024 bytes for any name', () => {
  fc.assert(fc.property(names(255), (name) => assert.ok(sortKey(name).length <= 1_024)));
  for (const character of ['a', 'A', '1', 'Ä', '日', '👋', '𐐀', 'Ⱥ', 'İ', '\u0301']) {
    assert.ok(sortKey(toFolderName(character.repeat(255))).length <= 1_024, character);
  }
});

test('the last of 255 characters still counts', () => {
  for (const character of ['a', 'A', 'ä', '日', '👋', '𐐀', 'Ⱥ', 'a1']) {
    const start = [...character.repeat(254)].slice(0, 254).join('');
    assertOrder(`${start}a`, `${start}b`);
  }
});

test('a digit of another script is a letter like any other', () => {
  assertOrder('Floor 9', 'Floor a', 'Floor ١٠', 'Floor ٢');
});
