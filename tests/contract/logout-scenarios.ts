import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { LoginResponse } from '@espalier/contract';
import { problemOf, type TestResponse, type Testbed } from '../support/testbed.ts';
import { malformedBodies } from './malformed-bodies.ts';
import type { Scenario } from './scenario.ts';

const bearer = (authToken: string) => ({ authorization: `Bearer ${authToken}` });
const json = { 'content-type': 'application/json' };

function isDone(answer: TestResponse): void {
  assert.equal(answer.status, 204);
  assert.equal(answer.text, '');
  assert.equal(answer.headers.get('content-type'), null);
}

async function isAlive(bed: Testbed, pair: LoginResponse): Promise<boolean> {
  return (await bed.refresh(pair)).status === 200;
}

export const logoutScenarios: Scenario[] = [
  {
    title: 'logout with the AT and an empty body revokes the RT of its login',
    proves: ['4 POST /logout', '4.1', '3 logout revokes RT'],
    async run(bed) {
      const pair = await bed.logIn();
      isDone(await bed.postRaw('/logout', '', bearer(pair.authToken)));
      const answer = await bed.refresh(pair);
      assert.equal(answer.status, 401);
      assert.equal(problemOf(answer).code, 'INVALID_REFRESH_TOKEN');
    },
  },
  {
    title: 'logout with the RT in the body revokes it',
    proves: ['4 POST /logout', '2 LogoutRequest.refreshToken', '4.1', '3 logout revokes RT'],
    async run(bed) {
      const pair = await bed.logIn();
      isDone(await bed.post('/logout', { refreshToken: pair.refreshToken }));
      assert.equal(await isAlive(bed, pair), false);
    },
  },
  {
    title: 'logout with both tokens revokes the session of the AT and leaves that of the RT alone',
    proves: ['4.1'],
    async run(bed) {
      const one = await bed.logIn();
      const two = await bed.logIn();
      isDone(await bed.post('/logout', { refreshToken: two.refreshToken }, one.authToken));
      assert.equal(await isAlive(bed, one), false);
      assert.equal(await isAlive(bed, two), true);
    },
  },
  {
    title: 'logout with an invalid AT answers 401 although the RT in the body is good, and revokes nothing',
    proves: ['4.1', '7 /logout 401'],
    async run(bed) {
      const pair = await bed.logIn();
      for (const authorization of [
        'Bearer rubbish',
        'Basic YTpi',
        'Bearer',
        '',
        `Bearer  ${pair.authToken}`,
      ]) {
        const body = JSON.stringify({ refreshToken: pair.refreshToken });
        const answer = await bed.postRaw('/logout', body, { ...json, authorization });
        assert.equal(answer.status, 401, authorization);
        assert.equal(answer.headers.get('token-expired'), null);
        assert.match(answer.headers.get('www-authenticate')!, /^Bearer /);
        assert.equal(problemOf(answer).code, 'INVALID_AUTH_TOKEN');
      }
      assert.equal(await isAlive(bed, pair), true);
    },
  },
  {
    title: 'logout with an expired AT answers 401 with token-expired, and revokes nothing',
    proves: ['7 /logout 401'],
    async run(bed) {
      const pair = await bed.logIn();
      bed.clock.advanceSeconds(600);
      const answer = await bed.post('/logout', { refreshToken: pair.refreshToken }, pair.authToken);
      assert.equal(answer.status, 401);
      assert.equal(answer.headers.get('token-expired'), 'true');
      assert.equal(await isAlive(bed, pair), true);
    },
  },
  {
    title: 'logout without an AT and with an invalid RT answers 400',
    proves: ['7 /logout 400'],
    async run(bed) {
      const old = await bed.logIn();
      await bed.refresh(old);
      const loggedOut = await bed.logIn();
      await bed.post('/logout', { refreshToken: loggedOut.refreshToken });
      const expired = await bed.logIn();
      bed.clock.advanceSeconds(60 * 86_400);
      const invalid = [
        randomUUID(),
        'rubbish',
        '',
        old.refreshToken,
        loggedOut.refreshToken,
        expired.refreshToken,
      ];
      for (const refreshToken of invalid) {
        const answer = await bed.post('/logout', { refreshToken });
        assert.equal(answer.status, 400);
        assert.equal(problemOf(answer).code, 'INVALID_REFRESH_TOKEN');
        if (refreshToken !== '') assert.ok(!answer.text.includes(refreshToken));
      }
    },
  },
  {
    title: 'after logout the AT works on authorized endpoints until it expires',
    proves: ['3 AT survives logout', '5.7'],
    async run(bed) {
      const pair = await bed.logIn();
      isDone(await bed.postRaw('/logout', '', bearer(pair.authToken)));
      bed.clock.advanceSeconds(599);
      assert.equal((await bed.query('{folder{name}}', pair.authToken)).status, 200);
      assert.equal((await bed.post('/login/verify', { authToken: pair.authToken })).status, 204);
      bed.clock.advanceSeconds(1);
      assert.equal((await bed.query('{folder{name}}', pair.authToken)).status, 401);
    },
  },
  {
    title: 'after logout the AT cannot be used for refreshing, not even with the RT of another login',
    proves: ['3 AT survives logout'],
    async run(bed) {
      const pair = await bed.logIn();
      const other = await bed.logIn();
      isDone(await bed.postRaw('/logout', '', bearer(pair.authToken)));
      assert.equal((await bed.refresh(pair)).status, 401);
      assert.equal((await bed.refresh({ ...pair, refreshToken: other.refreshToken })).status, 401);
    },
  },
  {
    title: 'logging out twice with the AT answers 204 twice',
    proves: [],
    async run(bed) {
      const { authToken } = await bed.logIn();
      isDone(await bed.postRaw('/logout', '', bearer(authToken)));
      isDone(await bed.postRaw('/logout', '', bearer(authToken)));
    },
  },
  {
    title: 'an empty body is fine with any or no content type',
    proves: ['4.1'],
    async run(bed) {
      for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain', undefined]) {
        const { authToken } = await bed.logIn();
        const headers = { ...bearer(authToken), ...(type && { 'content-type': type }) };
        isDone(await bed.postRaw('/logout', '', headers));
        isDone(await bed.send('POST', '/logout', { headers }));
      }
    },
  },
  {
    title: 'with a valid AT the body is not judged',
    proves: ['4.1'],
    async run(bed) {
      for (const [, body, headers] of malformedBodies('refreshToken')) {
        const pair = await bed.logIn();
        isDone(await bed.postRaw('/logout', body, { ...headers, ...bearer(pair.authToken) }));
        assert.equal(await isAlive(bed, pair), false);
      }
    },
  },
  ...malformedBodies('refreshToken').map(([title, body, headers]): Scenario => ({
    title: `logout without an AT and with ${title} answers 400`,
    proves: ['7 /logout 400', '4 JSON'],
    async run(bed) {
      const answer = await bed.postRaw('/logout', body, headers);
      assert.equal(answer.status, 400);
      assert.match(problemOf(answer).code, /^(BAD_INPUT|UNSUPPORTED_MEDIA_TYPE)$/);
    },
  })),
];
