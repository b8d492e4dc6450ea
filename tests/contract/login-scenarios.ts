import assert from 'node:assert/strict';
import type { LoginResponse } from '@espalier/contract';
import { administrator, problemOf } from '../support/testbed.ts';
import { malformedBodies, nested } from './malformed-bodies.ts';
import type { Scenario } from './scenario.ts';

const uuidV4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

export const loginScenarios: Scenario[] = [
  {
    title: 'answers 200 to the right credentials, with both tokens, the expiry and nothing else',
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
    async run(testbed) {
      const answer = await testbed.post('/login', administrator);
      assert.equal(answer.status, 200);
      assert.match(answer.headers.get('content-type')!, /^application\/json/);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      const tokens = answer.json<LoginResponse>();
      assert.deepEqual(Object.keys(tokens).sort(), ['authToken', 'expires_in', 'refreshToken']);
      assert.match(tokens.authToken, /^[\w-]+\.[\w-]+\.[\w-]+$/);
      assert.equal(tokens.expires_in, 600);
      assert.match(tokens.refreshToken, uuidV4);
    },
  },
  {
    title: 'issues an AT that is a JWT with the documented header and claims',
    proves: ['2 LoginResponse.authToken'],
    async run(testbed) {
      const { authToken } = await testbed.logIn();
      const [header, claims] = authToken
        .split('.')
        .slice(0, 2)
        .map(
          (segment) => JSON.parse(Buffer.from(segment, 'base64url').toString()) as Record<string, unknown>,
        );
      assert.deepEqual(Object.keys(header!).sort(), ['alg', 'kid', 'typ']);
      assert.equal(header!['alg'], 'EdDSA');
      assert.equal(header!['typ'], 'at+jwt');
      const names = ['aud', 'client_id', 'exp', 'iat', 'iss', 'jti', 'nbf', 'sid', 'sub'];
      assert.deepEqual(Object.keys(claims!).sort(), names);
      assert.equal(claims!['iat'], Math.floor(testbed.clock.now() / 1000));
      assert.equal(claims!['exp'], claims!['iat'] + 600);
    },
  },
  {
    title: 'issues an AT that `/graphql` accepts',
    proves: ['5.2'],
    async run(testbed) {
      const { authToken } = await testbed.logIn();
      assert.equal((await testbed.query('{folder{name}}', authToken)).status, 200);
    },
  },
  {
    title: 'issues different, independent tokens for two logins',
    proves: [],
    async run(testbed) {
      const one = await testbed.logIn();
      const two = await testbed.logIn();
      assert.notEqual(one.authToken, two.authToken);
      assert.notEqual(one.refreshToken, two.refreshToken);
      assert.equal((await testbed.refresh(one)).status, 200);
      assert.equal((await testbed.refresh(two)).status, 200);
    },
  },
  {
    title: 'needs no `Authorization` header and ignores an invalid one',
    proves: ['4 POST /login'],
    async run(testbed) {
      assert.equal((await testbed.post('/login', administrator, 'rubbish')).status, 200);
    },
  },
  {
    title: 'ignores the case of a user name but not of a password',
    proves: [],
    async run(testbed) {
      const { username, password } = administrator;
      assert.equal(
        (await testbed.post('/login', { username: username.toUpperCase(), password })).status,
        200,
      );
      assert.equal(
        (await testbed.post('/login', { username, password: password.toUpperCase() })).status,
        401,
      );
    },
  },
  {
    title: 'accepts unknown fields and a charset',
    proves: [],
    async run(testbed) {
      const body = JSON.stringify({ ...administrator, remember: true, constructor: 1 });
      const headers = { 'content-type': 'application/json; charset="UTF-8"' };
      assert.equal((await testbed.postRaw('/login', body, headers)).status, 200);
    },
  },
  {
    title: 'answers 401 with a challenge to wrong credentials, without revealing which part is wrong',
    proves: ['7 /login 401', '5.8'],
    async run(testbed) {
      const { username, password } = administrator;
      const wrongCredentials = [
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
      for (const credentials of wrongCredentials) {
        const answer = await testbed.post('/login', credentials);
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
    title: 'accepts nested unknown fields, up to 64 levels including the body itself',
    proves: [],
    async run(testbed) {
      const json = { 'content-type': 'application/json' };
      const answer = await testbed.postRaw('/login', nested(administrator, 63), json);
      assert.equal(answer.status, 200);
      const brackets = { ...administrator, more: '[{'.repeat(1_000) };
      assert.equal((await testbed.post('/login', brackets)).status, 200, 'brackets in a string are text');
    },
  },
  {
    title: 'answers 413 to a body over 16 KiB',
    proves: [],
    async run(testbed) {
      const answer = await testbed.post('/login', { ...administrator, more: 'x'.repeat(16 * 1024) });
      assert.equal(answer.status, 413);
      assert.equal(problemOf(answer).code, 'TOO_LARGE');
    },
  },
  ...malformedBodies('username', 'password').map(([title, body, headers]): Scenario => ({
    title: `answers 400 to a login with ${title}`,
    proves: ['7 /login 400', '4 JSON'],
    async run(testbed) {
      const answer = await testbed.postRaw('/login', body, headers);
      assert.equal(answer.status, 400);
      assert.match(answer.headers.get('content-type')!, /^application\/problem\+json/);
      assert.match(problemOf(answer).code, /^(BAD_INPUT|UNSUPPORTED_MEDIA_TYPE)$/);
    },
  })),
  {
    title: 'does not return any part of a malformed body or of its password',
    proves: ['5.8'],
    async run(testbed) {
      const headers = { 'content-type': 'application/json' };
      const answer = await testbed.postRaw(
        '/login',
        '{"username":"admin","password":"hunter2-hunter2" oops',
        headers,
      );
      assert.equal(answer.status, 400);
      assert.ok(!answer.text.includes('hunter2'));
    },
  },
];
