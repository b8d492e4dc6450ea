import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Refusal } from '../refusal.ts';
import { maxNameLength, toFolderName } from './folder-texts.ts';

const refusedWith = (name: string, message: RegExp) =>
  assert.throws(
    () => toFolderName(name),
    (error) => error instanceof Refusal && error.code === 'BAD_INPUT' && message.test(error.message),
    JSON.stringify(name),
  );

test('an ordinary name is kept as it is', () => {
  for (const name of [
    'Floor 2',
    'a',
    ' ',
    'Pläne & Skizzen',
    '日本',
    '👩‍🔧',
    '.',
    '..',
    'C:\\',
    '%2F',
    "it's",
  ]) {
    assert.equal(toFolderName(name), name);
  }
});

test('the same letters, composed or not, become the same name', () => {
  assert.equal(toFolderName('Zu\u0308rich'), 'Z\u00fcrich');
  assert.equal(toFolderName('\u212b'), '\u00c5');
});

test('letters that only look alike stay different', () => {
  assert.notEqual(toFolderName('\u2460'), toFolderName('1'));
  assert.notEqual(toFolderName('\u0391'), toFolderName('A'));
});

test('an empty name is refused', () => {
  refusedWith('', /must not be empty/);
});

test('a slash or a control character is refused wherever it stands', () => {
  const controls = [0x00, 0x09, 0x0a, 0x0d, 0x1f, 0x7f, 0x80, 0x9f].map((code) => String.fromCharCode(code));
  for (const character of ['/', ...controls]) {
    for (const name of [character, `${character}a`, `a${character}`, `a${character}b`]) {
      refusedWith(name, /slash or a control character/);
    }
  }
});

test('half a surrogate pair is refused', () => {
  for (const name of ['\ud83d', 'a\udc00', '\udc00\ud83d']) refusedWith(name, /well-formed Unicode/);
});

test('255 characters are the most, counted as code points of the composed form', () => {
  for (const character of ['a', 'ü', '日', '👋']) {
    const longest = character.repeat(maxNameLength);
    assert.equal(toFolderName(longest), longest);
    refusedWith(longest + character, /at most 255 characters/);
  }
  assert.equal(toFolderName('u\u0308'.repeat(maxNameLength)), 'ü'.repeat(maxNameLength));
  // U+0958 is excluded from composition: it becomes two code points.
  refusedWith('\u0958'.repeat(128), /at most 255 characters/);
});

test('every text is either a name, kept stable and within the rules, or refused', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      let name;
      try {
        name = toFolderName(text);
      } catch (error) {
        assert.ok(error instanceof Refusal && error.code === 'BAD_INPUT');
        return;
      }
      assert.equal(toFolderName(name), name);
      assert.equal(name, text.normalize('NFC'));
      assert.doesNotMatch(name, /[/\p{Cc}]/u);
      assert.ok(name !== '' && [...name].length <= maxNameLength);
    }),
  );
});
