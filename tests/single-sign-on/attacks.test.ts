/** Forged, replayed, mixed-up and expired states, codes and tokens. None starts a session, and none reveals a secret. */

import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { after, afterEach, before, describe, test } from 'node:test';
import { SignJWT, type JWTPayload } from 'jose';
import { databaseKinds } from '../support/databases.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { withDatabase } from '../support/stored-rows.ts';
import { problemOf, TestClock, Testbed } from '../support/testbed.ts';
import { SignOnTestbed } from './sign-on-testbed.ts';
import { providerClientId, type ProviderFaults } from './test-provider.ts';

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

const redirectUris = [
  'https://evil.example.com/',
  'http://evil.example.com:8080/',
  'http://localhost:51000/callback',
  'http://127.0.0.1/callback',
  'https://127.0.0.1:51000/callback',
  'http://127.0.0.1:51000@evil.example.com/',
  'http://user:secret@127.0.0.1:51000/',
  'http://127.0.0.1.evil.example.com:51000/',
  'http://127.0.0.1:51000/#fragment',
  'http://0.0.0.0:51000/',
  'javascript:alert(1)',
  'espalier://callback',
  '//evil.example.com',
  '',
];

const returnPaths = [
  '//evil.example.com',
  '/\\evil.example.com',
  'https://evil.example.com',
  'folders',
  '\\',
  '/\n',
  '',
];

/** Each makes the provider send an ID token that is not valid. */
const tokenFaults: Readonly<Record<string, (bed: SignOnTestbed) => ProviderFaults>> = {
  'another nonce': () => ({ claims: (claims) => ({ ...claims, nonce: 'another nonce' }) }),
  'no nonce': () => ({ claims: ({ nonce: _, ...claims }) => claims }),
  'another issuer': () => ({ claims: (claims) => ({ ...claims, iss: 'https://evil.example.com' }) }),
  'another audience': () => ({ claims: (claims) => ({ ...claims, aud: 'another client' }) }),
  'a second audience without azp': () => ({
    claims: (claims) => ({ ...claims, aud: [providerClientId, 'another client'], azp: 'another client' }),
  }),
  'an expiry in the past': () => ({ claims: (claims) => ({ ...claims, exp: claims.iat! - 3600 }) }),
  'no subject': () => ({ claims: ({ sub: _, ...claims }) => claims }),
  'the algorithm none': () => ({
    idToken: (claims) => `${base64url({ alg: 'none', typ: 'JWT' })}.${base64url(claims)}.`,
  }),
  'a signature with the client secret': ({ provider }) => ({
    idToken: (claims) => signWithSecret(claims, provider.clientSecret),
  }),
  'a signature with an unknown key': () => ({ idToken: signWithUnknownKey }),
  'a damaged signature': ({ provider }) => ({
    idToken: async (claims) => (await provider.sign(claims)).replace(/.{8}$/, 'AAAAAAAA'),
  }),
};

function signWithSecret(claims: JWTPayload, secret: string): string {
  const signed = `${base64url({ alg: 'HS256' })}.${base64url(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

function signWithUnknownKey(claims: JWTPayload): Promise<string> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'unknown' }).sign(privateKey);
}

/** All values of a table, with bytes as Latin-1. */
function readTable(url: string, name: string): Promise<string> {
  return withDatabase(url, async (database) => {
    const rows = await database.all<object, object>({ parts: [`select * from ${name}`] }, {});
    assert.ok(rows.length > 0);
    const values = rows.flatMap((row) => Object.values(row) as unknown[]);
    return values
      .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value)))
      .join('\n');
  });
}

for (const kind of databaseKinds) {
  describe(`attacks on single sign-on on ${kind.name}`, () => {
    let bed: SignOnTestbed;
    before(async () => {
      bed = await SignOnTestbed.start(kind);
      for (const name of ['ada', 'mallory', 'grace']) bed.provider.addUser(name);
    });
    afterEach(() => bed.provider.resetFaults());
    after(() => bed.stop());

    const start = (query: Record<string, string>) =>
      bed.node.send('GET', `/login/sso?${new URLSearchParams(query).toString()}`, { redirect: 'manual' });
    const challenge = 'c'.repeat(43);
    const countUsers = async () => {
      const { authToken } = await bed.node.logIn();
      return (await bed.node.query('{users{totalCount}}', authToken)).text;
    };

    test('refuses to send a code anywhere except to the console and to this machine', async () => {
      for (const uri of redirectUris) {
        const answer = await start({ challenge, redirect_uri: uri });
        assert.equal(answer.status, 400, uri);
        assert.equal(answer.headers.get('location'), null, uri);
      }
      for (const path of returnPaths) {
        const answer = await start({ challenge, return_to: path });
        assert.equal(answer.status, 400, path);
        assert.equal(answer.headers.get('location'), null, path);
      }
    });

    test('refuses a start without a usable challenge', async () => {
      for (const query of [
        {},
        { challenge: '' },
        { challenge: 'short' },
        { challenge: `${'c'.repeat(42)}=` },
      ]) {
        const answer = await start(query);
        assert.equal(answer.status, 400);
        assert.equal(problemOf(answer).code, 'BAD_INPUT');
      }
      const twice = await bed.node.send('GET', `/login/sso?challenge=${challenge}&challenge=${challenge}`, {
        redirect: 'manual',
      });
      assert.equal(twice.status, 400);
    });

    test('does not derive its own address from the header Host', async () => {
      const connection = await RawConnection.open(bed.node.url);
      const answer = await connection.exchange(
        `GET /login/sso?challenge=${challenge} HTTP/1.1\r\nHost: evil.example.com\r\nX-Forwarded-Host: evil.example.com\r\n\r\n`,
      );
      connection.close();
      assert.equal(answer?.status, 302);
      assert.ok(!answer.head.includes('evil.example.com'));
    });

    test('refuses a forged state, a missing state and two states', async () => {
      for (const query of ['state=forged&code=x', 'code=x', 'state=a&state=b&code=x', '']) {
        const { url, error, code } = await bed.callBack(
          new URL(`${bed.node.url}/login/sso/callback?${query}`),
          'v',
        );
        assert.equal(error, 'BAD_INPUT', query);
        assert.equal(code, undefined);
        assert.equal(url.origin + url.pathname, `${bed.node.url}/console/sign-in`);
      }
    });

    test('accepts each state once, on all nodes together', async () => {
      const { verifier, callback } = await bed.signInUntilCallback('ada');
      const nodes = [bed.node, bed.other, bed.node];
      const results = await Promise.all(nodes.map((node) => bed.callBack(callback, verifier, node)));
      assert.equal(results.filter(({ code }) => code !== undefined).length, 1);
      assert.equal((await bed.callBack(callback, verifier)).error, 'BAD_INPUT');
    });

    test('refuses a state after ten minutes', async () => {
      const { verifier, callback } = await bed.signInUntilCallback('ada');
      bed.node.clock.advanceSeconds(601);
      assert.equal((await bed.callBack(callback, verifier)).error, 'BAD_INPUT');
    });

    test('refuses the authorization code of another sign-in', async () => {
      const mallory = await bed.signInUntilCallback('mallory');
      const ada = await bed.signInUntilCallback('ada');
      const mixed = new URL(ada.callback);
      mixed.searchParams.set('code', mallory.callback.searchParams.get('code')!);
      const { error, code } = await bed.callBack(mixed, ada.verifier);
      assert.equal(error, 'INVALID_CREDENTIALS');
      assert.equal(code, undefined);
    });

    test('refuses a one-time code without the verifier of the same sign-in', async () => {
      // Login CSRF: the victim's browser receives a code of the attacker, but has another verifier.
      const attacker = await bed.signIn('mallory');
      const { verifier } = bed.prepare();
      for (const wrong of [verifier, '', 'x'.repeat(10_000)]) {
        const answer = await bed.exchange({ ...attacker, verifier: wrong });
        assert.equal(answer.status, 401);
        assert.equal(problemOf(answer).code, 'INVALID_CREDENTIALS');
      }
      assert.equal((await bed.exchange(attacker)).status, 200, 'a wrong verifier does not use the code up');
    });

    test('accepts each one-time code once, on all nodes together', async () => {
      const result = await bed.signIn('ada');
      const nodes = [bed.node, bed.other, bed.node, bed.other];
      const answers = await Promise.all(nodes.map((node) => bed.exchange(result, node)));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401]);
    });

    test('refuses a one-time code after a minute, and a forged one', async () => {
      const result = await bed.signIn('ada');
      bed.node.clock.advanceSeconds(61);
      for (const code of [result.code, 'forged', '']) {
        assert.equal((await bed.exchange({ ...result, code })).status, 401);
      }
    });

    test('accepts a code although a node whose clock is ahead has deleted expired codes', async () => {
      const result = await bed.signIn('ada');
      const clock = new TestClock();
      clock.advanceMs(bed.node.clock.now() - clock.now() + 60_000);
      const { database } = bed.node;
      const settings = { ...bed.provider.settings, PUBLIC_URL: bed.node.url };
      const ahead = await Testbed.start(kind, { database, clock, settings });
      await ahead.purge();
      await ahead.stop();
      assert.equal((await bed.exchange(result)).status, 200);
    });

    test('refuses a body without code and verifier', async () => {
      for (const body of [
        {},
        { code: 'x' },
        { code: 1, verifier: 'x' },
        { code: ['x'], verifier: 'x' },
        [],
      ]) {
        assert.equal((await bed.node.post('/login/sso', body)).status, 400);
      }
    });

    for (const [name, createFaults] of Object.entries(tokenFaults)) {
      test(`refuses an ID token with ${name}`, async () => {
        bed.provider.setFaults(createFaults(bed));
        const before = await countUsers();
        const { error, code, description } = await bed.signIn('grace');
        assert.equal(error, 'INVALID_CREDENTIALS');
        assert.equal(code, undefined);
        assert.doesNotMatch(description!, /eyJ/);
        assert.equal(await countUsers(), before);
      });
    }

    test('refuses a response that names another issuer, or none', async () => {
      for (const responseIssuer of ['https://evil.example.com', null]) {
        bed.provider.setFaults({ responseIssuer });
        assert.equal((await bed.signIn('grace')).error, 'INVALID_CREDENTIALS');
      }
    });

    test('continues when the provider replaces its keys', async () => {
      await bed.logIn('ada');
      await bed.provider.rotateKeys();
      await bed.logIn('ada');
      await bed.provider.rotateKeys();
      await bed.logIn('ada', bed.other);
    });

    test('explains a refusal of the provider to the person, without texts of the provider', async () => {
      bed.provider.users.get('grace')!.isDisabled = true;
      const { error, description } = await bed.signIn('grace');
      bed.provider.users.get('grace')!.isDisabled = false;
      assert.equal(error, 'FORBIDDEN');
      assert.doesNotMatch(description!, /test provider/);
    });

    test('limits the sign-ins that one address starts', async () => {
      const { verifier, callback } = await bed.signInUntilCallback('ada');
      let status = 302;
      for (let count = 0; count < 301 && status === 302; count++) ({ status } = await start({ challenge }));
      assert.equal(status, 429);
      const refused = await start({ challenge });
      assert.equal(problemOf(refused).code, 'TOO_MANY_ATTEMPTS');
      assert.ok(Number(refused.headers.get('retry-after')) > 0);
      assert.notEqual((await bed.callBack(callback, verifier)).code, undefined, 'earlier sign-ins continue');
      bed.node.clock.advanceSeconds(601);
      await bed.node.purge();
      assert.equal((await start({ challenge })).status, 302);
    });

    test('stores states, codes and verifiers neither as text nor as bytes', async () => {
      const { verifier, callback } = await bed.signInUntilCallback('ada');
      const state = callback.searchParams.get('state')!;
      const pending = await readTable(bed.node.database.url, 'single_sign_on_attempts');
      const { code } = await bed.callBack(callback, verifier);
      const stored = pending + (await readTable(bed.node.database.url, 'single_sign_on_codes'));
      const { subject, email } = bed.provider.users.get('ada')!;
      for (const secret of [state, code!, verifier, subject, email, 'nonce', 'pkceVerifier']) {
        assert.ok(!stored.includes(secret));
      }
    });

    test('records refused sign-ins with the reason', async () => {
      await bed.node.purge();
      const { authToken } = await bed.node.logIn();
      const query =
        '{signIns(first: 100, filter: {methods: [SINGLE_SIGN_ON]}){items{result detail username}}}';
      const answer = await bed.node.query(query, authToken);
      assert.match(answer.text, /"WRONG_CREDENTIALS"/);
      assert.match(answer.text, /"SUCCESS"/);
      assert.match(answer.text, /"THROTTLED"/);
      assert.match(answer.text, /one-time code of this sign-in is not valid/);
    });
  });
}
