/** What other services need to trust auth tokens: the public keys, and asking about one. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { databaseKinds } from '../support/databases.ts';
import { problemOf, Testbed } from '../support/testbed.ts';

const client = 'billing:a password of thirty-two characters, at least';
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

for (const kind of databaseKinds) {
  describe(`the key set on ${kind.name}`, () => {
    let bed: Testbed;
    before(async () => (bed = await Testbed.start(kind, { settings: { ISSUER: 'https://tree.example' } })));
    after(() => bed.stop());

    test('a published JWT library verifies auth tokens with it, and nothing else', async () => {
      const { authToken, refreshToken } = await bed.logIn();
      const keys = createRemoteJWKSet(new URL(`${bed.url}/.well-known/jwks.json`));
      const options = {
        algorithms: ['EdDSA'],
        typ: 'at+jwt',
        issuer: 'https://tree.example',
        currentDate: new Date(bed.clock.now()),
      };
      const { payload } = await jwtVerify(authToken, keys, options);
      assert.equal(payload.exp! - payload.iat!, 600);
      await assert.rejects(jwtVerify(`${authToken.slice(0, -4)}AAAA`, keys, options));
      await assert.rejects(jwtVerify(refreshToken, keys, options));
    });

    test('it holds public keys only, may be kept for two minutes, and says when it is still the same', async () => {
      const answer = await bed.send('GET', '/.well-known/jwks.json');
      const { keys } = answer.json<{ keys: Record<string, string>[] }>();
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('cache-control'), 'public, max-age=120');
      assert.deepEqual(
        keys.map((key) => Object.keys(key)),
        [['kty', 'crv', 'alg', 'use', 'kid', 'x']],
      );
      const entityTag = answer.headers.get('etag')!;
      const again = await bed.send('GET', '/.well-known/jwks.json', {
        headers: { 'if-none-match': entityTag },
      });
      assert.equal(again.status, 304);
      assert.equal(again.text, '');
      const head = await bed.send('HEAD', '/.well-known/jwks.json');
      assert.equal(head.status, 200);
      assert.equal(head.headers.get('etag'), entityTag);
    });
  });

  describe(`introspection on ${kind.name}`, () => {
    let bed: Testbed;
    before(async () => (bed = await Testbed.start(kind, { settings: { INTROSPECTION_CLIENT: client } })));
    after(() => bed.stop());

    const form = 'application/x-www-form-urlencoded';
    const ask = (body: string, authorization: string | undefined = basic(client), contentType = form) =>
      bed.postRaw('/introspect', body, {
        'content-type': contentType,
        ...(authorization && { authorization }),
      });
    const activity = async (token: string) =>
      (await ask(`token=${token}&token_type_hint=access_token`)).json<{ active: boolean }>();

    test('a good auth token is active, and it is told whose it is and until when', async () => {
      const { authToken } = await bed.logIn();
      const claims = JSON.parse(Buffer.from(authToken.split('.')[1]!, 'base64url').toString()) as {
        sub: string;
        sid: string;
        iss: string;
      };
      const answer = await ask(`token=${authToken}`);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      assert.deepEqual(answer.json(), {
        active: true,
        token_type: 'Bearer',
        iss: claims.iss,
        sub: claims.sub,
        sid: claims.sid,
        exp: Math.floor(bed.clock.now() / 1000) + 600,
      });
    });

    test('anything else is not active, and nothing more is told', async () => {
      const { authToken, refreshToken } = await bed.logIn();
      const expiring = await bed.logIn();
      for (const token of ['x', refreshToken, `${authToken}x`, '%00', 'a.b.c']) {
        assert.deepEqual(await activity(token), { active: false }, token);
      }
      bed.clock.advanceSeconds(600);
      assert.deepEqual(await activity(expiring.authToken), { active: false });
    });

    test('a logged-out session has an active auth token until that expires; an ended one has none', async () => {
      const out = await bed.logIn();
      await bed.post('/logout', {}, out.authToken);
      assert.equal((await activity(out.authToken)).active, true);
      const ended = await bed.logIn();
      const other = await bed.logIn();
      await bed.query('mutation{revokeSessions(input: {keepCurrent: true}){endedSessions}}', other.authToken);
      while ((await activity(ended.authToken)).active) await new Promise(setImmediate);
      assert.equal((await activity(other.authToken)).active, true);
    });

    test('only the client may ask, and is told how to say who it is', async () => {
      const { authToken } = await bed.logIn();
      for (const authorization of [
        '',
        `Bearer ${authToken}`,
        basic('billing:'),
        basic(`billing${client}`),
        basic(client).slice(0, -4),
        'Basic',
      ]) {
        const answer = await ask(`token=${authToken}`, authorization);
        assert.equal(answer.status, 401, authorization);
        assert.equal(answer.headers.get('www-authenticate'), 'Basic realm="espalier"');
        assert.equal(problemOf(answer).code, 'INVALID_CREDENTIALS');
      }
    });

    test('a form without a token, with two, or of another type is malformed', async () => {
      for (const [body, type] of [
        ['', form],
        ['token=', form],
        ['token=a&token=b', form],
        ['{"token":"x"}', 'application/json'],
      ] as const) {
        assert.equal((await ask(body, basic(client), type)).status, 400, body);
      }
    });

    test('without a client there is no such address', async () => {
      const plain = await Testbed.start(kind);
      const answer = await plain.postRaw('/introspect', 'token=x', {
        'content-type': form,
        authorization: basic(':'),
      });
      assert.equal(answer.status, 404);
      await plain.stop();
    });
  });
}
