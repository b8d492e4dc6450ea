/** The public keys with which other services verify auth tokens, and token introspection. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { databaseKinds } from '../support/databases.ts';
import { problemOf, Testbed } from '../support/testbed.ts';

const client = 'billing:a password of thirty-two characters, at least';
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

for (const kind of databaseKinds) {
  describe(`the key set on ${kind.name}`, () => {
    let testbed: Testbed;
    before(
      async () => (testbed = await Testbed.start(kind, { settings: { ISSUER: 'https://tree.example' } })),
    );
    after(() => testbed.stop());

    test('lets a common JWT library verify auth tokens, and no other tokens', async () => {
      const { authToken, refreshToken } = await testbed.logIn();
      const keys = createRemoteJWKSet(new URL(`${testbed.url}/.well-known/jwks.json`));
      const options = {
        algorithms: ['EdDSA'],
        typ: 'at+jwt',
        issuer: 'https://tree.example',
        currentDate: new Date(testbed.clock.now()),
      };
      const { payload } = await jwtVerify(authToken, keys, options);
      assert.equal(payload.exp! - payload.iat!, 600);
      await assert.rejects(jwtVerify(`${authToken.slice(0, -4)}AAAA`, keys, options));
      await assert.rejects(jwtVerify(refreshToken, keys, options));
    });

    test('contains only public keys, and may be cached for two minutes', async () => {
      const response = await testbed.send('GET', '/.well-known/jwks.json');
      const { keys } = response.json<{ keys: Record<string, string>[] }>();
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('cache-control'), 'public, max-age=120');
      assert.deepEqual(
        keys.map((key) => Object.keys(key)),
        [['kty', 'crv', 'alg', 'use', 'kid', 'x']],
      );
      const entityTag = response.headers.get('etag')!;
      const again = await testbed.send('GET', '/.well-known/jwks.json', {
        headers: { 'if-none-match': entityTag },
      });
      assert.equal(again.status, 304);
      assert.equal(again.text, '');
      const head = await testbed.send('HEAD', '/.well-known/jwks.json');
      assert.equal(head.status, 200);
      assert.equal(head.headers.get('etag'), entityTag);
    });
  });

  describe(`token introspection on ${kind.name}`, () => {
    let testbed: Testbed;
    before(async () => (testbed = await Testbed.start(kind, { settings: { INTROSPECTION_CLIENT: client } })));
    after(() => testbed.stop());

    const form = 'application/x-www-form-urlencoded';
    const introspect = (
      body: string,
      authorization: string | undefined = basic(client),
      contentType = form,
    ) =>
      testbed.postRaw('/introspect', body, {
        'content-type': contentType,
        ...(authorization && { authorization }),
      });
    const readActivity = async (token: string) =>
      (await introspect(`token=${token}&token_type_hint=access_token`)).json<{ active: boolean }>();

    test('reports a valid auth token as active, with its owner and expiry', async () => {
      const { authToken } = await testbed.logIn();
      const claims = JSON.parse(Buffer.from(authToken.split('.')[1]!, 'base64url').toString()) as {
        sub: string;
        sid: string;
        iss: string;
      };
      const response = await introspect(`token=${authToken}`);
      assert.equal(response.headers.get('cache-control'), 'no-store');
      assert.deepEqual(response.json(), {
        active: true,
        token_type: 'Bearer',
        iss: claims.iss,
        sub: claims.sub,
        aud: claims.iss,
        client_id: 'espalier',
        sid: claims.sid,
        exp: Math.floor(testbed.clock.now() / 1000) + 600,
      });
    });

    test('reports everything else as inactive, without details', async () => {
      const { authToken, refreshToken } = await testbed.logIn();
      const expiring = await testbed.logIn();
      for (const token of ['x', refreshToken, `${authToken}x`, '%00', 'a.b.c']) {
        assert.deepEqual(await readActivity(token), { active: false }, token);
      }
      testbed.clock.advanceSeconds(600);
      assert.deepEqual(await readActivity(expiring.authToken), { active: false });
    });

    test('reports an auth token as active after a logout, but as inactive after its session is revoked', async () => {
      const out = await testbed.logIn();
      await testbed.post('/logout', {}, out.authToken);
      assert.equal((await readActivity(out.authToken)).active, true);
      const ended = await testbed.logIn();
      const other = await testbed.logIn();
      await testbed.query(
        'mutation{revokeSessions(input: {keepCurrent: true}){endedSessions}}',
        other.authToken,
      );
      while ((await readActivity(ended.authToken)).active) await new Promise(setImmediate);
      assert.equal((await readActivity(other.authToken)).active, true);
    });

    test('requires the client to authenticate, and sends a challenge', async () => {
      const { authToken } = await testbed.logIn();
      for (const authorization of [
        '',
        `Bearer ${authToken}`,
        basic('billing:'),
        basic(`billing${client}`),
        basic(client).slice(0, -4),
        'Basic',
      ]) {
        const response = await introspect(`token=${authToken}`, authorization);
        assert.equal(response.status, 401, authorization);
        assert.equal(response.headers.get('www-authenticate'), 'Basic realm="espalier"');
        assert.equal(problemOf(response).code, 'INVALID_CREDENTIALS');
      }
    });

    test('rejects a form without a token, with two tokens or of another type', async () => {
      for (const [body, type] of [
        ['', form],
        ['token=', form],
        ['token=a&token=b', form],
        ['{"token":"x"}', 'application/json'],
      ] as const) {
        assert.equal((await introspect(body, basic(client), type)).status, 400, body);
      }
    });

    test('returns 404 without a configured client', async () => {
      const plain = await Testbed.start(kind);
      const response = await plain.postRaw('/introspect', 'token=x', {
        'content-type': form,
        authorization: basic(':'),
      });
      assert.equal(response.status, 404);
      await plain.stop();
    });
  });
}
