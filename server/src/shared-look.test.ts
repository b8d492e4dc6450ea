import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedLook } from './shared-look.ts';

test('those who ask at the same time share a look, and whoever asks later gets a new one', async () => {
  let looks = 0;
  const look = sharedLook(() => Promise.resolve(++looks));
  assert.deepEqual(await Promise.all([look(), look(), look()]), [1, 1, 1]);
  assert.equal(await look(), 2);
});

test('what was seen holds for as long as it says', async () => {
  let looks = 0;
  const look = sharedLook(() => Promise.resolve(++looks), 60_000);
  assert.deepEqual([await look(), await look()], [1, 1]);
});

test('one that failed is not kept for others than those who waited for it', async () => {
  let isBroken = true;
  const look = sharedLook(() => (isBroken ? Promise.reject(new Error('no')) : Promise.resolve('yes')));
  await Promise.all([assert.rejects(look()), assert.rejects(look())]);
  isBroken = false;
  assert.equal(await look(), 'yes');
});
