import assert from 'node:assert/strict';
import { problemOf } from '../support/testbed.ts';
import { malformedBodies } from './malformed-bodies.ts';
import type { Scenario } from './scenario.ts';

export const verifyScenarios: Scenario[] = [
  {
    title: 'verify answers 204 without a body for a valid AT, and needs no auth header',
    proves: ['4 POST /login/verify', '2 VerifyRequest.authToken', '4.2'],
    async run(bed) {
      const { authToken } = await bed.logIn();
      const answer = await bed.post('/login/verify', { authToken });
      assert.equal(answer.status, 204);
      assert.equal(answer.text, '');
    },
  },
  {
    title: 'verify answers 204 until the last second, and 400 from then on',
    proves: ['4.2', '7 /login/verify 400'],
    async run(bed) {
      const { authToken } = await bed.logIn();
      bed.clock.advanceSeconds(599);
      assert.equal((await bed.post('/login/verify', { authToken })).status, 204);
      bed.clock.advanceSeconds(1);
      const answer = await bed.post('/login/verify', { authToken });
      assert.equal(answer.status, 400);
      assert.equal(answer.headers.get('www-authenticate'), null);
      assert.equal(problemOf(answer).code, 'INVALID_AUTH_TOKEN');
    },
  },
  {
    title: 'verify answers 400 for anything that this service did not issue, and does not echo it',
    proves: ['4.2', '7 /login/verify 400', '5.8'],
    async run(bed) {
      const { authToken, refreshToken } = await bed.logIn();
      const others = [
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
      for (const given of others) {
        const answer = await bed.post('/login/verify', { authToken: given });
        assert.equal(answer.status, 400);
        assert.equal(problemOf(answer).code, 'INVALID_AUTH_TOKEN');
        if (given.length > 6) assert.ok(!answer.text.includes(given));
      }
    },
  },
  {
    title: 'verify answers 400, not 413, for a body that is too large',
    proves: ['7 /login/verify 400'],
    async run(bed) {
      const answer = await bed.post('/login/verify', { authToken: 'x'.repeat(20_000) });
      assert.equal(answer.status, 400);
      assert.equal(problemOf(answer).code, 'TOO_LARGE');
    },
  },
  ...malformedBodies('authToken').map(([title, body, headers]): Scenario => ({
    title: `verify with ${title} answers 400`,
    proves: ['7 /login/verify 400', '4 JSON'],
    async run(bed) {
      assert.equal((await bed.postRaw('/login/verify', body, headers)).status, 400);
    },
  })),
];
