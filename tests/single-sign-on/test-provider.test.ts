import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createHash, randomBytes } from 'node:crypto';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { CookieBrowser } from './cookie-browser.ts';
import { providerClientId, TestProvider } from './test-provider.ts';

const publicUrl = 'http://127.0.0.1:9';

describe('the provider for tests', () => {
  let provider: TestProvider;
  before(async () => {
    provider = await TestProvider.start({ publicUrl });
    provider.addUser('ada', { groups: ['staff'] });
  });
  after(() => provider.stop());

  async function exchange() {
    const verifier = randomBytes(32).toString('base64url');
    const redirectUri = `${publicUrl}/login/sso/callback`;
    const parameters = new URLSearchParams({
      client_id: providerClientId,
      response_type: 'code',
      scope: 'openid profile groups',
      redirect_uri: redirectUri,
      code_challenge_method: 'S256',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    });
    const { url } = await new CookieBrowser().open(
      `${provider.issuer}/auth?${parameters.toString()}`,
      ({ origin }) => origin === publicUrl,
    );
    const response = await fetch(`${provider.issuer}/token`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${providerClientId}:${provider.clientSecret}`).toString('base64')}`,
      },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: url.searchParams.get('code') ?? '',
        redirect_uri: redirectUri,
        code_verifier: verifier,
      }),
    });
    return (await response.json()) as Record<string, string>;
  }

  test('issues tokens that its published keys verify, also after it has replaced them', async () => {
    provider.autoLogin = 'ada';
    for (const replaces of [false, true]) {
      if (replaces) await provider.rotateKeys();
      const tokens = await exchange();
      const keys = createRemoteJWKSet(new URL(`${provider.issuer}/jwks`));
      const { payload } = await jwtVerify(tokens['id_token']!, keys, { issuer: provider.issuer });
      assert.equal(payload['preferred_username'], 'ada');
      assert.deepEqual(payload['groups'], ['staff']);
      assert.equal(typeof payload['sid'], 'string');
      assert.equal(typeof tokens['refresh_token'], 'string');
    }
  });

  test('shows a login form to a browser without a user', async () => {
    provider.autoLogin = undefined;
    const parameters = new URLSearchParams({
      client_id: providerClientId,
      response_type: 'code',
      scope: 'openid',
      redirect_uri: `${publicUrl}/login/sso/callback`,
      code_challenge_method: 'S256',
      code_challenge: randomBytes(32).toString('base64url'),
    });
    const page = await new CookieBrowser().open(`${provider.issuer}/auth?${parameters.toString()}`);
    assert.match(page.text, /User name/);
  });
});
