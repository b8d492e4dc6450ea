/** Tests the login methods and the single sign-on of the client. The server is scripted. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, mock, test } from 'node:test';
import type { SessionClientOptions } from '../client-options.ts';
import { createClient } from '../client.ts';
import { EspalierError } from '../errors.ts';
import { memoryStorage } from './token-storage.ts';

const url = 'http://server.test/base';
const problem = { code: 'INVALID_CREDENTIALS', detail: 'The code is not valid.' };
const methods = { password: true, singleSignOn: { name: 'Acme' }, passkeys: false };

function createScriptedClient(reply: () => Response, options: Partial<SessionClientOptions> = {}) {
  const sent: { method: string; path: string; body: unknown }[] = [];
  const storage = memoryStorage();
  const send: typeof fetch = (input, { method, body } = {}) => {
    const path = (input as string).slice(url.length);
    sent.push({ method: method!, path, body: body === undefined ? undefined : JSON.parse(body as string) });
    return Promise.resolve(reply());
  };
  return { client: createClient({ url, storage, fetch: send, retrySeconds: 0, ...options }), sent, storage };
}

const hasCode = (code: string) => (error: unknown) => error instanceof EspalierError && error.code === code;

describe('the login methods', () => {
  test('are those that the server returns', async () => {
    const { client, sent } = createScriptedClient(() => Response.json(methods));
    assert.deepEqual(await client.loginMethods(), methods);
    assert.deepEqual(sent, [{ method: 'GET', path: '/login/methods', body: undefined }]);
  });

  test('contain only what the client supports', async () => {
    const reply = { password: false, singleSignOn: null, passkeys: true, other: 1 };
    const { client } = createScriptedClient(() => Response.json(reply));
    assert.deepEqual(await client.loginMethods(), { password: false, singleSignOn: null, passkeys: true });
  });

  test('are refused from a server that does not have them', async () => {
    for (const reply of [() => Response.json({}), () => Response.json(problem, { status: 404 })]) {
      const { client } = createScriptedClient(reply);
      await assert.rejects(client.loginMethods(), hasCode('NOT_ESPALIER'));
    }
  });
});

describe('a single sign-on', () => {
  test('starts at an address with the digest of a new verifier, and sends no request', async () => {
    const { client, sent } = createScriptedClient(() => assert.fail('A request was sent.'));
    const starts = await Promise.all([client.startSingleSignOn(), client.startSingleSignOn()]);
    assert.notEqual(starts[0].verifier, starts[1].verifier);
    for (const { url: address, verifier } of starts) {
      assert.match(verifier, /^[\w-]{43}$/);
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      assert.equal(address, `${url}/login/sso?challenge=${challenge}`);
    }
    assert.deepEqual(sent, []);
  });

  test('passes on where the browser returns to', async () => {
    const { client } = createScriptedClient(() => assert.fail('A request was sent.'));
    const redirectUri = 'http://127.0.0.1:51000/callback';
    const { url: address } = await client.startSingleSignOn({ redirectUri, returnTo: '/users?text=a&b' });
    const { searchParams } = new URL(address);
    assert.equal(searchParams.get('redirect_uri'), redirectUri);
    assert.equal(searchParams.get('return_to'), '/users?text=a&b');
  });

  test('stores the session like a login', async () => {
    const tokens = { authToken: 'secret-auth', refreshToken: 'secret-refresh', expires_in: 600 };
    const clock = { now: () => 1_000 };
    const { client, sent, storage } = createScriptedClient(() => Response.json(tokens), { clock });
    const events: string[] = [];
    client.onSession(({ type }) => events.push(type));
    await client.completeSingleSignOn({ code: 'one-time', verifier: 'kept' });
    const body = { code: 'one-time', verifier: 'kept' };
    assert.deepEqual(sent, [{ method: 'POST', path: '/login/sso', body }]);
    assert.deepEqual(await storage.read(), {
      authToken: 'secret-auth',
      refreshToken: 'secret-refresh',
      lifetimeSeconds: 600,
      expiresAt: 601_000,
    });
    assert.deepEqual(events, ['login']);
  });

  test('stores nothing if the server refuses the code', async () => {
    const { client, storage } = createScriptedClient(() => Response.json(problem, { status: 401 }));
    const completed = client.completeSingleSignOn({ code: 'used', verifier: 'kept' });
    await assert.rejects(completed, hasCode('INVALID_CREDENTIALS'));
    assert.equal(await storage.read(), undefined);
  });

  test('explains that it needs Web Crypto, which a page without TLS does not have', async (context) => {
    const { client } = createScriptedClient(() => assert.fail('A request was sent.'));
    mock.getter(crypto, 'subtle', () => undefined);
    context.after(() => mock.restoreAll());
    await assert.rejects(client.startSingleSignOn(), hasCode('NO_WEB_CRYPTO'));
  });
});
