import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatJson } from './output.ts';
import { escapeControls, escapeLines } from './escape-text.ts';

const hostile = 'a\x1b]0;owned\x07b\x9b31mc\u202ed\ne\ud800';

test('what a terminal would obey is shown, never sent', () => {
  assert.equal(escapeControls(hostile), 'a\\u{1b}]0;owned\\u{7}b\\u{9b}31mc\\u{202e}d\\u{a}e\\u{d800}');
  assert.equal(escapeControls('Größe 🌳 مرحبا'), 'Größe 🌳 مرحبا');
});

test('a text of several lines keeps them, and nothing else', () => {
  assert.equal(escapeLines('a\r\nb\x1b\n'), 'a\nb\\u{1b}\n');
});

test('JSON holds no such character either, and is the same to a reader', () => {
  const text = formatJson({ [hostile]: hostile });
  // oxlint-disable-next-line no-control-regex -- it is about them
  assert.doesNotMatch(text, /[\x00-\x1f\x7f-\x9f\u202e]/);
  assert.deepEqual(JSON.parse(text), { [hostile]: hostile });
});

test('JSON over several lines has its own ends of lines', () => {
  assert.equal(formatJson({ a: '\n' }, 2), '{\n  "a": "\\n"\n}');
});
