import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sha256 } from './encryption.ts';

const token = '3f0e8a52-6f0a-4c87-9d5b-0b9f3b8b2f11';

test('sha256() returns the SHA-256 digest', () => {
  const digest = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  assert.equal(sha256('abc').toString('hex'), digest);
  assert.ok(!sha256(token).includes(Buffer.from(token)));
});

test('sha256() returns different digests for tokens that differ in case or spaces', () => {
  const digests = [token, token.toUpperCase(), ` ${token}`].map((each) => sha256(each).toString('hex'));
  assert.equal(new Set(digests).size, 3);
});
