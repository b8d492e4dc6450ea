import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapKey, type KeyPress } from './tree-keys.ts';

const press = (key: string, others: Partial<KeyPress> = {}): KeyPress => ({
  key,
  code: '',
  shiftKey: false,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...others,
});

test('maps the keys of the WAI-ARIA tree pattern and of file managers', () => {
  const cases: readonly (readonly [KeyPress, object | null])[] = [
    [press('ArrowDown'), { kind: 'move', by: 1, extends: false }],
    [press('ArrowUp', { shiftKey: true }), { kind: 'move', by: -1, extends: true }],
    [press('End'), { kind: 'move', by: 'last', extends: false }],
    [press('Home', { shiftKey: true }), { kind: 'move', by: 'first', extends: true }],
    [press('a', { ctrlKey: true }), { kind: 'selectSiblings' }],
    [press('ArrowRight'), { kind: 'in' }],
    [press('ArrowLeft'), { kind: 'out' }],
    [press('*', { shiftKey: true }), { kind: 'expandSiblings' }],
    [press(' '), { kind: 'toggle' }],
    [press('Enter'), { kind: 'open' }],
    [press('F2'), { kind: 'command', command: 'rename' }],
    [press('n', { altKey: true, code: 'KeyN' }), { kind: 'command', command: 'create' }],
    [press('F10', { shiftKey: true }), { kind: 'command', command: 'menu' }],
    [press('z', { ctrlKey: true }), { kind: 'command', command: 'undo' }],
    [press('X', { metaKey: true }), { kind: 'command', command: 'cut' }],
    [press('f'), { kind: 'type', text: 'f' }],
    [press('Ä', { shiftKey: true }), { kind: 'type', text: 'Ä' }],
    // The browser handles these keys, or they have no function.
    [press('k', { ctrlKey: true }), null],
    [press('z', { ctrlKey: true, shiftKey: true }), null],
    [press('ArrowLeft', { altKey: true }), null],
    [press('Tab'), null],
    [press('F5'), null],
    [press('F10'), null],
  ];
  for (const [keyPress, expected] of cases) {
    assert.deepEqual(mapKey(keyPress, false), expected, JSON.stringify(keyPress));
  }
});

test('treats a space as text while a name is being typed', () => {
  assert.deepEqual(mapKey(press(' '), true), { kind: 'type', text: ' ' });
});
