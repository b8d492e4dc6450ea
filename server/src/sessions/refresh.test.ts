import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { newRefreshToken, decryptSuccessor, encryptSuccessor } from './refresh.ts';

const oldTokens = { authToken: 'header.old.signature', refreshToken: '3f0e8a52-6f0a-4c87-9d5b-0b9f3b8b2f11' };
const newTokens = { authToken: 'header.new.signature', refreshToken: 'b8d2f2f6-43f5-4a31-8f0e-8fd6f4a3b0c7' };

const arbitraryTokens = fc.record(
  { authToken: fc.string(), refreshToken: fc.string() },
  { noNullPrototype: true },
);
const bytesOf = (text: string) => Buffer.from(text);

test('newRefreshToken() returns a UUID of version 4', () => {
  assert.match(newRefreshToken(), /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
});

test('newRefreshToken() returns different tokens', () => {
  const tokens = Array.from({ length: 10_000 }, newRefreshToken);
  assert.equal(new Set(tokens).size, tokens.length);
});

test('decryptSuccessor() returns the new tokens if both old tokens are correct', () => {
  fc.assert(
    fc.property(arbitraryTokens, arbitraryTokens, (successor, old) => {
      assert.deepEqual(decryptSuccessor(encryptSuccessor(successor, old), old), successor);
    }),
  );
});

test('decryptSuccessor() requires both old tokens', () => {
  const encrypted = encryptSuccessor(newTokens, oldTokens);
  assert.equal(decryptSuccessor(encrypted, { ...oldTokens, authToken: newTokens.authToken }), undefined);
  assert.equal(
    decryptSuccessor(encrypted, { ...oldTokens, refreshToken: newTokens.refreshToken }),
    undefined,
  );
  assert.equal(
    decryptSuccessor(encrypted, { authToken: oldTokens.refreshToken, refreshToken: oldTokens.authToken }),
    undefined,
  );
  assert.equal(decryptSuccessor(encrypted, newTokens), undefined);
});

test('encryptSuccessor() returns bytes without a readable token', () => {
  const encrypted = Buffer.from(encryptSuccessor(newTokens, oldTokens));
  for (const token of [...Object.values(oldTokens), ...Object.values(newTokens)]) {
    assert.ok(!encrypted.includes(bytesOf(token)));
  }
});

test('encryptSuccessor() returns different bytes for the same tokens each time', () => {
  assert.notDeepEqual(encryptSuccessor(newTokens, oldTokens), encryptSuccessor(newTokens, oldTokens));
});

test('decryptSuccessor() rejects bytes with a changed bit', () => {
  const encrypted = encryptSuccessor(newTokens, oldTokens);
  fc.assert(
    fc.property(fc.nat(encrypted.length - 1), fc.nat(7), (index, bit) => {
      const changed = Uint8Array.from(encrypted);
      changed[index]! ^= 1 << bit;
      assert.equal(decryptSuccessor(changed, oldTokens), undefined);
    }),
  );
});

test('decryptSuccessor() rejects truncated or extended bytes', () => {
  const encrypted = Buffer.from(encryptSuccessor(newTokens, oldTokens));
  assert.equal(decryptSuccessor(encrypted.subarray(0, -1), oldTokens), undefined);
  assert.equal(decryptSuccessor(Buffer.concat([encrypted, Buffer.alloc(1)]), oldTokens), undefined);
});
