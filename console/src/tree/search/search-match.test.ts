import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { piecesOf } from './search-match.ts';

const shown = (text: string, sought: string) =>
  piecesOf(text, sought)
    .map((piece) => (piece.isMatch ? `[${piece.text}]` : piece.text))
    .join('');

test('what was searched for is found without regard to case and accents', () => {
  assert.equal(shown('Harbour Campus', 'camp'), 'Harbour [Camp]us');
  assert.equal(shown('Büro 2', 'buro'), '[Büro] 2');
  assert.equal(shown('Buro', 'BÜR'), '[Bür]o'.replace('ü', 'u'));
  assert.equal(shown('İstanbul', 'ist'), '[İst]anbul');
  assert.equal(shown('📍 Places', 'pla'), '📍 [Pla]ces');
  assert.equal(shown('Places', 'x'), 'Places');
  assert.equal(shown('Places', ' '), 'Places');
});

test('no letter is lost', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'grapheme', maxLength: 3 }),
      (text, sought) => {
        const all = piecesOf(text, sought).map((piece) => piece.text);
        assert.equal(all.join('').normalize('NFC'), text.normalize('NFC'));
      },
    ),
  );
});
