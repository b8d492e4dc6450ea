import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, test } from 'node:test';
import { maxAuthTokenSeconds } from '../config/token-settings.ts';
import { createAuthTokens } from './auth-token.ts';
import { signingAt, type DecryptedKey } from './signing-keys.ts';

const at = (time: string) => Date.parse(`2026-03-01T${time}Z`);
const secondsAt = (time: string) => at(time) / 1000;

function newKey(id: string, signsFrom: number): DecryptedKey {
  return { id, createdAt: 0, signsFrom, ...generateKeyPairSync('ed25519') };
}

const first = newKey('first', 0);
const second = newKey('second', at('09:00:00'));
const third = newKey('third', at('12:00:00'));
const all = [third, second, first];

/** What somebody makes who has a private key. */
function made(key: DecryptedKey, claims: Record<string, unknown>): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const { iat } = claims;
  const whole = { iss: 'urn:test', sub: 'somebody', sid: 'a session', jti: 'x', nbf: iat, ...claims };
  const signed = `${encode({ alg: 'EdDSA', typ: 'at+jwt', kid: key.id })}.${encode(whole)}`;
  return `${signed}.${sign(null, Buffer.from(signed), key.privateKey).toString('base64url')}`;
}

function madeAt(key: DecryptedKey, time: string, lifeSeconds = 600): string {
  const iat = secondsAt(time);
  return made(key, { iat, exp: iat + lifeSeconds });
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
    tokens: createAuthTokens({ issuer: 'urn:test', lifetimeSeconds, clock, keys }),
    pass: (ms: number) => void (now += ms),
  };
}

describe('what somebody can make who has the private key', () => {
  const { tokens } = nodeAt(at('15:00:00'));
  const isTaken = (token: string) => tokens.read(token) !== undefined;

  test('of a key that does not sign any more: what says that it was made before the next one signed, and no more', () => {
    assert.ok(isTaken(madeAt(second, '11:59:59')));
    assert.ok(!isTaken(madeAt(second, '14:59:59')));
    assert.ok(!isTaken(madeAt(second, '12:30:00')));
  });

  test('a minute is for clocks that differ, to the millisecond', () => {
    assert.ok(isTaken(madeAt(second, '12:01:00.000')));
    assert.ok(!isTaken(madeAt(second, '12:01:00.001')));
  });

  test('of several keys each ends with the next one, not with the newest', () => {
    assert.ok(isTaken(madeAt(first, '09:01:00.000')));
    assert.ok(!isTaken(madeAt(first, '09:01:00.001')));
    assert.ok(!isTaken(madeAt(first, '11:00:00')));
    assert.ok(isTaken(madeAt(second, '11:00:00')));
  });

  test('of whichever key: nothing that lives longer than a day', () => {
    assert.equal(maxAuthTokenSeconds, 86_400);
    for (const key of all) {
      assert.ok(isTaken(madeAt(key, '09:00:30', 86_400)), key.id);
      assert.ok(!isTaken(madeAt(key, '09:00:30', 86_400.001)), key.id);
      assert.ok(!isTaken(madeAt(key, '09:00:30', 60 * 86_400)), key.id);
    }
  });

  test('a day and a minute after the next key signed, all that an old one can make has expired', () => {
    const token = madeAt(second, '12:01:00', 86_400);
    assert.equal(tokens.read(token)?.tokenExpiresAt, Date.parse('2026-03-02T12:01:00Z'));
  });

  test('times that are missing, or no numbers, get nobody around it', () => {
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
        assert.ok(!isTaken(made(key, claims)), `${key.id} ${JSON.stringify(claims)}`);
      }
    }
  });
});

describe('what nodes sign is always taken', () => {
  test('by a node whose clock is a minute ahead, and by one a minute behind, on both sides of the change', () => {
    for (const time of ['11:58:59', '11:59:59.999', '12:00:00', '12:00:59.999', '12:01:00', '12:02:00']) {
      for (const issuersOffMs of [-60_000, 0, 60_000]) {
        const token = nodeAt(at(time) + issuersOffMs).tokens.issue('somebody', 'a session');
        assert.ok(nodeAt(at(time)).tokens.read(token), `${time} ${issuersOffMs}`);
        assert.ok(nodeAt(at(time) + 3_600_000).tokens.read(token), `${time} ${issuersOffMs}, an hour later`);
      }
    }
  });

  test('with the longest life that the setting takes, at any millisecond', () => {
    const reader = nodeAt(at('15:00:00'));
    const issuer = nodeAt(at('15:00:00'), maxAuthTokenSeconds);
    for (let ms = 0; ms < 1_000; ms += 7) {
      assert.ok(reader.tokens.read(issuer.tokens.issue('somebody', 'a session')), `${ms} ms`);
      issuer.pass(7);
    }
  });

  test('and what was taken while its key signed is taken for as long as it lives, and to refresh with', () => {
    const node = nodeAt(at('11:59:00'));
    const token = nodeAt(at('11:59:00')).tokens.issue('somebody', 'a session');
    const read = node.tokens.read(token);
    assert.equal(read?.keyId, 'second');
    node.pass(50 * 86_400_000);
    assert.equal(node.tokens.read(token), read);
    assert.deepEqual(nodeAt(at('12:00:00') + 50 * 86_400_000).tokens.read(token), read);
  });
});
