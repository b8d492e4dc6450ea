import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { LoginResponse } from '@espalier/contract';
import { problemOf } from '../support/testbed.ts';
import { malformedBodies } from './malformed-bodies.ts';
import type { Scenario } from './scenario.ts';

const days = 86_400;

export const refreshScenarios: Scenario[] = [
  {
    title: 'replaces both tokens while the AT is still valid, and the new AT has the full lifetime',
    proves: ['4 POST /login/refresh', '2 RefreshRequest.refreshToken', '3 refresh', '5.6'],
    async run(testbed) {
      const oldTokens = await testbed.logIn();
      testbed.clock.advanceSeconds(300);
      const answer = await testbed.refresh(oldTokens);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      const tokens = answer.json<LoginResponse>();
      assert.deepEqual(Object.keys(tokens).sort(), ['authToken', 'expires_in', 'refreshToken']);
      assert.notEqual(tokens.authToken, oldTokens.authToken);
      assert.notEqual(tokens.refreshToken, oldTokens.refreshToken);
      assert.equal(tokens.expires_in, 600);
      testbed.clock.advanceSeconds(599);
      assert.equal((await testbed.query('{folder{name}}', tokens.authToken)).status, 200);
    },
  },
  {
    title: 'accepts an expired AT, however long ago it expired',
    proves: ['3 refresh', '5.4'],
    async run(testbed) {
      const old = await testbed.logIn();
      testbed.clock.advanceSeconds(59 * days);
      const answer = await testbed.refresh(old);
      assert.equal(answer.status, 200);
      const { authToken } = answer.json<LoginResponse>();
      assert.equal((await testbed.query('{folder{name}}', authToken)).status, 200);
    },
  },
  {
    title: 'keeps the old AT valid until it expires, and spends the old RT immediately',
    proves: ['3 refresh'],
    async run(testbed) {
      const old = await testbed.logIn();
      const tokens = (await testbed.refresh(old)).json<LoginResponse>();
      assert.equal((await testbed.query('{folder{name}}', old.authToken)).status, 200);
      assert.equal((await testbed.refresh(old)).status, 401);
      assert.equal((await testbed.refresh({ ...tokens, refreshToken: old.refreshToken })).status, 401);
      assert.equal((await testbed.refresh(tokens)).status, 200);
    },
  },
  {
    title: 'accepts an older AT of the same login like the newest one',
    proves: ['5.6'],
    async run(testbed) {
      const old = await testbed.logIn();
      const tokens = (await testbed.refresh(old)).json<LoginResponse>();
      const answer = await testbed.refresh({ authToken: old.authToken, refreshToken: tokens.refreshToken });
      assert.equal(answer.status, 200);
    },
  },
  {
    title: 'accepts an RT for exactly 60 days, after which a new login is required',
    proves: ['3 RT expires', '5.5', '8 RT lifetime'],
    async run(testbed) {
      const validTokens = await testbed.logIn();
      const expiredTokens = await testbed.logIn();
      testbed.clock.advanceSeconds(60 * days - 1);
      assert.equal((await testbed.refresh(validTokens)).status, 200);
      testbed.clock.advanceSeconds(1);
      const answer = await testbed.refresh(expiredTokens);
      assert.equal(answer.status, 401);
      assert.equal(problemOf(answer).code, 'INVALID_REFRESH_TOKEN');
      assert.match((await testbed.logIn()).authToken, /./);
    },
  },
  {
    title: 'keeps a session alive far beyond 60 days if it is refreshed',
    proves: ['5.5'],
    async run(testbed) {
      let tokens = await testbed.logIn();
      for (let month = 0; month < 12; month++) {
        testbed.clock.advanceSeconds(50 * days);
        const answer = await testbed.refresh(tokens);
        assert.equal(answer.status, 200);
        tokens = answer.json<LoginResponse>();
      }
    },
  },
  {
    title: 'answers 401 to a request without an `Authorization` header, and does not spend the RT',
    proves: ['7 /login/refresh 401', '4 POST /login/refresh'],
    async run(testbed) {
      const tokens = await testbed.logIn();
      const answer = await testbed.post('/login/refresh', { refreshToken: tokens.refreshToken });
      assert.equal(answer.status, 401);
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="espalier"');
      assert.equal(problemOf(answer).code, 'INVALID_AUTH_TOKEN');
      assert.equal((await testbed.refresh(tokens)).status, 200);
    },
  },
  {
    title: 'answers 401 to an invalid AT, and does not spend the RT',
    proves: ['7 /login/refresh 401'],
    async run(testbed) {
      const tokens = await testbed.logIn();
      for (const authToken of ['rubbish', `${tokens.authToken.slice(0, -4)}AAAA`, tokens.refreshToken]) {
        const answer = await testbed.refresh({ ...tokens, authToken });
        assert.equal(answer.status, 401);
        assert.equal(answer.headers.get('token-expired'), null);
        assert.match(answer.headers.get('www-authenticate')!, /error="invalid_token"/);
      }
      assert.equal((await testbed.refresh(tokens)).status, 200);
    },
  },
  {
    title: 'answers 401 to an invalid RT of any form',
    proves: ['7 /login/refresh 401'],
    async run(testbed) {
      const tokens = await testbed.logIn();
      const invalidTokens = [
        randomUUID(),
        '',
        'rubbish',
        tokens.authToken,
        tokens.refreshToken.toUpperCase(),
        '\0',
        '\ud800',
      ];
      for (const refreshToken of invalidTokens) {
        const answer = await testbed.refresh({ ...tokens, refreshToken });
        assert.equal(answer.status, 401, refreshToken);
        assert.equal(problemOf(answer).code, 'INVALID_REFRESH_TOKEN');
        if (refreshToken.length > 6) assert.ok(!answer.text.includes(refreshToken));
      }
      assert.equal((await testbed.refresh(tokens)).status, 200);
    },
  },
  {
    title: 'refuses an AT and an RT of different logins, and does not spend the RT',
    proves: ['5.6', '7 /login/refresh 401'],
    async run(testbed) {
      const one = await testbed.logIn();
      const two = await testbed.logIn();
      assert.equal((await testbed.refresh({ ...one, refreshToken: two.refreshToken })).status, 401);
      assert.equal((await testbed.refresh({ ...two, refreshToken: one.refreshToken })).status, 401);
      assert.equal((await testbed.refresh(one)).status, 200);
      assert.equal((await testbed.refresh(two)).status, 200);
    },
  },
  {
    title: 'never sends `token-expired`',
    proves: [],
    async run(testbed) {
      const tokens = await testbed.logIn();
      testbed.clock.advanceSeconds(601);
      const answer = await testbed.refresh({ ...tokens, refreshToken: randomUUID() });
      assert.equal(answer.status, 401);
      assert.equal(answer.headers.get('token-expired'), null);
    },
  },
  {
    title: 'refuses a spent RT that is sent again within the tolerance, and keeps the session',
    proves: [],
    async run(testbed) {
      const old = await testbed.logIn();
      const tokens = (await testbed.refresh(old)).json<LoginResponse>();
      testbed.clock.advanceSeconds(60);
      assert.equal((await testbed.refresh(old)).status, 401);
      assert.equal((await testbed.refresh(tokens)).status, 200);
    },
  },
  {
    title: 'ends only the session of a spent RT that is sent again after the tolerance',
    proves: [],
    async run(testbed) {
      const other = await testbed.logIn();
      const old = await testbed.logIn();
      const tokens = (await testbed.refresh(old)).json<LoginResponse>();
      testbed.clock.advanceSeconds(61);
      assert.equal((await testbed.refresh(old)).status, 401);
      assert.equal((await testbed.refresh(tokens)).status, 401);
      assert.equal((await testbed.refresh(other)).status, 200);
    },
  },
  {
    title: 'never ends a session for an unknown RT, however often it is sent',
    proves: [],
    async run(testbed) {
      const tokens = await testbed.logIn();
      testbed.clock.advanceSeconds(3600);
      for (let attempt = 0; attempt < 10; attempt++) {
        assert.equal((await testbed.refresh({ ...tokens, refreshToken: randomUUID() })).status, 401);
      }
      assert.equal((await testbed.refresh(tokens)).status, 200);
    },
  },
  {
    title: 'forgets a spent RT after seven days, and then keeps the session if that RT is sent again',
    proves: [],
    async run(testbed) {
      const old = await testbed.logIn();
      const tokens = (await testbed.refresh(old)).json<LoginResponse>();
      testbed.clock.advanceSeconds(7 * days + 1);
      await testbed.purge();
      assert.equal((await testbed.refresh(old)).status, 401);
      assert.equal((await testbed.refresh(tokens)).status, 200);
    },
  },
  ...malformedBodies('refreshToken').map(([title, body, headers]): Scenario => ({
    title: `answers 400 to a refresh with ${title}`,
    proves: ['7 /login/refresh 400', '4 JSON'],
    async run(testbed) {
      const { authToken } = await testbed.logIn();
      const answer = await testbed.postRaw('/login/refresh', body, {
        ...headers,
        authorization: `Bearer ${authToken}`,
      });
      assert.equal(answer.status, 400);
      assert.match(problemOf(answer).code, /^(BAD_INPUT|UNSUPPORTED_MEDIA_TYPE)$/);
    },
  })),
];
