import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatJson } from './output.ts';
import { escapeControls } from './escape-text.ts';

test('what a terminal would obey is spelled out, and every other letter stays', () => {
  assert.equal(
    escapeControls('\u001b[2J\u009b\u007f\n\u2028'),
    String.raw`\u{1b}[2J\u{9b}\u{7f}\u{a}\u{2028}`,
  );
  assert.equal(escapeControls('a\u202eb\u2066c\u200f'), String.raw`a\u{202e}b\u{2066}c\u{200f}`);
  for (const text of ['', 'Zoë', '日本', '👩‍🌾', 'a\\u{1b}', 'שלום']) assert.equal(escapeControls(text), text);
});

test('JSON holds the same, and nothing that a terminal obeys', () => {
  const value = { name: '\u001b\u009b\u202e\u2028 Zoë 👩‍🌾' };
  const text = formatJson(value);
  assert.deepEqual(JSON.parse(text), value);
  assert.doesNotMatch(text, /[\p{Cc}\p{Zl}\p{Bidi_Control}]/u);
  assert.ok(text.includes('Zoë 👩‍🌾'));
});
