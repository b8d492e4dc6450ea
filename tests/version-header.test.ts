/** The version is told to those who have shown who they are, and to nobody else. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import { sqlite } from './databases.ts';
import { administrator, Testbed, type Answer } from './testbed.ts';

const query = { query: '{ folder { name } }' };
const json = { 'content-type': 'application/json' };

describe('the header Espalier-Version', () => {
  let bed: Testbed;
  let pair: LoginResponse;
  before(async () => {
    bed = await Testbed.start(sqlite);
    pair = await bed.logIn();
  });
  after(() => bed.stop());

  const bearer = () => ({ authorization: `Bearer ${pair.authToken}` });
  const asked: Readonly<
    Record<
      string,
      { status: number; isKnown: boolean; ask: () => Promise<Pick<Answer, 'status' | 'headers'>> }
    >
  > = {
    'a login': { status: 200, isKnown: true, ask: () => bed.post('/login', administrator) },
    'a login with a wrong password': {
      status: 401,
      isKnown: false,
      ask: () => bed.post('/login', { ...administrator, password: 'wrong' }),
    },
    'a query': { status: 200, isKnown: true, ask: () => bed.post('/graphql', query, pair.authToken) },
    'a query that is none': {
      status: 400,
      isKnown: true,
      ask: () => bed.post('/graphql', { query: 1 }, pair.authToken),
    },
    'a query of a media type that is not taken': {
      status: 415,
      isKnown: true,
      ask: () => bed.postRaw('/graphql', 'x', { 'content-type': 'text/plain', ...bearer() }),
    },
    'a query by GET': {
      status: 200,
      isKnown: true,
      ask: () => bed.send('GET', '/graphql?query={folder{name}}', { headers: bearer() }),
    },
    'an event stream': {
      status: 200,
      isKnown: true,
      ask: () =>
        bed.send('POST', '/graphql', {
          headers: { ...json, ...bearer(), accept: 'text/event-stream' },
          body: JSON.stringify(query),
        }),
    },
    'a query without a token': { status: 401, isKnown: false, ask: () => bed.post('/graphql', query) },
    'a query with a token that is none': {
      status: 401,
      isKnown: false,
      ask: () => bed.post('/graphql', query, 'a.b.c'),
    },
    'a token that is good': {
      status: 204,
      isKnown: true,
      ask: () => bed.post('/login/verify', { authToken: pair.authToken }),
    },
    'a token that is not': {
      status: 400,
      isKnown: false,
      ask: () => bed.post('/login/verify', { authToken: 'a.b.c' }),
    },
    'a refresh': {
      status: 200,
      isKnown: true,
      ask: async () => {
        const { authToken, refreshToken } = await bed.logIn();
        return bed.post('/login/refresh', { refreshToken }, authToken);
      },
    },
    'a refresh with a token that is none': {
      status: 401,
      isKnown: false,
      ask: () => bed.post('/login/refresh', { refreshToken: 'x' }, pair.authToken),
    },
    'a logout': {
      status: 204,
      isKnown: true,
      ask: async () => bed.post('/logout', {}, (await bed.logIn()).authToken),
    },
    'a logout with nothing': { status: 400, isKnown: false, ask: () => bed.post('/logout', {}) },
    'a probe': { status: 200, isKnown: false, ask: () => bed.send('GET', '/readyz') },
    'the description of the API': {
      status: 200,
      isKnown: false,
      ask: () => bed.send('GET', '/openapi.json'),
    },
    'the keys': { status: 200, isKnown: false, ask: () => bed.send('GET', '/.well-known/jwks.json') },
    'nothing at all': { status: 404, isKnown: false, ask: () => bed.send('GET', '/nothing') },
  };

  for (const [what, { status, isKnown, ask }] of Object.entries(asked)) {
    test(`is ${isKnown ? '' : 'not '}on the answer to ${what}`, async () => {
      const answer = await ask();
      assert.equal(answer.status, status);
      assert.equal(answer.headers.get('espalier-version'), isKnown ? '0.0.0-test' : null);
    });
  }
});
