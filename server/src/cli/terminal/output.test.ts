import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escapeControls, escaped, escapeLines, formatFacts, formatJson, formatTable } from './output.ts';

const hostile = 'a\x1b]0;owned\x07b\x9b31mc\u202ed\ne\ud800';

test('escapes characters that a terminal interprets, and keeps every other character', () => {
  assert.equal(escapeControls(hostile), 'a\\u{1b}]0;owned\\u{7}b\\u{9b}31mc\\u{202e}d\\u{a}e\\u{d800}');
  assert.equal(
    escapeControls('\u001b[2J\u009b\u007f\n\u2028'),
    String.raw`\u{1b}[2J\u{9b}\u{7f}\u{a}\u{2028}`,
  );
  assert.equal(escapeControls('a\u202eb\u2066c\u200f'), String.raw`a\u{202e}b\u{2066}c\u{200f}`);
  for (const text of ['', 'Zoë', '日本', '👩‍🌾', 'a\\u{1b}', 'שלום', 'Größe 🌳 مرحبا'])
    assert.equal(escapeControls(text), text);
});

test('keeps the line ends of a text with several lines', () => {
  assert.equal(escapeLines('a\r\nb\x1b\n'), 'a\nb\\u{1b}\n');
});

test('escapes the values of a template, the cells of a table and facts', () => {
  const shown = escapeControls(hostile);
  assert.equal(escaped`Deleted ${hostile}:\n${2} folders`, `Deleted ${shown}:\n2 folders`);
  assert.equal(formatTable(['Name'], [[hostile]]), `Name\n${shown}`);
  assert.equal(
    formatFacts([
      ['Name', hostile],
      ['Title', null],
    ]),
    `Name:  ${shown}\nTitle: -`,
  );
});

test('prints JSON without control characters that parses to the same value', () => {
  const value = { [hostile]: hostile, name: '\u001b\u009b\u202e\u2028 Zoë 👩‍🌾' };
  const text = formatJson(value);
  assert.deepEqual(JSON.parse(text), value);
  assert.doesNotMatch(text, /[\p{Cc}\p{Zl}\p{Bidi_Control}]/u);
  assert.ok(text.includes('Zoë 👩‍🌾'));
  assert.equal(formatJson({ a: '\n' }, 2), '{\n  "a": "\\n"\n}');
});

test('aligns the columns of a table, with dashes for empty cells', () => {
  assert.equal(
    formatTable(
      ['Name', 'Role'],
      [
        ['anna', null],
        ['Zoë 👩', 'x'],
      ],
    ),
    'Name   Role\nanna   -\nZoë 👩  x',
  );
  assert.equal(formatTable(['Name'], [], 'No users found.'), 'No users found.');
});
