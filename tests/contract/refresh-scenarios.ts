import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { LoginResponse } from '@espalier/contract';
import { problemOf } from '../support/testbed.ts';
import { malformedBodies } from './malformed-bodies.ts';
import type { Scenario } from './scenario.ts';

const days = 86_400;

export const refreshScenarios: Scenario[] = [
  {
    title: 'refresh with a valid AT replaces the pair and opens a new window of the same length',
    proves: ['4 POST /login/refresh', '2 RefreshRequest.refreshToken', '3 refresh', '5.6'],
    async run(bed) {
      const old = await bed.logIn();
      bed.clock.advanceSeconds(300);
      const answer = await bed.refresh(old);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      const pair = answer.json<LoginResponse>();
      assert.deepEqual(Object.keys(pair).sort(), ['authToken', 'expires_in', 'refreshToken']);
      assert.notEqual(pair.authToken, old.authToken);
      assert.notEqual(pair.refreshToken, old.refreshToken);
      assert.equal(pair.expires_in, 600);
      bed.clock.advanceSeconds(599);
      assert.equal((await bed.query('{folder{name}}', pair.authToken)).status, 200);
    },
  },
  {
    title: 'refresh with an expired AT works just as well, however long it has expired',
    proves: ['3 refresh', '5.4'],
    async run(bed) {
      const old = await bed.logIn();
      bed.clock.advanceSeconds(59 * days);
      const answer = await bed.refresh(old);
      assert.equal(answer.status, 200);
      const { authToken } = answer.json<LoginResponse>();
      assert.equal((await bed.query('{folder{name}}', authToken)).status, 200);
    },
  },
  {
    title: 'the old AT stays good until it expires, the old RT is spent at once',
    proves: ['3 refresh'],
    async run(bed) {
      const old = await bed.logIn();
      const pair = (await bed.refresh(old)).json<LoginResponse>();
      assert.equal((await bed.query('{folder{name}}', old.authToken)).status, 200);
      assert.equal((await bed.refresh(old)).status, 401);
      assert.equal((await bed.refresh({ ...pair, refreshToken: old.refreshToken })).status, 401);
      assert.equal((await bed.refresh(pair)).status, 200);
    },
  },
  {
    title: 'an older AT of the same login is as good for refreshing as the newest',
    proves: ['5.6'],
    async run(bed) {
      const old = await bed.logIn();
      const pair = (await bed.refresh(old)).json<LoginResponse>();
      const answer = await bed.refresh({ authToken: old.authToken, refreshToken: pair.refreshToken });
      assert.equal(answer.status, 200);
    },
  },
  {
    title: 'an RT lives 60 days to the second, and then a new login is required',
    proves: ['3 RT expires', '5.5', '8 RT lifetime'],
    async run(bed) {
      const inTime = await bed.logIn();
      const late = await bed.logIn();
      bed.clock.advanceSeconds(60 * days - 1);
      assert.equal((await bed.refresh(inTime)).status, 200);
      bed.clock.advanceSeconds(1);
      const answer = await bed.refresh(late);
      assert.equal(answer.status, 401);
      assert.equal(problemOf(answer).code, 'INVALID_REFRESH_TOKEN');
      assert.match((await bed.logIn()).authToken, /./);
    },
  },
  {
    title: 'continued use with refreshing keeps a session alive far beyond 60 days',
    proves: ['5.5'],
    async run(bed) {
      let pair = await bed.logIn();
      for (let month = 0; month < 12; month++) {
        bed.clock.advanceSeconds(50 * days);
        const answer = await bed.refresh(pair);
        assert.equal(answer.status, 200);
        pair = answer.json<LoginResponse>();
      }
    },
  },
  {
    title: 'refresh without an auth header answers 401 and does not spend the RT',
    proves: ['7 /login/refresh 401', '4 POST /login/refresh'],
    async run(bed) {
      const pair = await bed.logIn();
      const answer = await bed.post('/login/refresh', { refreshToken: pair.refreshToken });
      assert.equal(answer.status, 401);
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="espalier"');
      assert.equal(problemOf(answer).code, 'INVALID_AUTH_TOKEN');
      assert.equal((await bed.refresh(pair)).status, 200);
    },
  },
  {
    title: 'refresh with an invalid AT answers 401 and does not spend the RT',
    proves: ['7 /login/refresh 401'],
    async run(bed) {
      const pair = await bed.logIn();
      for (const authToken of ['rubbish', `${pair.authToken.slice(0, -4)}AAAA`, pair.refreshToken]) {
        const answer = await bed.refresh({ ...pair, authToken });
        assert.equal(answer.status, 401);
        assert.equal(answer.headers.get('token-expired'), null);
        assert.match(answer.headers.get('www-authenticate')!, /error="invalid_token"/);
      }
      assert.equal((await bed.refresh(pair)).status, 200);
    },
  },
  {
    title: 'refresh with an invalid RT answers 401, whatever it looks like',
    proves: ['7 /login/refresh 401'],
    async run(bed) {
      const pair = await bed.logIn();
      const invalid = [
        randomUUID(),
        '',
        'rubbish',
        pair.authToken,
        pair.refreshToken.toUpperCase(),
        '\0',
        '\ud800',
      ];
      for (const refreshToken of invalid) {
        const answer = await bed.refresh({ ...pair, refreshToken });
        assert.equal(answer.status, 401, refreshToken);
        assert.equal(problemOf(answer).code, 'INVALID_REFRESH_TOKEN');
        if (refreshToken.length > 6) assert.ok(!answer.text.includes(refreshToken));
      }
      assert.equal((await bed.refresh(pair)).status, 200);
    },
  },
  {
    title: 'the AT and the RT must be of the same login; mixing them spends neither',
    proves: ['5.6', '7 /login/refresh 401'],
    async run(bed) {
      const one = await bed.logIn();
      const two = await bed.logIn();
      assert.equal((await bed.refresh({ ...one, refreshToken: two.refreshToken })).status, 401);
      assert.equal((await bed.refresh({ ...two, refreshToken: one.refreshToken })).status, 401);
      assert.equal((await bed.refresh(one)).status, 200);
      assert.equal((await bed.refresh(two)).status, 200);
    },
  },
  {
    title: 'refresh never sends token-expired',
    proves: [],
    async run(bed) {
      const pair = await bed.logIn();
      bed.clock.advanceSeconds(601);
      const answer = await bed.refresh({ ...pair, refreshToken: randomUUID() });
      assert.equal(answer.status, 401);
      assert.equal(answer.headers.get('token-expired'), null);
    },
  },
  {
    title: 'a spent RT that comes back within the tolerance is refused and harms nobody',
    proves: [],
    async run(bed) {
      const old = await bed.logIn();
      const pair = (await bed.refresh(old)).json<LoginResponse>();
      bed.clock.advanceSeconds(60);
      assert.equal((await bed.refresh(old)).status, 401);
      assert.equal((await bed.refresh(pair)).status, 200);
    },
  },
  {
    title: 'a spent RT that comes back later ends its whole session, and only that',
    proves: [],
    async run(bed) {
      const other = await bed.logIn();
      const old = await bed.logIn();
      const pair = (await bed.refresh(old)).json<LoginResponse>();
      bed.clock.advanceSeconds(61);
      assert.equal((await bed.refresh(old)).status, 401);
      assert.equal((await bed.refresh(pair)).status, 401);
      assert.equal((await bed.refresh(other)).status, 200);
    },
  },
  {
    title: 'an unknown RT never ends a session, however often it comes',
    proves: [],
    async run(bed) {
      const pair = await bed.logIn();
      bed.clock.advanceSeconds(3600);
      for (let attempt = 0; attempt < 10; attempt++) {
        assert.equal((await bed.refresh({ ...pair, refreshToken: randomUUID() })).status, 401);
      }
      assert.equal((await bed.refresh(pair)).status, 200);
    },
  },
  {
    title: 'after seven days a spent RT is no longer known, and ends nothing',
    proves: [],
    async run(bed) {
      const old = await bed.logIn();
      const pair = (await bed.refresh(old)).json<LoginResponse>();
      bed.clock.advanceSeconds(7 * days + 1);
      await bed.purge();
      assert.equal((await bed.refresh(old)).status, 401);
      assert.equal((await bed.refresh(pair)).status, 200);
    },
  },
  ...malformedBodies('refreshToken').map(([title, body, headers]): Scenario => ({
    title: `refresh with ${title} answers 400`,
    proves: ['7 /login/refresh 400', '4 JSON'],
    async run(bed) {
      const { authToken } = await bed.logIn();
      const answer = await bed.postRaw('/login/refresh', body, {
        ...headers,
        authorization: `Bearer ${authToken}`,
      });
      assert.equal(answer.status, 400);
      assert.match(problemOf(answer).code, /^(BAD_INPUT|UNSUPPORTED_MEDIA_TYPE)$/);
    },
  })),
];
