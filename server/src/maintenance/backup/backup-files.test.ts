import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCount, formatFreeSpace, formatSize } from './backup-files.ts';

test('formats small sizes in kB, medium sizes with a decimal, and large sizes in whole MB', () => {
  assert.equal(formatSize(0), '0 kB');
  assert.equal(formatSize(229_376), '224 kB');
  assert.equal(formatSize(2 ** 20 + 1), '1.1 MB');
  assert.equal(formatSize(3 * 2 ** 40), '3,145,728 MB');
});

test('formats a size that does not fit as larger than the free space', () => {
  assert.deepEqual([formatSize(1_900_000), formatFreeSpace(1_899_999)], ['1.9 MB', '1.8 MB']);
  assert.deepEqual([formatSize(50_000_001), formatFreeSpace(50_000_000)], ['48 MB', '47 MB']);
});

test('formats a count of one in the singular', () => {
  assert.equal(formatCount(1, 'folder'), '1 folder');
  assert.equal(formatCount(0, 'user'), '0 users');
  assert.equal(formatCount(2_000, 'folder'), '2,000 folders');
});
