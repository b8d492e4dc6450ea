/** Only responses to authenticated clients contain the version of the server. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import { sqlite } from '../support/databases.ts';
import { administrator, Testbed, type TestResponse } from '../support/testbed.ts';

const query = { query: '{ folder { name } }' };
const json = { 'content-type': 'application/json' };

describe('the header `Espalier-Version`', () => {
  let testbed: Testbed;
  let tokens: LoginResponse;
  before(async () => {
    testbed = await Testbed.start(sqlite);
    tokens = await testbed.logIn();
  });
  after(() => testbed.stop());

  const bearer = () => ({ authorization: `Bearer ${tokens.authToken}` });
  const cases: Readonly<
    Record<
      string,
      {
        status: number;
        isAuthenticated: boolean;
        send: () => Promise<Pick<TestResponse, 'status' | 'headers'>>;
      }
    >
  > = {
    'a login': { status: 200, isAuthenticated: true, send: () => testbed.post('/login', administrator) },
    'a login with a wrong password': {
      status: 401,
      isAuthenticated: false,
      send: () => testbed.post('/login', { ...administrator, password: 'wrong' }),
    },
    'a query': {
      status: 200,
      isAuthenticated: true,
      send: () => testbed.post('/graphql', query, tokens.authToken),
    },
    'a query that is not a string': {
      status: 400,
      isAuthenticated: true,
      send: () => testbed.post('/graphql', { query: 1 }, tokens.authToken),
    },
    'a query of an unsupported media type': {
      status: 415,
      isAuthenticated: true,
      send: () => testbed.postRaw('/graphql', 'x', { 'content-type': 'text/plain', ...bearer() }),
    },
    'a query by GET': {
      status: 200,
      isAuthenticated: true,
      send: () => testbed.send('GET', '/graphql?query={folder{name}}', { headers: bearer() }),
    },
    'an event stream': {
      status: 200,
      isAuthenticated: true,
      send: () =>
        testbed.send('POST', '/graphql', {
          headers: { ...json, ...bearer(), accept: 'text/event-stream' },
          body: JSON.stringify(query),
        }),
    },
    'a query without a token': {
      status: 401,
      isAuthenticated: false,
      send: () => testbed.post('/graphql', query),
    },
    'a query with an invalid token': {
      status: 401,
      isAuthenticated: false,
      send: () => testbed.post('/graphql', query, 'a.b.c'),
    },
    'a valid token': {
      status: 204,
      isAuthenticated: true,
      send: () => testbed.post('/login/verify', { authToken: tokens.authToken }),
    },
    'an invalid token': {
      status: 400,
      isAuthenticated: false,
      send: () => testbed.post('/login/verify', { authToken: 'a.b.c' }),
    },
    'a refresh': {
      status: 200,
      isAuthenticated: true,
      send: async () => {
        const { authToken, refreshToken } = await testbed.logIn();
        return testbed.post('/login/refresh', { refreshToken }, authToken);
      },
    },
    'a refresh with an invalid token': {
      status: 401,
      isAuthenticated: false,
      send: () => testbed.post('/login/refresh', { refreshToken: 'x' }, tokens.authToken),
    },
    'a logout': {
      status: 204,
      isAuthenticated: true,
      send: async () => testbed.post('/logout', {}, (await testbed.logIn()).authToken),
    },
    'a logout without a token': {
      status: 400,
      isAuthenticated: false,
      send: () => testbed.post('/logout', {}),
    },
    'a probe': { status: 200, isAuthenticated: false, send: () => testbed.send('GET', '/readyz') },
    'the description of the API': {
      status: 200,
      isAuthenticated: false,
      send: () => testbed.send('GET', '/openapi.json'),
    },
    'the key set': {
      status: 200,
      isAuthenticated: false,
      send: () => testbed.send('GET', '/.well-known/jwks.json'),
    },
    'an unknown path': { status: 404, isAuthenticated: false, send: () => testbed.send('GET', '/nothing') },
  };

  for (const [what, { status, isAuthenticated, send }] of Object.entries(cases)) {
    test(`is ${isAuthenticated ? '' : 'not '}on the response to ${what}`, async () => {
      const answer = await send();
      assert.equal(answer.status, status);
      assert.equal(answer.headers.get('espalier-version'), isAuthenticated ? '0.0.0-test' : null);
    });
  }
});
