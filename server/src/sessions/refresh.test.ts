import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { digestOf, newRefreshToken, decryptSuccessor, encryptSuccessor } from './refresh.ts';

const old = { authToken: 'header.old.signature', refreshToken: '3f0e8a52-6f0a-4c87-9d5b-0b9f3b8b2f11' };
const successor = { authToken: 'header.new.signature', refreshToken: 'b8d2f2f6-43f5-4a31-8f0e-8fd6f4a3b0c7' };

const pairs = fc.record({ authToken: fc.string(), refreshToken: fc.string() }, { noNullPrototype: true });
const bytesOf = (text: string) => Buffer.from(text);

test('creates a UUID of version 4', () => {
  assert.match(newRefreshToken(), /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
});

test('creates different tokens', () => {
  const tokens = Array.from({ length: 10_000 }, newRefreshToken);
  assert.equal(new Set(tokens).size, tokens.length);
});

test('computes the SHA-256 digest', () => {
  const digest = Buffer.from(digestOf('abc'));
  assert.equal(digest.toString('hex'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  assert.ok(!Buffer.from(digestOf(old.refreshToken)).includes(bytesOf(old.refreshToken)));
});

test('computes different digests for tokens that differ in case or spaces', () => {
  const digests = [old.refreshToken, old.refreshToken.toUpperCase(), ` ${old.refreshToken}`].map((token) =>
    Buffer.from(digestOf(token)).toString('hex'),
  );
  assert.equal(new Set(digests).size, 3);
});

test('decrypts the successor with both old tokens', () => {
  fc.assert(
    fc.property(pairs, pairs, (next, former) => {
      assert.deepEqual(decryptSuccessor(encryptSuccessor(next, former), former), next);
    }),
  );
});

test('does not decrypt the successor with one old token or with the new tokens', () => {
  const encrypted = encryptSuccessor(successor, old);
  assert.equal(decryptSuccessor(encrypted, { ...old, authToken: successor.authToken }), undefined);
  assert.equal(decryptSuccessor(encrypted, { ...old, refreshToken: successor.refreshToken }), undefined);
  assert.equal(
    decryptSuccessor(encrypted, { authToken: old.refreshToken, refreshToken: old.authToken }),
    undefined,
  );
  assert.equal(decryptSuccessor(encrypted, successor), undefined);
});

test('encrypts to bytes without a readable token', () => {
  const encrypted = Buffer.from(encryptSuccessor(successor, old));
  for (const token of [...Object.values(old), ...Object.values(successor)]) {
    assert.ok(!encrypted.includes(bytesOf(token)));
  }
});

test('encrypts the same tokens to different bytes each time', () => {
  assert.notDeepEqual(encryptSuccessor(successor, old), encryptSuccessor(successor, old));
});

test('does not decrypt bytes with a changed bit', () => {
  const encrypted = encryptSuccessor(successor, old);
  fc.assert(
    fc.property(fc.nat(encrypted.length - 1), fc.nat(7), (index, bit) => {
      const changed = Uint8Array.from(encrypted);
      changed[index]! ^= 1 << bit;
      assert.equal(decryptSuccessor(changed, old), undefined);
    }),
  );
});

test('does not decrypt truncated or extended bytes', () => {
  const encrypted = Buffer.from(encryptSuccessor(successor, old));
  assert.equal(decryptSuccessor(encrypted.subarray(0, -1), old), undefined);
  assert.equal(decryptSuccessor(Buffer.concat([encrypted, Buffer.alloc(1)]), old), undefined);
});
