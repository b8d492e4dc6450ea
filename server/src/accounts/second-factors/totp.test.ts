// cspell:ignore TQOJQ GEZDGNBVGY ijkm efgh abcdefghijkm TQOJQGEZDGNBVGY
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { createTotpSecret, describeTotpSecret, findTimeStep, readTypedCode, timeStepAt } from './totp.ts';

/** A second implementation, written from RFC 4226 §5.3 and RFC 6238 §4. */
function codeAt(secret: Uint8Array, now: number, digits = 6): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(now / 30_000)));
  const digest = createHmac('sha1', secret).update(counter).digest();
  const offset = digest.at(-1)! & 0x0f;
  const number = digest.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

describe('codes of authenticator apps', () => {
  const secret = Buffer.from('12345678901234567890');

  // RFC 6238, appendix B, SHA-1. Its codes have 8 digits; the last 6 are the code with 6 digits.
  const vectors: readonly (readonly [seconds: number, code: string])[] = [
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ];

  test('match the vectors of RFC 6238', async () => {
    for (const [seconds, code] of vectors) {
      const now = seconds * 1000;
      assert.equal(codeAt(secret, now, 8), code);
      assert.equal(await findTimeStep(secret, code.slice(2), now), timeStepAt(now));
    }
  });

  test('match a second implementation for random secrets and times', async () => {
    for (let count = 0; count < 200; count++) {
      const random = randomBytes(20);
      const now = randomBytes(5).readUIntBE(0, 5) * 4;
      assert.equal(await findTimeStep(random, codeAt(random, now), now), timeStepAt(now));
    }
  });

  test('are accepted one time step early and late, and no more', async () => {
    const now = Date.parse('2026-03-01T12:00:15Z');
    const steps = [-3, -2, -1, 0, 1, 2, 3];
    const found: (number | undefined)[] = [];
    for (const each of steps)
      found.push(await findTimeStep(secret, codeAt(secret, now + each * 30_000), now));
    const step = timeStepAt(now);
    assert.deepEqual(found, [undefined, undefined, step - 1, step, step + 1, undefined, undefined]);
  });

  test('change at the exact second', async () => {
    const now = 60_000;
    assert.equal(await findTimeStep(secret, codeAt(secret, now - 1), now), 1);
    assert.equal(await findTimeStep(secret, codeAt(secret, now - 30_001), now), undefined);
  });

  test('are wrong with another number of digits', async () => {
    const now = 59_000;
    for (const code of ['', '87082', '94287082', '2870820', 'x87082']) {
      assert.equal(await findTimeStep(secret, code, now), undefined);
    }
  });
});

describe('the secret of an authenticator app', () => {
  test('has 160 random bits', () => {
    const [one, other] = [createTotpSecret(), createTotpSecret()];
    assert.equal(one.length, 20);
    assert.notDeepEqual(one, other);
  });

  test('is described as Base32 and as a URI for a QR code', async () => {
    const secret = Buffer.from('12345678901234567890');
    const setup = await describeTotpSecret(secret, { username: 'anna: a&b', issuer: 'Espalier' });
    assert.equal(setup.secret, 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
    assert.equal(
      setup.uri,
      'otpauth://totp/Espalier:anna%20%20a%26b?issuer=Espalier&secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&algorithm=SHA1&digits=6&period=30',
    );
  });

  test('does not include other bytes of a shared buffer', async () => {
    const shared = Buffer.from('xx12345678901234567890yy');
    const now = 59_000;
    assert.equal(await findTimeStep(shared.subarray(2, 22), '287082', now), 1);
  });
});

describe('a typed code', () => {
  test('may contain spaces and hyphens, in any case', () => {
    assert.deepEqual(readTypedCode(' 287 082\n'), { kind: 'TOTP', code: '287082' });
    assert.deepEqual(readTypedCode('287-082'), { kind: 'TOTP', code: '287082' });
    assert.deepEqual(readTypedCode('ABCD-efgh ijkm-2345'), {
      kind: 'RECOVERY_CODE',
      code: 'abcdefghijkm2345',
    });
  });

  test('is refused in any other form', () => {
    const inputs = [
      '',
      '12345',
      '1234567',
      '２８７０８２',
      'abcd-efgh-ijkm-234',
      'abcd-efgh-ijkm-2341',
      ' '.repeat(99),
    ];
    for (const input of inputs) assert.equal(readTypedCode(input), undefined, input);
  });
});
