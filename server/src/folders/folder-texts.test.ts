import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Refusal } from '../refusal.ts';
import { maxNameLength, maxPropertyBytes, type TextsInput, toFolderName, toTexts } from './folder-texts.ts';

const refusedWith = (name: string, message: RegExp) =>
  assert.throws(
    () => toFolderName(name),
    (error) => error instanceof Refusal && error.code === 'BAD_INPUT' && message.test(error.message),
    JSON.stringify(name),
  );

test('keeps an ordinary name unchanged', () => {
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

test('returns the same name for composed and decomposed letters', () => {
  assert.equal(toFolderName('Zu\u0308rich'), 'Z\u00fcrich');
  assert.equal(toFolderName('\u212b'), '\u00c5');
});

test('distinguishes letters that only look alike', () => {
  assert.notEqual(toFolderName('\u2460'), toFolderName('1'));
  assert.notEqual(toFolderName('\u0391'), toFolderName('A'));
});

test('rejects an empty name', () => {
  refusedWith('', /must not be empty/);
});

test('rejects a slash or a control character at any index', () => {
  const controls = [0x00, 0x09, 0x0a, 0x0d, 0x1f, 0x7f, 0x80, 0x9f].map((code) => String.fromCharCode(code));
  for (const character of ['/', ...controls]) {
    for (const name of [character, `${character}a`, `a${character}`, `a${character}b`]) {
      refusedWith(name, /slash or a control character/);
    }
  }
});

test('rejects half a surrogate pair', () => {
  for (const name of ['\ud83d', 'a\udc00', '\udc00\ud83d']) refusedWith(name, /well-formed Unicode/);
});

test('accepts at most 255 characters, counted as code points of the composed form', () => {
  for (const character of ['a', 'ü', '日', '👋']) {
    const longest = character.repeat(maxNameLength);
    assert.equal(toFolderName(longest), longest);
    refusedWith(longest + character, /at most 255 characters/);
  }
  assert.equal(toFolderName('u\u0308'.repeat(maxNameLength)), 'ü'.repeat(maxNameLength));
  // U+0958 is excluded from composition: it becomes two code points.
  refusedWith('\u0958'.repeat(128), /at most 255 characters/);
});

test('either rejects a text or returns a stable name within the rules', () => {
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

const assertRefused = (given: TextsInput, message: RegExp) =>
  assert.throws(
    () => toTexts(given),
    (error) => error instanceof Refusal && error.code === 'BAD_INPUT' && message.test(error.message),
    JSON.stringify(given).slice(0, 100),
  );

const nested = (levels: number): unknown => (levels === 0 ? 1 : { inner: nested(levels - 1) });

test('returns only the texts in the input', () => {
  assert.deepEqual(toTexts({}), {});
  assert.deepEqual(toTexts({ title: undefined, icon: 'x' }), { icon: 'x' });
});

test('removes a text for null and an empty text', () => {
  const none = { title: null, icon: null, description: null, properties: null };
  assert.deepEqual(toTexts(none), none);
  assert.deepEqual(toTexts({ title: '', icon: '', description: '', properties: {} }), none);
});

test('returns composed texts', () => {
  const given = { title: 'E\u0301', icon: 'e\u0301', description: 'u\u0308' };
  assert.deepEqual(toTexts(given), { title: 'É', icon: 'é', description: 'ü' });
});

test('counts lengths in characters, not in bytes or surrogates', () => {
  for (const field of ['title', 'icon'] as const) {
    assert.equal(toTexts({ [field]: '👩'.repeat(255) })[field], '👩'.repeat(255));
    assertRefused({ [field]: '👩'.repeat(256) }, new RegExp(`${field} of a folder has at most 255`));
    assertRefused({ [field]: 'x'.repeat(256) }, /at most 255/);
  }
  assert.equal(toTexts({ description: '👩'.repeat(10_000) }).description?.length, 20_000);
  assertRefused({ description: 'x'.repeat(10_001) }, /description of a folder has at most 10000/);
});

test('accepts line breaks and tabs only in a description, and no other control characters', () => {
  for (const control of ['\n', '\t', '\0', '\u007f', '\u0085']) {
    assertRefused({ title: `a${control}b` }, /title .* control characters/);
    assertRefused({ icon: `a${control}b` }, /icon .* control characters/);
  }
  assert.equal(toTexts({ description: 'a\r\n\tb' }).description, 'a\r\n\tb');
  for (const control of ['\0', '\u001b', '\u007f', '\u0085']) {
    assertRefused({ description: `a${control}b` }, /description .* control characters/);
  }
});

test('rejects half a surrogate pair in texts and anywhere in properties', () => {
  const half = '\ud83d';
  for (const field of ['title', 'icon', 'description']) {
    assertRefused({ [field]: `a${half}` }, new RegExp(`${field} .* well-formed`));
  }
  for (const properties of [{ a: half }, { [half]: 1 }, { a: [{ b: [half] }] }]) {
    assertRefused({ properties }, /`properties` must be well-formed/);
  }
});

test('accepts a JSON object as properties and returns its text', () => {
  assert.equal(toTexts({ properties: { b: 1, a: [null, 'x'] } }).properties, '{"b":1,"a":[null,"x"]}');
  for (const properties of [[], [1], 'x', 1, true]) assertRefused({ properties }, /must be a JSON object/);
});

test('rejects a number that JSON cannot represent', () => {
  assertRefused({ properties: { a: [JSON.parse('1e400')] } }, /too large/);
});

test('accepts properties of at most 16 KiB and 32 levels', () => {
  const filler = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });
  assert.equal(toTexts({ properties: filler(maxPropertyBytes) }).properties?.length, maxPropertyBytes);
  assertRefused({ properties: filler(maxPropertyBytes + 1) }, /at most 16384 bytes/);
  assertRefused({ properties: { a: 'é'.repeat(maxPropertyBytes / 2) } }, /at most 16384 bytes/);
  assert.ok(toTexts({ properties: nested(32) }).properties);
  assertRefused({ properties: nested(33) }, /nested deeper than 32 levels/);
});
