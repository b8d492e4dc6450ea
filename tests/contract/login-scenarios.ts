import assert from 'node:assert/strict';
import type { LoginResponse } from '@espalier/contract';
import { administrator, problemOf } from '../support/testbed.ts';
import { malformedBodies, nested } from './malformed-bodies.ts';
import type { Scenario } from './scenario.ts';

const uuidV4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

export const loginScenarios: Scenario[] = [
  {
    title: 'login with the right credentials answers 200 with a token pair and nothing else',
    proves: [
      '2 LoginResponse.authToken',
      '2 LoginResponse.expires_in',
      '2 LoginResponse.refreshToken',
      '2 Credentials.username',
      '2 Credentials.password',
      '4 POST /login',
      '4 JSON',
      '8 AT lifetime',
    ],
    async run(bed) {
      const answer = await bed.post('/login', administrator);
      assert.equal(answer.status, 200);
      assert.match(answer.headers.get('content-type')!, /^application\/json/);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      const pair = answer.json<LoginResponse>();
      assert.deepEqual(Object.keys(pair).sort(), ['authToken', 'expires_in', 'refreshToken']);
      assert.match(pair.authToken, /^[\w-]+\.[\w-]+\.[\w-]+$/);
      assert.equal(pair.expires_in, 600);
      assert.match(pair.refreshToken, uuidV4);
    },
  },
  {
    title: 'an auth token is a JWT with the documented header and claims',
    proves: ['2 LoginResponse.authToken'],
    async run(bed) {
      const { authToken } = await bed.logIn();
      const [header, claims] = authToken
        .split('.')
        .slice(0, 2)
        .map(
          (segment) => JSON.parse(Buffer.from(segment, 'base64url').toString()) as Record<string, unknown>,
        );
      assert.deepEqual(Object.keys(header!).sort(), ['alg', 'kid', 'typ']);
      assert.equal(header!['alg'], 'EdDSA');
      assert.equal(header!['typ'], 'at+jwt');
      assert.deepEqual(Object.keys(claims!).sort(), ['exp', 'iat', 'iss', 'jti', 'nbf', 'sid', 'sub']);
      assert.equal(claims!['iat'], Math.floor(bed.clock.now() / 1000));
      assert.equal(claims!['exp'], claims!['iat'] + 600);
    },
  },
  {
    title: 'a token from login is accepted by the graph',
    proves: ['5.2'],
    async run(bed) {
      const { authToken } = await bed.logIn();
      assert.equal((await bed.query('{folder{name}}', authToken)).status, 200);
    },
  },
  {
    title: 'two logins get different tokens and do not disturb each other',
    proves: [],
    async run(bed) {
      const one = await bed.logIn();
      const two = await bed.logIn();
      assert.notEqual(one.authToken, two.authToken);
      assert.notEqual(one.refreshToken, two.refreshToken);
      assert.equal((await bed.refresh(one)).status, 200);
      assert.equal((await bed.refresh(two)).status, 200);
    },
  },
  {
    title: 'login needs no auth header, and a wrong one does not matter',
    proves: ['4 POST /login'],
    async run(bed) {
      assert.equal((await bed.post('/login', administrator, 'rubbish')).status, 200);
    },
  },
  {
    title: 'the case of a user name does not matter, the case of a password does',
    proves: [],
    async run(bed) {
      const { username, password } = administrator;
      assert.equal((await bed.post('/login', { username: username.toUpperCase(), password })).status, 200);
      assert.equal((await bed.post('/login', { username, password: password.toUpperCase() })).status, 401);
    },
  },
  {
    title: 'unknown fields and a charset are fine',
    proves: [],
    async run(bed) {
      const body = JSON.stringify({ ...administrator, remember: true, constructor: 1 });
      const headers = { 'content-type': 'application/json; charset="UTF-8"' };
      assert.equal((await bed.postRaw('/login', body, headers)).status, 200);
    },
  },
  {
    title: 'wrong credentials answer 401 with a challenge and never say which part was wrong',
    proves: ['7 /login 401', '5.8'],
    async run(bed) {
      const { username, password } = administrator;
      const wrong = [
        { username, password: 'not the password' },
        { username, password: `${password} ` },
        { username, password: '' },
        { username: 'nobody', password },
        { username: '', password },
        { username: 'nul\0nul', password },
        { username: '\ud800', password: '\ud800' },
        { username: 'x'.repeat(10_000), password: 'secret-'.repeat(100) },
        { username: "' or 1=1 --", password: "' or 1=1 --" },
      ];
      const details = new Set<string>();
      for (const credentials of wrong) {
        const answer = await bed.post('/login', credentials);
        assert.equal(answer.status, 401, JSON.stringify(credentials));
        assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="espalier"');
        assert.equal(answer.headers.get('token-expired'), null);
        const { code, detail, title } = problemOf(answer);
        assert.equal(code, 'INVALID_CREDENTIALS');
        details.add(`${title} ${detail}`);
        if (credentials.password.length > 3) assert.ok(!answer.text.includes(credentials.password));
      }
      assert.equal(details.size, 1);
    },
  },
  {
    title: 'unknown fields may be nested, up to 64 levels with the body itself',
    proves: [],
    async run(bed) {
      const json = { 'content-type': 'application/json' };
      const answer = await bed.postRaw('/login', nested(administrator, 63), json);
      assert.equal(answer.status, 200);
      const brackets = { ...administrator, more: '[{'.repeat(1_000) };
      assert.equal((await bed.post('/login', brackets)).status, 200, 'brackets in a string are text');
    },
  },
  {
    title: 'a body over 16 KiB answers 413',
    proves: [],
    async run(bed) {
      const answer = await bed.post('/login', { ...administrator, more: 'x'.repeat(16 * 1024) });
      assert.equal(answer.status, 413);
      assert.equal(problemOf(answer).code, 'TOO_LARGE');
    },
  },
  ...malformedBodies('username', 'password').map(([title, body, headers]): Scenario => ({
    title: `login with ${title} answers 400`,
    proves: ['7 /login 400', '4 JSON'],
    async run(bed) {
      const answer = await bed.postRaw('/login', body, headers);
      assert.equal(answer.status, 400);
      assert.match(answer.headers.get('content-type')!, /^application\/problem\+json/);
      assert.match(problemOf(answer).code, /^(BAD_INPUT|UNSUPPORTED_MEDIA_TYPE)$/);
    },
  })),
  {
    title: 'a malformed body is not echoed, nor the password in it',
    proves: ['5.8'],
    async run(bed) {
      const headers = { 'content-type': 'application/json' };
      const answer = await bed.postRaw(
        '/login',
        '{"username":"admin","password":"hunter2-hunter2" oops',
        headers,
      );
      assert.equal(answer.status, 400);
      assert.ok(!answer.text.includes('hunter2'));
    },
  },
];
