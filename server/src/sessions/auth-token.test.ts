import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, test } from 'node:test';
import { maxAuthTokenSeconds } from '../config/settings-table.ts';
import { AuthTokens } from './auth-token.ts';
import { signingAt } from './signing-keys.ts';

const at = (time: string) => Date.parse(`2026-03-01T${time}Z`);
const secondsAt = (time: string) => at(time) / 1000;

type Key = ReturnType<typeof newKey>;

function newKey(id: string, signsFrom: number) {
  return { id, createdAt: 0, signsFrom, ...generateKeyPairSync('ed25519') };
}

const firstKey = newKey('first', 0);
const secondKey = newKey('second', at('09:00:00'));
const thirdKey = newKey('third', at('12:00:00'));
const allKeys = [thirdKey, secondKey, firstKey];

/** Signs a token as an attacker with the private key would. */
function forge(key: Key, claims: Record<string, unknown>): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const { iat } = claims;
  const allClaims = { iss: 'urn:test', sub: 'somebody', sid: 'a session', jti: 'x', nbf: iat, ...claims };
  const signingInput = `${encode({ alg: 'EdDSA', typ: 'at+jwt', kid: key.id })}.${encode(allClaims)}`;
  return `${signingInput}.${sign(null, Buffer.from(signingInput), key.privateKey).toString('base64url')}`;
}

function forgeAt(key: Key, time: string, lifetimeSeconds = 600): string {
  const iat = secondsAt(time);
  return forge(key, { iat, exp: iat + lifetimeSeconds });
}

function nodeAt(now: number, lifetimeSeconds = 600) {
  const clock = { now: () => now };
  const keys = {
    all: allKeys,
    get current() {
      return signingAt(allKeys, clock.now())!;
    },
    isKeyListCurrent: true,
    reread: () => Promise.resolve(),
    rereadSoon: () => undefined,
  };
  return {
    tokens: new AuthTokens({ issuer: 'urn:test', lifetimeSeconds, clock, keys }),
    advance: (ms: number) => void (now += ms),
  };
}

describe('a forged token that is signed with a stolen private key', () => {
  const { tokens } = nodeAt(at('15:00:00'));
  const isAccepted = (token: string) => tokens.read(token) !== undefined;

  test('is accepted from a replaced key only if it was issued before the next key became active', () => {
    assert.ok(isAccepted(forgeAt(secondKey, '11:59:59')));
    assert.ok(!isAccepted(forgeAt(secondKey, '14:59:59')));
    assert.ok(!isAccepted(forgeAt(secondKey, '12:30:00')));
  });

  test('is accepted if it was issued up to one minute later, because clocks differ', () => {
    assert.ok(isAccepted(forgeAt(secondKey, '12:01:00.000')));
    assert.ok(!isAccepted(forgeAt(secondKey, '12:01:00.001')));
  });

  test('is accepted until the start of the next key, not of the newest key', () => {
    assert.ok(isAccepted(forgeAt(firstKey, '09:01:00.000')));
    assert.ok(!isAccepted(forgeAt(firstKey, '09:01:00.001')));
    assert.ok(!isAccepted(forgeAt(firstKey, '11:00:00')));
    assert.ok(isAccepted(forgeAt(secondKey, '11:00:00')));
  });

  test('is rejected if its lifetime is longer than a day', () => {
    assert.equal(maxAuthTokenSeconds, 86_400);
    for (const key of allKeys) {
      assert.ok(isAccepted(forgeAt(key, '09:00:30', 86_400)), key.id);
      assert.ok(!isAccepted(forgeAt(key, '09:00:30', 86_400.001)), key.id);
      assert.ok(!isAccepted(forgeAt(key, '09:00:30', 60 * 86_400)), key.id);
    }
  });

  test('expires at most one day and one minute after the start of the next key', () => {
    const token = forgeAt(secondKey, '12:01:00', 86_400);
    assert.equal(tokens.read(token)?.tokenExpiresAt, Date.parse('2026-03-02T12:01:00Z'));
  });

  test('is rejected if a time is missing or not a number', () => {
    const iat = secondsAt('14:59:59');
    const exp = iat + 600;
    for (const key of allKeys) {
      for (const claims of [
        { exp },
        { iat },
        { iat, exp, nbf: 'x' },
        { iat: 'x', exp },
        { iat, exp: 'x' },
        { iat: null, exp },
        { iat: [], exp },
        { iat: {}, nbf: 0, exp },
        { iat: iat + 3_600, nbf: {}, exp: iat + 7_200 },
        { iat: iat + 3_600, nbf: 0, exp: iat + 7_200 },
      ]) {
        assert.ok(!isAccepted(forge(key, claims)), `${key.id} ${JSON.stringify(claims)}`);
      }
    }
  });
});

describe('a token that a node issued', () => {
  test('is accepted by nodes whose clocks differ by a minute, before and after a rotation', () => {
    for (const time of ['11:58:59', '11:59:59.999', '12:00:00', '12:00:59.999', '12:01:00', '12:02:00']) {
      for (const issuerSkewMs of [-60_000, 0, 60_000]) {
        const token = nodeAt(at(time) + issuerSkewMs).tokens.issue('somebody', 'a session');
        assert.ok(nodeAt(at(time)).tokens.read(token), `${time} ${issuerSkewMs}`);
        assert.ok(nodeAt(at(time) + 3_600_000).tokens.read(token), `${time} ${issuerSkewMs}, an hour later`);
      }
    }
  });

  test('is accepted with the maximum lifetime, at any millisecond of a second', () => {
    const reader = nodeAt(at('15:00:00'));
    const issuer = nodeAt(at('15:00:00'), maxAuthTokenSeconds);
    for (let ms = 0; ms < 1_000; ms += 7) {
      assert.ok(reader.tokens.read(issuer.tokens.issue('somebody', 'a session')), `${ms} ms`);
      issuer.advance(7);
    }
  });

  test('can be refreshed long after its key stopped signing', () => {
    const node = nodeAt(at('11:59:00'));
    const token = nodeAt(at('11:59:00')).tokens.issue('somebody', 'a session');
    const read = node.tokens.read(token);
    assert.equal(read?.signingKeyId, 'second');
    node.advance(50 * 86_400_000);
    assert.equal(node.tokens.read(token), read);
    assert.deepEqual(nodeAt(at('12:00:00') + 50 * 86_400_000).tokens.read(token), read);
  });
});
