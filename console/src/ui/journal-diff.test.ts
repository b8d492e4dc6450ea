import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diffJournalEntry } from './journal-diff.ts';

test('lists each changed text with its old value', () => {
  assert.deepEqual(
    diffJournalEntry({ before: { name: 'A', title: null }, after: { name: 'B', title: 'T' } }),
    [
      { name: 'name', before: 'A', after: 'B' },
      { name: 'title', before: null, after: 'T' },
    ],
  );
});

test('lists changed properties one by one', () => {
  const before = { properties: '{"city":"Rotterdam","opened":1987,"old":true}' };
  const after = { properties: '{"city":"Delft","opened":1987,"tags":["a"]}' };
  assert.deepEqual(diffJournalEntry({ before, after }), [
    { name: 'properties.city', before: 'Rotterdam', after: 'Delft' },
    { name: 'properties.old', before: 'true', after: null },
    { name: 'properties.tags', before: null, after: '["a"]' },
  ]);
});

test('shows truncated properties as text', () => {
  const before = { properties: '{"text":"aaaa…' };
  assert.deepEqual(diffJournalEntry({ before, after: { properties: '{}' } }), [
    { name: 'properties', before: '{"text":"aaaa…', after: '{}' },
  ]);
});

test('ignores the name of a created or deleted subject', () => {
  assert.deepEqual(diffJournalEntry({ before: null, after: { name: 'A' } }), []);
  assert.deepEqual(diffJournalEntry({ before: { username: 'a' }, after: null }), []);
});
