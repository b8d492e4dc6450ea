import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { LoginResponse } from '@espalier/contract';
import { problemOf, type TestResponse, type Testbed } from '../support/testbed.ts';
import { malformedBodies } from './malformed-bodies.ts';
import type { Scenario } from './scenario.ts';

const bearer = (authToken: string) => ({ authorization: `Bearer ${authToken}` });
const json = { 'content-type': 'application/json' };

function assertLoggedOut(answer: TestResponse): void {
  assert.equal(answer.status, 204);
  assert.equal(answer.text, '');
  assert.equal(answer.headers.get('content-type'), null);
}

async function isAlive(testbed: Testbed, tokens: LoginResponse): Promise<boolean> {
  return (await testbed.refresh(tokens)).status === 200;
}

export const logoutScenarios: Scenario[] = [
  {
    title: 'revokes the RT of the same login if an AT is sent with an empty body',
    proves: ['4 POST /logout', '4.1', '3 logout revokes RT'],
    async run(testbed) {
      const tokens = await testbed.logIn();
      assertLoggedOut(await testbed.postRaw('/logout', '', bearer(tokens.authToken)));
      const answer = await testbed.refresh(tokens);
      assert.equal(answer.status, 401);
      assert.equal(problemOf(answer).code, 'INVALID_REFRESH_TOKEN');
    },
  },
  {
    title: 'revokes the RT in the body',
    proves: ['4 POST /logout', '2 LogoutRequest.refreshToken', '4.1', '3 logout revokes RT'],
    async run(testbed) {
      const tokens = await testbed.logIn();
      assertLoggedOut(await testbed.post('/logout', { refreshToken: tokens.refreshToken }));
      assert.equal(await isAlive(testbed, tokens), false);
    },
  },
  {
    title: 'revokes the session of the AT, and not the session of the RT, if both are sent',
    proves: ['4.1'],
    async run(testbed) {
      const one = await testbed.logIn();
      const two = await testbed.logIn();
      assertLoggedOut(await testbed.post('/logout', { refreshToken: two.refreshToken }, one.authToken));
      assert.equal(await isAlive(testbed, one), false);
      assert.equal(await isAlive(testbed, two), true);
    },
  },
  {
    title: 'answers 401 to an invalid AT, even with a valid RT in the body, and revokes nothing',
    proves: ['4.1', '7 /logout 401'],
    async run(testbed) {
      const tokens = await testbed.logIn();
      for (const authorization of [
        'Bearer rubbish',
        'Basic YTpi',
        'Bearer',
        '',
        `Bearer  ${tokens.authToken}`,
      ]) {
        const body = JSON.stringify({ refreshToken: tokens.refreshToken });
        const answer = await testbed.postRaw('/logout', body, { ...json, authorization });
        assert.equal(answer.status, 401, authorization);
        assert.equal(answer.headers.get('token-expired'), null);
        assert.match(answer.headers.get('www-authenticate')!, /^Bearer /);
        assert.equal(problemOf(answer).code, 'INVALID_AUTH_TOKEN');
      }
      assert.equal(await isAlive(testbed, tokens), true);
    },
  },
  {
    title: 'answers 401 with `token-expired` to an expired AT, and revokes nothing',
    proves: ['7 /logout 401'],
    async run(testbed) {
      const tokens = await testbed.logIn();
      testbed.clock.advanceSeconds(600);
      const answer = await testbed.post('/logout', { refreshToken: tokens.refreshToken }, tokens.authToken);
      assert.equal(answer.status, 401);
      assert.equal(answer.headers.get('token-expired'), 'true');
      assert.equal(await isAlive(testbed, tokens), true);
    },
  },
  {
    title: 'answers 400 to an invalid RT without an AT',
    proves: ['7 /logout 400'],
    async run(testbed) {
      const oldTokens = await testbed.logIn();
      await testbed.refresh(oldTokens);
      const loggedOutTokens = await testbed.logIn();
      await testbed.post('/logout', { refreshToken: loggedOutTokens.refreshToken });
      const expiredTokens = await testbed.logIn();
      testbed.clock.advanceSeconds(60 * 86_400);
      const invalidTokens = [
        randomUUID(),
        'rubbish',
        '',
        oldTokens.refreshToken,
        loggedOutTokens.refreshToken,
        expiredTokens.refreshToken,
      ];
      for (const refreshToken of invalidTokens) {
        const answer = await testbed.post('/logout', { refreshToken });
        assert.equal(answer.status, 400);
        assert.equal(problemOf(answer).code, 'INVALID_REFRESH_TOKEN');
        if (refreshToken !== '') assert.ok(!answer.text.includes(refreshToken));
      }
    },
  },
  {
    title: 'keeps the AT valid on authorized endpoints until it expires',
    proves: ['3 AT survives logout', '5.7'],
    async run(testbed) {
      const tokens = await testbed.logIn();
      assertLoggedOut(await testbed.postRaw('/logout', '', bearer(tokens.authToken)));
      testbed.clock.advanceSeconds(599);
      assert.equal((await testbed.query('{folder{name}}', tokens.authToken)).status, 200);
      assert.equal((await testbed.post('/login/verify', { authToken: tokens.authToken })).status, 204);
      testbed.clock.advanceSeconds(1);
      assert.equal((await testbed.query('{folder{name}}', tokens.authToken)).status, 401);
    },
  },
  {
    title: 'disables the AT for refreshing, even with the RT of another login',
    proves: ['3 AT survives logout'],
    async run(testbed) {
      const tokens = await testbed.logIn();
      const other = await testbed.logIn();
      assertLoggedOut(await testbed.postRaw('/logout', '', bearer(tokens.authToken)));
      assert.equal((await testbed.refresh(tokens)).status, 401);
      assert.equal((await testbed.refresh({ ...tokens, refreshToken: other.refreshToken })).status, 401);
    },
  },
  {
    title: 'answers 204 twice if the AT is used twice',
    proves: [],
    async run(testbed) {
      const { authToken } = await testbed.logIn();
      assertLoggedOut(await testbed.postRaw('/logout', '', bearer(authToken)));
      assertLoggedOut(await testbed.postRaw('/logout', '', bearer(authToken)));
    },
  },
  {
    title: 'accepts an empty body with any or no content type',
    proves: ['4.1'],
    async run(testbed) {
      for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain', undefined]) {
        const { authToken } = await testbed.logIn();
        const headers = { ...bearer(authToken), ...(type && { 'content-type': type }) };
        assertLoggedOut(await testbed.postRaw('/logout', '', headers));
        assertLoggedOut(await testbed.send('POST', '/logout', { headers }));
      }
    },
  },
  {
    title: 'ignores the body if the AT is valid',
    proves: ['4.1'],
    async run(testbed) {
      for (const [, body, headers] of malformedBodies('refreshToken')) {
        const tokens = await testbed.logIn();
        assertLoggedOut(await testbed.postRaw('/logout', body, { ...headers, ...bearer(tokens.authToken) }));
        assert.equal(await isAlive(testbed, tokens), false);
      }
    },
  },
  ...malformedBodies('refreshToken').map(([title, body, headers]): Scenario => ({
    title: `answers 400 to a logout with ${title} and without an AT`,
    proves: ['7 /logout 400', '4 JSON'],
    async run(testbed) {
      const answer = await testbed.postRaw('/logout', body, headers);
      assert.equal(answer.status, 400);
      assert.match(problemOf(answer).code, /^(BAD_INPUT|UNSUPPORTED_MEDIA_TYPE)$/);
    },
  })),
];
