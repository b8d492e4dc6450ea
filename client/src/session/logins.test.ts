/** A login asks for a code only when the server needs one, and tokens and secrets do not reach errors. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { createClient, type Client } from '../client.ts';
import { EspalierError, type ErrorCode } from '../errors.ts';
import type { CodeQuestion } from './logins.ts';
import { memoryStorage } from './token-storage.ts';

const credentials = { username: 'ada', password: 'quince in brown paper' };
const tokens = { authToken: 'a.b.c', refreshToken: 'refresh', expires_in: 600 };
const url = 'http://server.test';
const enrolmentToken = 'token-of-the-enrolment';

interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

const json = (status: number, value: object) => () =>
  new Response(JSON.stringify(value), { status, headers: { 'content-type': 'application/json' } });

const refusal = (code: ErrorCode, more: object = {}) =>
  json(401, { code, detail: `Refused: ${code}`, ...more });

/** Creates a client whose server sends these responses in order. */
function createScriptedClient(...responses: readonly (() => Response)[]) {
  const sent: SentRequest[] = [];
  const send: typeof fetch = (input, init) => {
    const body: unknown = init?.body === undefined ? undefined : JSON.parse(init.body as string);
    sent.push({ method: init!.method!, path: (input as string).slice(url.length), body });
    return Promise.resolve(responses[sent.length - 1]!());
  };
  const client: Client = createClient({ url, storage: memoryStorage(), fetch: send });
  return { client, sent };
}

const hasCode = (code: ErrorCode) => (error: unknown) =>
  error instanceof EspalierError && error.code === code;

describe('login()', () => {
  test('sends only the user name and the password if there is no code', async () => {
    const { client, sent } = createScriptedClient(json(200, tokens));
    await client.login(credentials, { askForCode: () => assert.fail('asked for a code') });
    assert.deepEqual(sent, [{ method: 'POST', path: '/login', body: credentials }]);
    assert.equal(await client.isLoggedIn(), true);
  });

  test('sends the code of the credentials', async () => {
    const { client, sent } = createScriptedClient(json(200, tokens));
    await client.login({ ...credentials, code: '123456' });
    assert.deepEqual(sent[0]!.body, { ...credentials, code: '123456' });
  });

  test('asks for a code until it is right', async () => {
    const { client, sent } = createScriptedClient(
      refusal('SECOND_FACTOR_REQUIRED', { methods: ['TOTP', 'RECOVERY_CODE', 'PASSKEY'] }),
      refusal('WRONG_SECOND_FACTOR'),
      json(200, tokens),
    );
    const questions: CodeQuestion[] = [];
    await client.login(credentials, {
      askForCode: (question) => {
        questions.push(question);
        return `code ${questions.length}`;
      },
    });
    const methods = ['TOTP', 'RECOVERY_CODE', 'PASSKEY'];
    assert.deepEqual(questions, [
      { methods, wasWrong: false },
      { methods, wasWrong: true },
    ]);
    assert.deepEqual(
      sent.map(({ body }) => body),
      [credentials, { ...credentials, code: 'code 1' }, { ...credentials, code: 'code 2' }],
    );
    assert.equal(await client.isLoggedIn(), true);
  });

  test('rejects with the methods of the user if there is no askForCode', async () => {
    const { client, sent } = createScriptedClient(
      refusal('SECOND_FACTOR_REQUIRED', { methods: ['PASSKEY'] }),
    );
    await assert.rejects(client.login(credentials), (error) => {
      assert.ok(hasCode('SECOND_FACTOR_REQUIRED')(error));
      assert.deepEqual((error as EspalierError).methods, ['PASSKEY']);
      return true;
    });
    assert.equal(sent.length, 1);
    assert.equal(await client.isLoggedIn(), false);
  });

  test('does not ask for a code after another refusal', async () => {
    const responses = [
      refusal('INVALID_CREDENTIALS'),
      json(429, { code: 'TOO_MANY_ATTEMPTS', detail: 'Wait.' }),
      refusal('SECOND_FACTOR_ENROLMENT_REQUIRED', { enrolmentToken }),
    ];
    const { client } = createScriptedClient(...responses);
    const askForCode = () => assert.fail('asked for a code');
    await assert.rejects(client.login(credentials, { askForCode }), hasCode('INVALID_CREDENTIALS'));
    await assert.rejects(client.login(credentials, { askForCode }), hasCode('TOO_MANY_ATTEMPTS'));
    const required = hasCode('SECOND_FACTOR_ENROLMENT_REQUIRED');
    await assert.rejects(client.login(credentials, { askForCode }), required);
  });

  test('rejects with the error of askForCode, and stores no tokens', async () => {
    const { client, sent } = createScriptedClient(refusal('SECOND_FACTOR_REQUIRED'));
    const canceled = new Error('canceled');
    await assert.rejects(client.login(credentials, { askForCode: () => Promise.reject(canceled) }), canceled);
    assert.equal(sent.length, 1);
    assert.equal(await client.isLoggedIn(), false);
  });

  test('can be aborted while the user is asked for a code', async () => {
    const { client, sent } = createScriptedClient(refusal('SECOND_FACTOR_REQUIRED'));
    const controller = new AbortController();
    const askForCode = () => {
      controller.abort();
      return new Promise<string>(() => undefined);
    };
    const { signal } = controller;
    await assert.rejects(client.login(credentials, { askForCode, signal }), { name: 'AbortError' });
    assert.equal(sent.length, 1);
  });
});

describe('the enrolment at a login', () => {
  test('takes the token of the refused login, which a printed error does not contain', async () => {
    const started = { username: 'ada', secret: 'ABCD', uri: 'otpauth://totp/Espalier:ada?secret=ABCD' };
    const { client, sent } = createScriptedClient(
      refusal('SECOND_FACTOR_ENROLMENT_REQUIRED', { enrolmentToken }),
      json(200, started),
      refusal('WRONG_SECOND_FACTOR'),
      json(200, { ...tokens, recoveryCodes: ['one', 'two'] }),
    );
    const error = await client.login(credentials).catch((reason: unknown) => reason as EspalierError);
    assert.equal(error?.enrolmentToken, enrolmentToken);
    assert.ok(!`${inspect(error)}${JSON.stringify(error)}`.includes(enrolmentToken));
    assert.deepEqual(await client.startEnrolment(enrolmentToken), started);
    const wrong = client.confirmEnrolment({ enrolmentToken, code: '000000' });
    await assert.rejects(wrong, hasCode('WRONG_SECOND_FACTOR'));
    assert.equal(await client.isLoggedIn(), false);
    const finished = await client.confirmEnrolment({ enrolmentToken, code: '123456' });
    assert.deepEqual(finished, { recoveryCodes: ['one', 'two'] });
    assert.equal(await client.isLoggedIn(), true);
    assert.deepEqual(sent.slice(1), [
      { method: 'POST', path: '/login/enrolment', body: { enrolmentToken } },
      { method: 'POST', path: '/login/enrolment/confirm', body: { enrolmentToken, code: '000000' } },
      { method: 'POST', path: '/login/enrolment/confirm', body: { enrolmentToken, code: '123456' } },
    ]);
  });
});

describe('a login with a passkey', () => {
  test('sends the answer of the browser', async () => {
    const { client, sent } = createScriptedClient(
      json(200, { challengeId: 'one', options: { challenge: 'x' } }),
      json(200, tokens),
    );
    const { challengeId, options } = await client.startPasskeyLogin();
    assert.deepEqual([challengeId, options], ['one', { challenge: 'x' }]);
    await client.loginWithPasskey({ challengeId, response: { id: 'credential' } });
    assert.deepEqual(sent, [
      { method: 'POST', path: '/login/passkey/options', body: {} },
      {
        method: 'POST',
        path: '/login/passkey',
        body: { challengeId: 'one', response: { id: 'credential' } },
      },
    ]);
    assert.equal(await client.isLoggedIn(), true);
  });
});
