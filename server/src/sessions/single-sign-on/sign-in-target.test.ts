import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Refusal } from '../../refusal.ts';
import { readTarget, ReturnAddresses } from './sign-in-target.ts';

const challenge = 'c'.repeat(43);
const publicUrl = 'https://example.com/tree';

describe('the return address of a sign-in', () => {
  const addresses = new ReturnAddresses({ publicUrl, hasConsole: true });
  const refusal = new Refusal('FORBIDDEN', 'The reason & more.');

  test('is the console below the public URL', () => {
    const target = readTarget({ challenge, returnTo: '/folders/1?tab=access#top' });
    const success = new URL(addresses.forCode(target, 'the-code'));
    assert.equal(success.origin + success.pathname, `${publicUrl}/console/sign-in`);
    assert.deepEqual(
      [...success.searchParams],
      [
        ['sso_code', 'the-code'],
        ['return_to', '/folders/1?tab=access#top'],
      ],
    );
    const error = new URL(addresses.forError(target, refusal)!);
    assert.equal(error.searchParams.get('error_description'), 'The reason & more.');
    assert.equal(error.searchParams.get('return_to'), '/folders/1?tab=access#top');
  });

  test('is the program, with its own parameters', () => {
    const target = readTarget({ challenge, redirectUri: 'http://127.0.0.1:51000/callback?id=1' });
    assert.equal(addresses.forCode(target, 'x'), 'http://127.0.0.1:51000/callback?id=1&code=x');
    assert.match(addresses.forError(target, refusal)!, /^http:\/\/127\.0\.0\.1:51000\/callback\?id=1&error=/);
  });

  test('is only the program if the server has no console', () => {
    const withoutConsole = new ReturnAddresses({ publicUrl, hasConsole: false });
    assert.throws(() => withoutConsole.require(readTarget({ challenge })), /no console/);
    assert.equal(withoutConsole.forError(undefined, refusal), undefined);
    withoutConsole.require(readTarget({ challenge, redirectUri: 'http://[::1]:51000/' }));
  });

  test('is never a list of values', () => {
    for (const requested of [
      { challenge: [challenge, challenge] },
      { challenge, redirectUri: ['http://127.0.0.1:51000/'] },
      { challenge, returnTo: ['/a', '/b'] },
    ]) {
      assert.throws(() => readTarget(requested), Refusal);
    }
  });
});
