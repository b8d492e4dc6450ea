import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { splitMatch } from './search-match.ts';

const highlight = (text: string, searchText: string) =>
  splitMatch(text, searchText)
    .map((part) => (part.isMatch ? `[${part.text}]` : part.text))
    .join('');

test('finds the text, ignoring case and accents', () => {
  assert.equal(highlight('Harbour Campus', 'camp'), 'Harbour [Camp]us');
  assert.equal(highlight('Büro 2', 'buro'), '[Büro] 2');
  assert.equal(highlight('Buro', 'BÜR'), '[Bür]o'.replace('ü', 'u'));
  assert.equal(highlight('İstanbul', 'ist'), '[İst]anbul');
  assert.equal(highlight('📍 Places', 'pla'), '📍 [Pla]ces');
  assert.equal(highlight('Places', 'x'), 'Places');
  assert.equal(highlight('Places', ' '), 'Places');
});

test('finds each word of a text that does not match as a whole', () => {
  assert.equal(highlight('Harbour Campus', 'floor harb'), '[Harb]our Campus');
  assert.equal(highlight('Floor 2', '/Places/Floor 2'), '[Floor] [2]');
  assert.equal(highlight('Floor 2', 'floor 2'), '[Floor 2]');
});

test('keeps every letter of the text in its parts', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'grapheme', maxLength: 3 }),
      (text, searchText) => {
        const all = splitMatch(text, searchText).map((part) => part.text);
        assert.equal(all.join('').normalize('NFC'), text.normalize('NFC'));
      },
    ),
  );
});
