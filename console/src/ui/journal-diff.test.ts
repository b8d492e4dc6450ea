import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diffJournalEntry } from './journal-diff.ts';

test('each changed text is told with what it was', () => {
  assert.deepEqual(
    diffJournalEntry({ before: { name: 'A', title: null }, after: { name: 'B', title: 'T' } }),
    [
      { name: 'name', before: 'A', after: 'B' },
      { name: 'title', before: null, after: 'T' },
    ],
  );
});

test('properties are told one by one, and those that stayed are not', () => {
  const before = { properties: '{"city":"Rotterdam","opened":1987,"old":true}' };
  const after = { properties: '{"city":"Delft","opened":1987,"tags":["a"]}' };
  assert.deepEqual(diffJournalEntry({ before, after }), [
    { name: 'properties.city', before: 'Rotterdam', after: 'Delft' },
    { name: 'properties.old', before: 'true', after: null },
    { name: 'properties.tags', before: null, after: '["a"]' },
  ]);
});

test('properties of which only the beginning was kept are told as a text', () => {
  const before = { properties: '{"text":"aaaa…' };
  assert.deepEqual(diffJournalEntry({ before, after: { properties: '{}' } }), [
    { name: 'properties', before: '{"text":"aaaa…', after: '{}' },
  ]);
});

test('a name that only says what was made or deleted is no difference', () => {
  assert.deepEqual(diffJournalEntry({ before: null, after: { name: 'A' } }), []);
  assert.deepEqual(diffJournalEntry({ before: { username: 'a' }, after: null }), []);
});
