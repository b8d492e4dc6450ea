import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../refusal.ts';
import { maxPropertyBytes, toTexts, type TextsInput } from './folder-texts.ts';

const assertRefused = (given: TextsInput, message: RegExp) =>
  assert.throws(
    () => toTexts(given),
    (error) => error instanceof Refusal && error.code === 'BAD_INPUT' && message.test(error.message),
    JSON.stringify(given).slice(0, 100),
  );

const nested = (levels: number): unknown => (levels === 0 ? 1 : { inner: nested(levels - 1) });

test('only what was given comes back', () => {
  assert.deepEqual(toTexts({}), {});
  assert.deepEqual(toTexts({ title: undefined, icon: 'x' }), { icon: 'x' });
});

test('null and an empty text take a text away', () => {
  const none = { title: null, icon: null, description: null, properties: null };
  assert.deepEqual(toTexts(none), none);
  assert.deepEqual(toTexts({ title: '', icon: '', description: '', properties: {} }), none);
});

test('texts are kept composed', () => {
  const given = { title: 'E\u0301', icon: 'e\u0301', description: 'u\u0308' };
  assert.deepEqual(toTexts(given), { title: 'É', icon: 'é', description: 'ü' });
});

test('lengths are counted in characters, not in bytes or halves of characters', () => {
  for (const field of ['title', 'icon'] as const) {
    assert.equal(toTexts({ [field]: '👩'.repeat(255) })[field], '👩'.repeat(255));
    assertRefused({ [field]: '👩'.repeat(256) }, new RegExp(`${field} of a folder has at most 255`));
    assertRefused({ [field]: 'x'.repeat(256) }, /at most 255/);
  }
  assert.equal(toTexts({ description: '👩'.repeat(10_000) }).description?.length, 20_000);
  assertRefused({ description: 'x'.repeat(10_001) }, /description of a folder has at most 10000/);
});

test('a title and an icon are one line, a description has lines and tabs, and nothing has other controls', () => {
  for (const control of ['\n', '\t', '\0', '\u007f', '\u0085']) {
    assertRefused({ title: `a${control}b` }, /title .* control characters/);
    assertRefused({ icon: `a${control}b` }, /icon .* control characters/);
  }
  assert.equal(toTexts({ description: 'a\r\n\tb' }).description, 'a\r\n\tb');
  for (const control of ['\0', '\u001b', '\u007f', '\u0085']) {
    assertRefused({ description: `a${control}b` }, /description .* control characters/);
  }
});

test('half a character is refused, in texts and anywhere in properties', () => {
  const half = '\ud83d';
  for (const field of ['title', 'icon', 'description']) {
    assertRefused({ [field]: `a${half}` }, new RegExp(`${field} .* well-formed`));
  }
  for (const properties of [{ a: half }, { [half]: 1 }, { a: [{ b: [half] }] }]) {
    assertRefused({ properties }, /`properties` must be well-formed/);
  }
});

test('properties are a JSON object and come back as its text', () => {
  assert.equal(toTexts({ properties: { b: 1, a: [null, 'x'] } }).properties, '{"b":1,"a":[null,"x"]}');
  for (const properties of [[], [1], 'x', 1, true]) assertRefused({ properties }, /must be a JSON object/);
});

test('a number that JSON cannot write is refused', () => {
  assertRefused({ properties: { a: [JSON.parse('1e400')] } }, /too large/);
});

test('properties take 16 KiB and 32 levels, and not more', () => {
  const filler = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });
  assert.equal(toTexts({ properties: filler(maxPropertyBytes) }).properties?.length, maxPropertyBytes);
  assertRefused({ properties: filler(maxPropertyBytes + 1) }, /at most 16384 bytes/);
  assertRefused({ properties: { a: 'é'.repeat(maxPropertyBytes / 2) } }, /at most 16384 bytes/);
  assert.ok(toTexts({ properties: nested(32) }).properties);
  assertRefused({ properties: nested(33) }, /nested deeper than 32 levels/);
});
