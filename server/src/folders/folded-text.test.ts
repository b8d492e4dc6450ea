import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { foldText } from './text-keys.ts';

const texts = fc.string({ unit: 'grapheme' });

test('case, accents and the ways to write the same letter do not count', () => {
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

test('different letters stay different', () => {
  for (const [one, other] of [
    ['ß', 's'],
    ['ø', 'o'],
    ['а', 'a'],
    ['日', '本'],
  ]) {
    assert.notEqual(foldText(one!), foldText(other!));
  }
});

test('spaces, signs and digits are kept', () => {
  assert.equal(foldText(' Floor 10 – 50% _\\'), ' floor 10 – 50% _\\');
});

test('a folded text is folded for good', () => {
  fc.assert(fc.property(texts, (text) => assert.equal(foldText(foldText(text)), foldText(text))));
});

test('a text is folded alike, composed or not', () => {
  fc.assert(
    fc.property(texts, (text) => {
      assert.equal(foldText(text.normalize('NFD')), foldText(text.normalize('NFC')));
    }),
  );
});
