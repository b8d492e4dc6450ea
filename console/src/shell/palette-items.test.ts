import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  rankMatch,
  findItems,
  groupItems,
  dropStale,
  matchesWithoutNames,
  type PaletteItem,
} from './palette-items.ts';

const item = (label: string, more: Partial<PaletteItem> = {}): PaletteItem => ({
  id: label,
  group: 'Go to',
  label,
  icon: 'folder',
  run: () => {},
  ...more,
});
const labels = (items: readonly PaletteItem[]) => items.map(({ label }) => label);

describe('palette', () => {
  test('matches prefixes of words in any order, ignoring case and accents', () => {
    for (const text of ['', 'move', 'Mo', 'to mo', 'MÖVE', '  move  to ']) {
      assert.notEqual(rankMatch({ label: 'Move to…' }, text), undefined, text);
    }
    for (const text of ['remove', 'move from', 'x'])
      assert.equal(rankMatch({ label: 'Move to…' }, text), undefined);
  });

  test('matches keywords that are not in the label', () => {
    assert.equal(rankMatch({ label: 'Dark theme', keywords: 'night colors' }, 'nig'), 1);
    assert.equal(rankMatch({ label: 'Dark theme', keywords: 'night colors' }, 'igh'), undefined);
  });

  test('ranks labels that start with the text before labels with a matching word', () => {
    const items = ['Dissessions', 'Your sessions', 'Sessions'].map((label) => item(label));
    assert.deepEqual(labels(findItems(items, 'sess')), ['Sessions', 'Your sessions', 'Dissessions']);
  });

  test('ranks recently chosen items first among equal matches', () => {
    const items = ['Users', 'Groups', 'Keys'].map((label) => item(label));
    assert.deepEqual(labels(findItems(items, '', ['Keys', 'Groups'])), ['Keys', 'Groups', 'Users']);
  });

  test('ignores the folder name in a command in matchesWithoutNames()', () => {
    const command = item('Show who has access to “Places”', { keywords: 'grants' });
    for (const text of ['show', 'access', 'gra']) assert.ok(matchesWithoutNames(command, text), text);
    for (const text of ['places', 'access places']) assert.ok(!matchesWithoutNames(command, text), text);
  });

  test('keeps results of an earlier text only if they match the current text', () => {
    const items = [
      item('Laboratory', { detail: '/North/Laboratory' }),
      item('Lagoon', { detail: '/South/Lagoon' }),
    ];
    assert.deepEqual(labels(dropStale(items, 'lag', true)), ['Lagoon']);
    assert.deepEqual(labels(dropStale(items, 'north', true)), ['Laboratory']);
    assert.deepEqual(labels(dropStale(items, 'lax', true)), []);
    assert.equal(dropStale(items, 'a text that only the server can match', false).length, 2);
  });

  test('shows a duplicate item once, in its first group', () => {
    const groups = groupItems([
      item('Keys', { group: 'Recent' }),
      item('Users'),
      item('Keys'),
      item('Sign out', { group: 'Actions' }),
    ]);
    assert.deepEqual(
      groups.map(({ name, items }) => [name, labels(items)]),
      [
        ['Recent', ['Keys']],
        ['Go to', ['Users']],
        ['Actions', ['Sign out']],
      ],
    );
  });
});
