import assert from 'node:assert/strict';
import { problemOf } from '../support/testbed.ts';
import { malformedBodies } from './malformed-bodies.ts';
import type { Scenario } from './scenario.ts';

export const verifyScenarios: Scenario[] = [
  {
    title: 'answers 204 without a body to a valid AT, and needs no `Authorization` header',
    proves: ['4 POST /login/verify', '2 VerifyRequest.authToken', '4.2'],
    async run(testbed) {
      const { authToken } = await testbed.logIn();
      const answer = await testbed.post('/login/verify', { authToken });
      assert.equal(answer.status, 204);
      assert.equal(answer.text, '');
    },
  },
  {
    title: 'answers 204 until the AT expires, and then 400',
    proves: ['4.2', '7 /login/verify 400'],
    async run(testbed) {
      const { authToken } = await testbed.logIn();
      testbed.clock.advanceSeconds(599);
      assert.equal((await testbed.post('/login/verify', { authToken })).status, 204);
      testbed.clock.advanceSeconds(1);
      const answer = await testbed.post('/login/verify', { authToken });
      assert.equal(answer.status, 400);
      assert.equal(answer.headers.get('www-authenticate'), null);
      assert.equal(problemOf(answer).code, 'INVALID_AUTH_TOKEN');
    },
  },
  {
    title: 'answers 400 to any token that this service did not issue, and does not return the token',
    proves: ['4.2', '7 /login/verify 400', '5.8'],
    async run(testbed) {
      const { authToken, refreshToken } = await testbed.logIn();
      const invalidTokens = [
        'rubbish',
        '',
        '..',
        refreshToken,
        `${authToken}.`,
        `${authToken} `,
        ` ${authToken}`,
        `Bearer ${authToken}`,
        authToken.slice(0, -1),
        authToken.split('.').slice(0, 2).join('.'),
        'x'.repeat(10_000),
      ];
      for (const token of invalidTokens) {
        const answer = await testbed.post('/login/verify', { authToken: token });
        assert.equal(answer.status, 400);
        assert.equal(problemOf(answer).code, 'INVALID_AUTH_TOKEN');
        if (token.length > 6) assert.ok(!answer.text.includes(token));
      }
    },
  },
  {
    title: 'answers 400, not 413, to a body that is too large',
    proves: ['7 /login/verify 400'],
    async run(testbed) {
      const answer = await testbed.post('/login/verify', { authToken: 'x'.repeat(20_000) });
      assert.equal(answer.status, 400);
      assert.equal(problemOf(answer).code, 'TOO_LARGE');
    },
  },
  ...malformedBodies('authToken').map(([title, body, headers]): Scenario => ({
    title: `answers 400 to a verification with ${title}`,
    proves: ['7 /login/verify 400', '4 JSON'],
    async run(testbed) {
      assert.equal((await testbed.postRaw('/login/verify', body, headers)).status, 400);
    },
  })),
];
