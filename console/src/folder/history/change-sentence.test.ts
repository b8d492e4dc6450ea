import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeSentence } from './change-sentence.ts';

const change = {
  at: '2026-11-15T16:50:07.123Z',
  by: { id: 'u1', username: 'ada' },
  oldParent: null,
  newParent: null,
  folderCount: null,
};

test('a change is told with who did it, as far as that is known', () => {
  assert.equal(changeSentence({ ...change, kind: 'UPDATE' }), 'ada changed it');
  assert.equal(changeSentence({ ...change, kind: 'DELETE', by: null }), 'Somebody deleted it');
  assert.equal(
    changeSentence({ ...change, kind: 'IMPORT', folderCount: 1200 }),
    'ada imported 1,200 folders into it',
  );
});

test('a move is told with the places that one sees', () => {
  const [oldParent, newParent] = [
    { id: 'a', name: 'A' },
    { id: 'b', name: 'B' },
  ];
  const moved = { ...change, kind: 'MOVE' } as const;
  assert.equal(changeSentence({ ...moved, oldParent, newParent }), 'ada moved it from “A” to “B”');
  assert.equal(changeSentence({ ...moved, newParent }), 'ada moved it to “B”');
});

test('a change of one’s access has no time, and is told as such', () => {
  assert.equal(changeSentence({ ...change, kind: 'CREATE', at: null }), 'It became visible to you');
  assert.equal(
    changeSentence({ ...change, kind: 'UPDATE', at: null }),
    'What you may do with it has changed',
  );
});
