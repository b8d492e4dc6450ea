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

const first = newKey('first', 0);
const second = newKey('second', at('09:00:00'));
const third = newKey('third', at('12:00:00'));
const all = [third, second, first];

/** Signs a token as an attacker with the private key would. */
function forge(key: Key, claims: Record<string, unknown>): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const { iat } = claims;
  const whole = { iss: 'urn:test', sub: 'somebody', sid: 'a session', jti: 'x', nbf: iat, ...claims };
  const signed = `${encode({ alg: 'EdDSA', typ: 'at+jwt', kid: key.id })}.${encode(whole)}`;
  return `${signed}.${sign(null, Buffer.from(signed), key.privateKey).toString('base64url')}`;
}

function forgeAt(key: Key, time: string, lifeSeconds = 600): string {
  const iat = secondsAt(time);
  return forge(key, { iat, exp: iat + lifeSeconds });
}

function nodeAt(now: number, lifetimeSeconds = 600) {
  const clock = { now: () => now };
  const keys = {
    all,
    get current() {
      return signingAt(all, clock.now())!;
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

  test('is accepted from a retired key only if it was issued before the next key became active', () => {
    assert.ok(isAccepted(forgeAt(second, '11:59:59')));
    assert.ok(!isAccepted(forgeAt(second, '14:59:59')));
    assert.ok(!isAccepted(forgeAt(second, '12:30:00')));
  });

  test('is accepted up to one minute later, for clock differences', () => {
    assert.ok(isAccepted(forgeAt(second, '12:01:00.000')));
    assert.ok(!isAccepted(forgeAt(second, '12:01:00.001')));
  });

  test('is accepted until the next key signs, not until the newest key signs', () => {
    assert.ok(isAccepted(forgeAt(first, '09:01:00.000')));
    assert.ok(!isAccepted(forgeAt(first, '09:01:00.001')));
    assert.ok(!isAccepted(forgeAt(first, '11:00:00')));
    assert.ok(isAccepted(forgeAt(second, '11:00:00')));
  });

  test('is rejected if it lives longer than a day', () => {
    assert.equal(maxAuthTokenSeconds, 86_400);
    for (const key of all) {
      assert.ok(isAccepted(forgeAt(key, '09:00:30', 86_400)), key.id);
      assert.ok(!isAccepted(forgeAt(key, '09:00:30', 86_400.001)), key.id);
      assert.ok(!isAccepted(forgeAt(key, '09:00:30', 60 * 86_400)), key.id);
    }
  });

  test('expires one day and one minute after the next key became active', () => {
    const token = forgeAt(second, '12:01:00', 86_400);
    assert.equal(tokens.read(token)?.tokenExpiresAt, Date.parse('2026-03-02T12:01:00Z'));
  });

  test('is rejected if a time is missing or not a number', () => {
    const iat = secondsAt('14:59:59');
    const exp = iat + 600;
    for (const key of all) {
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

describe('a token that a node signed', () => {
  test('is accepted by nodes whose clock is a minute ahead or behind, before and after a rotation', () => {
    for (const time of ['11:58:59', '11:59:59.999', '12:00:00', '12:00:59.999', '12:01:00', '12:02:00']) {
      for (const issuersOffMs of [-60_000, 0, 60_000]) {
        const token = nodeAt(at(time) + issuersOffMs).tokens.issue('somebody', 'a session');
        assert.ok(nodeAt(at(time)).tokens.read(token), `${time} ${issuersOffMs}`);
        assert.ok(nodeAt(at(time) + 3_600_000).tokens.read(token), `${time} ${issuersOffMs}, an hour later`);
      }
    }
  });

  test('is accepted with the maximum lifetime, at any millisecond', () => {
    const reader = nodeAt(at('15:00:00'));
    const issuer = nodeAt(at('15:00:00'), maxAuthTokenSeconds);
    for (let ms = 0; ms < 1_000; ms += 7) {
      assert.ok(reader.tokens.read(issuer.tokens.issue('somebody', 'a session')), `${ms} ms`);
      issuer.advance(7);
    }
  });

  test('stays valid after its key stopped signing, and can be refreshed', () => {
    const node = nodeAt(at('11:59:00'));
    const token = nodeAt(at('11:59:00')).tokens.issue('somebody', 'a session');
    const read = node.tokens.read(token);
    assert.equal(read?.keyId, 'second');
    node.advance(50 * 86_400_000);
    assert.equal(node.tokens.read(token), read);
    assert.deepEqual(nodeAt(at('12:00:00') + 50 * 86_400_000).tokens.read(token), read);
  });
});
