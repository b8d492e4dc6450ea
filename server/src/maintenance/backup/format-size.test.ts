import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counted, shownRoom, shownSize } from './format-size.ts';

test('small sizes are shown in kB or with a decimal, large ones in whole MB', () => {
  assert.equal(shownSize(0), '0 kB');
  assert.equal(shownSize(229_376), '224 kB');
  assert.equal(shownSize(2 ** 20 + 1), '1.1 MB');
  assert.equal(shownSize(3 * 2 ** 40), '3,145,728 MB');
});

test('what does not fit looks larger than the room, however little it is', () => {
  assert.deepEqual([shownSize(1_900_000), shownRoom(1_899_999)], ['1.9 MB', '1.8 MB']);
  assert.deepEqual([shownSize(50_000_001), shownRoom(50_000_000)], ['48 MB', '47 MB']);
});

test('one is not several', () => {
  assert.equal(counted(1, 'folder'), '1 folder');
  assert.equal(counted(0, 'user'), '0 users');
  assert.equal(counted(2_000, 'folder'), '2,000 folders');
});
