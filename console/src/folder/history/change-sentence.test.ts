import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatChange } from './change-sentence.ts';

const change = {
  at: '2026-11-15T16:50:07.123Z',
  by: { id: 'u1', username: 'ada' },
  oldParent: null,
  newParent: null,
  folderCount: null,
};

test('names the user who made the change, if known', () => {
  assert.equal(formatChange({ ...change, kind: 'UPDATE' }), 'ada changed it');
  assert.equal(formatChange({ ...change, kind: 'DELETE', by: null }), 'Another user deleted it');
  assert.equal(
    formatChange({ ...change, kind: 'IMPORT', folderCount: 1200 }),
    'ada imported 1,200 folders into it',
  );
});

test('names the old and new parents that the viewer can see', () => {
  const [oldParent, newParent] = [
    { id: 'a', name: 'A' },
    { id: 'b', name: 'B' },
  ];
  const moved = { ...change, kind: 'MOVE' } as const;
  assert.equal(formatChange({ ...moved, oldParent, newParent }), 'ada moved it from “A” to “B”');
  assert.equal(formatChange({ ...moved, newParent }), 'ada moved it to “B”');
});

test('describes a change without a time as an access change', () => {
  assert.equal(formatChange({ ...change, kind: 'CREATE', at: null }), 'It became visible to you');
  assert.equal(formatChange({ ...change, kind: 'UPDATE', at: null }), 'Your access to it changed');
});
