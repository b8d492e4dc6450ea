import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { foldText, sortKey } from './text-keys.ts';
import { Refusal } from '../refusal.ts';
import { toFolderName } from './folder-texts.ts';

const texts = fc.string({ unit: 'grapheme' });

test('ignores case, accents and different encodings of the same letter', () => {
  const same = [
    ['Étage', 'étage', 'E\u0301TAGE', 'etage'],
    ['Zürich', 'ZURICH', 'Zu\u0308rich'],
    ['ﬁn', 'FIN'],
    ['STRAẞE', 'Straße', 'strasse'],
    ['Ⅳ', 'iv'],
    ['①', '1'],
    ['Ｆｕｌｌ', 'full'],
    ['Å', '\u212b', 'a'],
    ['ΟΔΟΣ', 'οδος', 'οδοσ'],
    ['İstanbul', 'istanbul', 'ıstanbul'],
    ['Straße', 'STRASSE', 'strasse'],
  ];
  for (const [first, ...others] of same) {
    for (const other of others) assert.equal(foldText(other), foldText(first!), other);
  }
});

test('distinguishes different letters', () => {
  for (const [one, other] of [
    ['ß', 's'],
    ['ø', 'o'],
    ['а', 'a'],
    ['日', '本'],
  ]) {
    assert.notEqual(foldText(one!), foldText(other!));
  }
});

test('keeps spaces, signs and digits', () => {
  assert.equal(foldText(' Floor 10 – 50% _\\'), ' floor 10 – 50% _\\');
});

test('does not change a folded text', () => {
  fc.assert(fc.property(texts, (text) => assert.equal(foldText(foldText(text)), foldText(text))));
});

test('folds composed and decomposed texts to the same text', () => {
  fc.assert(
    fc.property(texts, (text) => {
      assert.equal(foldText(text.normalize('NFD')), foldText(text.normalize('NFC')));
    }),
  );
});

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

test('orders numbers by value at any index in a name', () => {
  assertOrder('Floor 1', 'Floor 2', 'Floor 10', 'Floor 10a', 'Floor 11', 'Floor 100');
  assertOrder('2 b', '10 a', '10 b');
  assertOrder('v1.2.9', 'v1.2.10', 'v1.10.1');
  assertOrder('1', '2', '12', 'a');
});

test('orders any two numbers of up to 200 digits by value', () => {
  const number = fc
    .integer({ min: 1, max: 200 })
    .chain((digits) => fc.bigInt({ min: 0n, max: 10n ** BigInt(digits) - 1n }));
  fc.assert(
    fc.property(number, number, fc.constantFrom('', 'Floor ', 'é'), (a, b, before) => {
      assert.equal(compare(`${before}${a}`, `${before}${b}`), a < b ? -1 : a > b ? 1 : 0);
    }),
  );
});

test('uses leading zeros only to order names that are otherwise equal', () => {
  assertOrder('file 007', 'file 8', 'file 0009');
  assertOrder('file 01 a', 'file 1 b', 'file 01 c');
  assert.notEqual(compare('file 01', 'file 1'), 0);
  assertOrder('0', '1', 'a');
  assert.notEqual(compare('0', '00'), 0);
});

test('uses case and accents only to order names that are otherwise equal', () => {
  assertOrder('apple', 'Apple', 'banana', 'Banana', 'cherry');
  assertOrder('resume a', 'résumé b', 'Resume c');
  assertOrder('a', 'A', 'ä', 'b');
  assertOrder('zebra', 'Zurich', 'Zürich', 'zürich z');
});

test('orders a name before longer names with the same beginning', () => {
  fc.assert(
    fc.property(names(40), names(40), (name, more) => {
      // A mark or a digit would not continue the name but change its last letter or number.
      fc.pre(!/^[\p{M}\d]/u.test(more) && asName(name + more) === name + more);
      assert.equal(compare(name, name + more), -1);
    }),
  );
});

test('makes different keys for different names', () => {
  fc.assert(
    fc.property(names(100), names(100), (a, b) => {
      assert.equal(compare(a, b) === 0, a === b);
      assert.equal(compare(a, b), -compare(b, a) + 0);
    }),
  );
});

test('gives the same order for any initial order', () => {
  fc.assert(
    fc.property(fc.uniqueArray(names(20), { maxLength: 20 }), (given) => {
      assert.deepEqual(given.toSorted(compare), given.toReversed().sort(compare));
    }),
  );
});

test('makes keys of at most 1,024 bytes for any name', () => {
  fc.assert(fc.property(names(255), (name) => assert.ok(sortKey(name).length <= 1_024)));
  for (const character of ['a', 'A', '1', 'Ä', '日', '👋', '𐐀', 'Ⱥ', 'İ', '\u0301']) {
    assert.ok(sortKey(toFolderName(character.repeat(255))).length <= 1_024, character);
  }
});

test('includes the last of 255 characters', () => {
  for (const character of ['a', 'A', 'ä', '日', '👋', '𐐀', 'Ⱥ', 'a1']) {
    const start = [...character.repeat(254)].slice(0, 254).join('');
    assertOrder(`${start}a`, `${start}b`);
  }
});

test('treats a digit of another script as a letter', () => {
  assertOrder('Floor 9', 'Floor a', 'Floor ١٠', 'Floor ٢');
});
