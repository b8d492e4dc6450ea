/** Libraries for OAuth verify auth tokens without special code: the claims of RFC 9068, and the metadata of RFC 8414. */

import assert from 'node:assert/strict';
import { sign } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import { createRemoteJWKSet, customFetch as joseFetch, decodeJwt, jwtVerify } from 'jose';
import * as oauth from 'oauth4webapi';
import { databaseKinds, type DatabaseKind } from '../support/databases.ts';
import { readPrivateKeys } from '../support/stored-rows.ts';
import { problemOf, Testbed } from '../support/testbed.ts';

const wellKnown = '/.well-known/oauth-authorization-server';
const issuer = 'https://tree.example';
const secret = 'a password, with: 32 characters & more + %';

/** Sends requests for the origin of the issuer to the test server, like a proxy that forwards them unchanged. */
function proxyTo(testbed: Testbed) {
  const { origin } = new URL(testbed.url);
  return (requested: string, options: object): Promise<Response> => {
    const url = new URL(requested);
    assert.equal(url.origin, issuer);
    return fetch(origin + url.pathname + url.search, { ...options });
  };
}

async function discover(testbed: Testbed, issuerUrl = issuer): Promise<oauth.AuthorizationServer> {
  const url = new URL(issuerUrl);
  const options = { algorithm: 'oauth2', [oauth.customFetch]: proxyTo(testbed) } as const;
  return oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, options));
}

/** The options for a library that uses the time of this machine. */
const timesOf = ({ clock }: Testbed) => ({
  [oauth.clockSkew]: Math.round((clock.now() - Date.now()) / 1000),
});

function validate(
  testbed: Testbed,
  server: oauth.AuthorizationServer,
  { authToken }: Pick<LoginResponse, 'authToken'>,
  audience = server.issuer,
): Promise<oauth.JWTAccessTokenClaims> {
  const request = new Request(`${issuer}/orders`, { headers: { authorization: `Bearer ${authToken}` } });
  const options = { ...timesOf(testbed), [oauth.customFetch]: proxyTo(testbed) };
  return oauth.validateJwtAccessToken(server, request, audience, options);
}

async function withTestbed(
  kind: DatabaseKind,
  settings: Record<string, string>,
  work: (testbed: Testbed) => Promise<void>,
): Promise<void> {
  const testbed = await Testbed.start(kind, { settings });
  try {
    await work(testbed);
  } finally {
    await testbed.stop();
  }
}

/** Signs other claims with the key of the server, like an older version of the server. */
async function signClaims(
  { database }: Testbed,
  { authToken }: LoginResponse,
  changes: Record<string, unknown>,
) {
  const [privateKey] = await readPrivateKeys(database.url);
  const [header = ''] = authToken.split('.');
  const claims = { ...decodeJwt(authToken), ...changes };
  const input = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  return `${input}.${sign(null, Buffer.from(input), privateKey!).toString('base64url')}`;
}

for (const kind of databaseKinds) {
  describe(`OAuth libraries on ${kind.name}`, () => {
    let testbed: Testbed;
    before(async () => {
      const settings = { ISSUER: issuer, INTROSPECTION_CLIENT: `billing service:${secret}` };
      testbed = await Testbed.start(kind, { settings });
    });
    after(() => testbed.stop());

    test('verify an auth token with the discovered metadata', async () => {
      const server = await discover(testbed);
      const tokens = await testbed.logIn();
      const claims = await validate(testbed, server, tokens);
      assert.equal(claims.aud, issuer);
      assert.equal(claims.client_id, 'espalier');
      const keys = createRemoteJWKSet(new URL(server.jwks_uri!), { [joseFetch]: proxyTo(testbed) });
      const { payload } = await jwtVerify(tokens.authToken, keys, {
        issuer: server.issuer,
        audience: server.issuer,
        typ: 'at+jwt',
        requiredClaims: ['client_id', 'jti', 'sub', 'sid'],
        currentDate: new Date(testbed.clock.now()),
      });
      assert.equal(payload.sub, claims.sub);
    });

    test('reject the token for another audience, and other tokens', async () => {
      const server = await discover(testbed);
      const tokens = await testbed.logIn();
      await assert.rejects(validate(testbed, server, tokens, 'https://other.example'));
      await assert.rejects(validate(testbed, server, { authToken: tokens.refreshToken }));
      await assert.rejects(validate(testbed, server, { authToken: `${tokens.authToken.slice(0, -4)}AAAA` }));
      const { user } = await testbed
        .query(
          'mutation{createUser(input: {username: "ann", password: "walnut cabin"}){user{id}}}',
          tokens.authToken,
        )
        .then(
          (response) => response.json<{ data: { createUser: { user: { id: string } } } }>().data.createUser,
        );
      const view = await testbed.query(
        `mutation{startViewAs(input: {userId: "${user.id}"}){viewToken}}`,
        tokens.authToken,
      );
      const { viewToken } = view.json<{ data: { startViewAs: { viewToken: string } } }>().data.startViewAs;
      await assert.rejects(validate(testbed, server, { authToken: viewToken }));
    });

    test('introspect a token', async () => {
      const server = await discover(testbed);
      const { authToken } = await testbed.logIn();
      const client = { client_id: 'billing service' };
      const introspect = async (token: string) => {
        const credentials = oauth.ClientSecretBasic(secret);
        const options = { [oauth.customFetch]: proxyTo(testbed) };
        const response = await oauth.introspectionRequest(server, client, credentials, token, options);
        return oauth.processIntrospectionResponse(server, client, response);
      };
      const { sub, sid } = decodeJwt(authToken);
      assert.deepEqual(await introspect(authToken), {
        active: true,
        token_type: 'Bearer',
        iss: issuer,
        sub,
        aud: issuer,
        client_id: 'espalier',
        sid,
        exp: Math.floor(testbed.clock.now() / 1000) + 600,
      });
      assert.deepEqual(await introspect('x'), { active: false });
    });

    test('receive only true metadata, which may be cached', async () => {
      const response = await testbed.send('GET', wellKnown);
      assert.equal(response.headers.get('cache-control'), 'public, max-age=300');
      assert.deepEqual(response.json(), {
        issuer,
        jwks_uri: `${issuer}/.well-known/jwks.json`,
        response_types_supported: [],
        grant_types_supported: [],
        introspection_endpoint: `${issuer}/introspect`,
        introspection_endpoint_auth_methods_supported: ['client_secret_basic'],
      });
      assert.equal((await testbed.send('HEAD', wellKnown)).status, 200);
      assert.equal((await testbed.send('POST', wellKnown)).status, 405);
      assert.equal((await testbed.send('GET', `${wellKnown}/other`)).status, 404);
    });
  });

  describe(`the audience of auth tokens on ${kind.name}`, () => {
    test('is the issuer by default, also if the issuer is not a URL, and then there is no metadata', () =>
      withTestbed(kind, {}, async (testbed) => {
        const { iss, aud, client_id: clientId } = decodeJwt((await testbed.logIn()).authToken);
        assert.match(iss!, /^urn:uuid:/);
        assert.deepEqual([aud, clientId], [iss, 'espalier']);
        const response = await testbed.send('GET', wellKnown);
        assert.equal(response.status, 404);
        assert.match(problemOf(response).detail, /ESPALIER_ISSUER/);
      }));

    test('is the value of the setting', () =>
      withTestbed(kind, { ISSUER: issuer, AUDIENCE: 'urn:orders' }, async (testbed) => {
        const tokens = await testbed.logIn();
        const server = await discover(testbed);
        assert.equal((await validate(testbed, server, tokens, 'urn:orders')).aud, 'urn:orders');
        await assert.rejects(validate(testbed, server, tokens, issuer));
        assert.equal((await testbed.query('{folder{name}}', tokens.authToken)).status, 200);
      }));

    test('is required only if the token has one', () =>
      withTestbed(kind, {}, async (testbed) => {
        const tokens = await testbed.logIn();
        const { iss } = decodeJwt(tokens.authToken);
        const wrong = [issuer, '', null, 1, [], [iss], {}, `${iss} `];
        for (const aud of wrong) {
          const authToken = await signClaims(testbed, tokens, { aud });
          const title = JSON.stringify(aud);
          assert.equal((await testbed.query('{folder{name}}', authToken)).status, 401, title);
          assert.equal((await testbed.post('/login/verify', { authToken })).status, 400, title);
          assert.equal((await testbed.post('/logout', {}, authToken)).status, 401, title);
          assert.equal((await testbed.refresh({ ...tokens, authToken })).status, 401, title);
        }
        const older = await signClaims(testbed, tokens, { aud: undefined, client_id: undefined });
        assert.equal((await testbed.query('{folder{name}}', older)).status, 200);
        testbed.clock.advanceSeconds(30 * 86_400);
        assert.equal((await testbed.query('{folder{name}}', older)).status, 401);
        const refreshed = await testbed.refresh({ ...tokens, authToken: older });
        assert.equal(refreshed.status, 200);
        assert.equal(decodeJwt(refreshed.json<LoginResponse>().authToken).aud, iss);
      }));

    test('invalidates existing tokens when it changes', async () => {
      const database = await kind.createForServer();
      try {
        const first = await Testbed.start(kind, { database });
        const tokens = await first.logIn();
        await first.stop();
        const second = await Testbed.start(kind, { database, settings: { AUDIENCE: 'urn:orders' } });
        assert.equal((await second.query('{folder{name}}', tokens.authToken)).status, 401);
        assert.equal((await second.refresh(tokens)).status, 401);
        await second.stop();
      } finally {
        await database.remove();
      }
    });

    test('and the issuer may have the maximum length, in characters that JSON escapes', () => {
      const longest = '\u0001'.repeat(255);
      return withTestbed(kind, { ISSUER: longest, AUDIENCE: `${longest.slice(1)}x` }, async (testbed) => {
        const { authToken } = await testbed.logIn();
        // Another node has not cached the token.
        const other = await Testbed.start(kind, {
          database: testbed.database,
          settings: { ISSUER: longest, AUDIENCE: `${longest.slice(1)}x` },
        });
        assert.equal((await other.query('{folder{name}}', authToken)).status, 200);
        await other.stop();
      });
    });
  });

  describe(`the metadata of an issuer with a path on ${kind.name}`, () => {
    const cases = [
      ['behind a proxy that keeps the path', `${issuer}/tree`, '/tree', `${issuer}/tree`],
      ['behind a proxy that removes the path', `${issuer}/tree`, '/', `${issuer}/tree`],
      ['with a slash at the end', `${issuer}/tree/`, '/tree', `${issuer}/tree`],
      ['with a longer path than the base path', `${issuer}/a/tree`, '/tree', `${issuer}/a/tree`],
      ['with special characters', `${issuer}/a:b/*/c%20d`, '/', `${issuer}/a:b/*/c%20d`],
      ['without a path, although there is a base path', issuer, '/tree', `${issuer}/tree`],
    ] as const;
    for (const [title, issuerUrl, basePath, url] of cases) {
      test(`is at the address of the standard ${title}`, () =>
        withTestbed(kind, { ISSUER: issuerUrl, BASE_PATH: basePath }, async (testbed) => {
          const server = await discover(testbed, issuerUrl);
          assert.equal(server.issuer, issuerUrl);
          assert.equal(server.jwks_uri, `${url}/.well-known/jwks.json`);
          assert.equal(server.introspection_endpoint, undefined);
          assert.equal((await testbed.send('GET', wellKnown)).json<{ issuer: string }>().issuer, issuerUrl);
        }));
    }

    test('contains the public URL of the server, if it is known', () => {
      const settings = { ISSUER: issuer, PUBLIC_URL: 'https://login.example/tree', BASE_PATH: '/tree' };
      return withTestbed(kind, settings, async (testbed) => {
        const server = await discover(testbed);
        assert.equal(server.jwks_uri, 'https://login.example/tree/.well-known/jwks.json');
      });
    });

    test('does not exist for an issuer with another scheme, a query, a fragment or a password', async () => {
      const wrong = [
        'http://tree.example',
        `${issuer}?x=1`,
        `${issuer}#x`,
        'https://a:b@tree.example',
        'https://',
      ];
      for (const value of wrong) {
        await withTestbed(kind, { ISSUER: value }, async (testbed) => {
          assert.equal((await testbed.send('GET', wellKnown)).status, 404, value);
        });
      }
    });
  });
}
