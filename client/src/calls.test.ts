/** Tests which calls the client retries, and with which idempotency key. The server is scripted. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cancelImport } from './files/cancel-import.ts';
import type { SessionClientOptions } from './client-options.ts';
import { createClient, type Client } from './client.ts';
import { EspalierError } from './errors.ts';
import { memoryStorage } from './session/token-storage.ts';

type Reply = Response | Error | 'never';
const url = 'http://server.test/base';
const html = { 'content-type': 'text/html; charset=utf-8' };
const json = (value: unknown, init?: ResponseInit) => Response.json(value, init);
const success = () => json({ data: { a: 1 } });
const unavailable = [{ message: 'Busy.', extensions: { code: 'UNAVAILABLE' } }];

/** Creates a logged-in client whose server sends these replies in order. */
function createScriptedClient(replies: readonly Reply[], options: Partial<SessionClientOptions> = {}) {
  const sent: { path: string; init: RequestInit; headers: Headers }[] = [];
  const storage = memoryStorage();
  const tokens = { authToken: 'secret-auth', refreshToken: 'secret-refresh' };
  void storage.write({ ...tokens, expiresAt: Infinity, lifetimeSeconds: 600 });
  const send: typeof fetch = (input, init = {}) => {
    sent.push({ path: (input as string).slice(url.length), init, headers: new Headers(init.headers) });
    const reply = replies[sent.length - 1] ?? new Error('There are no more replies.');
    if (reply === 'never') return new Promise(() => undefined);
    return reply instanceof Error ? Promise.reject(reply) : Promise.resolve(reply);
  };
  return { client: createClient({ url, storage, fetch: send, ...options }), sent, storage };
}

async function captureError(work: Promise<unknown>): Promise<EspalierError> {
  const error = await work.then(
    () => assert.fail('It did not fail.'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof EspalierError, String(error));
  return error;
}

describe('a call', { timeout: 30_000 }, () => {
  const transientReplies: readonly (readonly [string, () => Reply])[] = [
    ['a lost connection', () => new TypeError('fetch failed')],
    ['a page of a proxy with 502', () => new Response('<html>', { status: 502, headers: html })],
    ['a problem with 503', () => json({ code: 'UNAVAILABLE', detail: 'Busy.' }, { status: 503 })],
    [
      'errors with 503',
      () => json({ errors: unavailable }, { status: 503, headers: { 'retry-after': '0' } }),
    ],
    ['an empty 504', () => new Response(null, { status: 504 })],
    ['429 of a proxy', () => new Response('Slow down', { status: 429 })],
    [
      'a truncated response',
      () => new Response('{"data":{"a"', { headers: { 'content-type': 'application/json' } }),
    ],
    ['UNAVAILABLE in a 200', () => json({ data: { a: 1, b: null }, errors: unavailable })],
  ];
  for (const [what, reply] of transientReplies) {
    test(`is retried after ${what}, with the same idempotency key for a mutation`, async () => {
      const queryRun = createScriptedClient([reply(), success()]);
      assert.deepEqual(await queryRun.client.query('{a}', { b: 1 }), { a: 1 });
      assert.equal(queryRun.sent.length, 2);
      assert.equal(queryRun.sent[0]!.init.body, '{"query":"{a}","variables":{"b":1}}');
      assert.ok(!queryRun.sent[0]!.headers.has('idempotency-key'));

      const mutationRun = createScriptedClient([reply(), reply(), success(), success()]);
      assert.deepEqual(await mutationRun.client.mutate('mutation{a}'), { a: 1 });
      await mutationRun.client.query('mutation{b}');
      const keys = mutationRun.sent.map(({ headers }) => headers.get('idempotency-key'));
      assert.match(keys[0]!, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
      assert.deepEqual(keys.slice(0, 3), Array(3).fill(keys[0]));
      assert.ok(keys[3] && keys[3] !== keys[0]);
      assert.equal(mutationRun.sent[0]!.init.body, mutationRun.sent[2]!.init.body);
    });
  }

  test('sends the idempotency key of the caller', async () => {
    const { client, sent } = createScriptedClient([new TypeError('fetch failed'), success()]);
    await client.mutate('mutation{a}', undefined, { idempotencyKey: 'mine' });
    assert.deepEqual(
      sent.map(({ headers }) => headers.get('idempotency-key')),
      ['mine', 'mine'],
    );
  });

  test('of cancelImport() cancels the import, or reports that it is already complete', async () => {
    const key = { idempotencyKey: 'k', parentId: 'p' };
    const keyInUse = { errors: [{ message: 'Used.', extensions: { code: 'BAD_INPUT' } }], data: null };
    const { client, sent } = createScriptedClient([
      json({ data: { importFolders: { folder: { id: 'p' } } } }),
      json(keyInUse),
      json({ data: null }),
      json({ code: 'FORBIDDEN', detail: 'No.' }, { status: 403 }),
    ]);
    assert.equal(await cancelImport(client, key), true);
    assert.equal(await cancelImport(client, key), false);
    await assert.rejects(cancelImport(client, key), /is empty/);
    await assert.rejects(cancelImport(client, key), /No\./);
    assert.deepEqual(new Set(sent.map(({ headers }) => headers.get('idempotency-key'))), new Set(['k']));
  });

  test('rejects with the code, request id and partial data of GraphQL errors, without a retry', async () => {
    const errors = [
      { message: 'No.', path: ['b'], extensions: { code: 'FORBIDDEN', requestId: 'r1' } },
      { message: 'Neither.' },
    ];
    for (const status of [200, 400]) {
      const { client, sent } = createScriptedClient([json({ data: { a: 1, b: null }, errors }, { status })]);
      const error = await captureError(client.query('{a b}'));
      const { code, message, requestId, data } = error;
      assert.deepEqual(
        { code, message, requestId, data },
        { code: 'FORBIDDEN', message: 'No.', requestId: 'r1', data: { a: 1, b: null } },
      );
      assert.deepEqual(error.errors, errors);
      assert.equal(error.status, status);
      assert.equal(sent.length, 1);
    }
  });

  const foreignReplies: readonly (readonly [string, () => Response, RegExp])[] = [
    [
      'a missing page',
      () => new Response('', { status: 404, headers: html }),
      /returned 404 with text\/html/,
    ],
    ['a login portal', () => new Response('<form>', { headers: html }), /returned 200 with text\/html/],
    [
      '401 of a proxy',
      () => new Response('', { status: 401, headers: html }),
      /returned 401 with text\/html/,
    ],
    ['unrelated JSON', () => json({ hello: 1 }), /returned 200 with application\/json/],
    ['a list', () => json([1]), /returned 200 with application\/json/],
    [
      'a missing endpoint',
      () => json({ code: 'NOT_FOUND' }, { status: 404 }),
      /returned 404 with application\/json/,
    ],
    [
      'a redirection',
      () => new Response(null, { status: 302, headers: { location: 'https://other.test/' } }),
      /redirects to https:\/\/other\.test\//,
    ],
  ];
  for (const [what, reply, message] of foreignReplies) {
    test(`rejects with NOT_ESPALIER after ${what}, without a retry`, async () => {
      for (const send of [
        (client: Client) => client.query('{a}'),
        (client: Client) => client.login({ username: 'ann', password: 'walnut cabin' }),
        (client: Client) => client.verify(),
      ]) {
        const { client, sent } = createScriptedClient([reply()]);
        const error = await captureError(send(client));
        assert.equal(error.code, 'NOT_ESPALIER');
        assert.match(error.message, message);
        assert.ok(error.message.includes(`${url}/`));
        assert.equal(sent.length, 1);
        assert.equal(sent[0]!.init.redirect, 'manual');
        assert.equal(await client.isLoggedIn(), true);
      }
    });
  }

  test('does not wait for a `Retry-After` that is longer than the retry time', async () => {
    const busy = () => json({ errors: unavailable }, { status: 503, headers: { 'retry-after': '60' } });
    const { client, sent } = createScriptedClient([busy()]);
    const error = await captureError(client.query('{a}'));
    assert.equal(error.code, 'UNAVAILABLE');
    assert.equal(error.retryAfterSeconds, 60);
    assert.equal(sent.length, 1);
  });

  test('is retried during the retry time, and then rejects with the reason', async () => {
    let now = 0;
    // Each attempt takes ten seconds.
    const clock = { now: () => (now += 5_000) };
    const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const connectionRefused = new TypeError('fetch failed', { cause });
    const { client, sent } = createScriptedClient(Array<Reply>(10).fill(connectionRefused), { clock });
    const error = await captureError(client.query('{a}'));
    assert.equal(error.code, 'UNREACHABLE');
    assert.equal(error.message, `Cannot connect to ${url}: no program listens on the port.`);
    assert.equal(error.cause, connectionRefused);
    assert.ok(sent.length > 1 && sent.length < 8, `${sent.length} attempts`);
  });

  test('is retried after an unknown host name, which may be registered later', async () => {
    const cause = Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' });
    const unknownHost = new TypeError('fetch failed', { cause });
    const retried = createScriptedClient([unknownHost, json({ data: { a: 1 } })]);
    assert.deepEqual(await retried.client.query('{a}'), { a: 1 });
    const { message } = await captureError(
      createScriptedClient([unknownHost], { retrySeconds: 0 }).client.query('{a}'),
    );
    assert.equal(message, `Cannot connect to ${url}: the host name ${new URL(url).hostname} is unknown.`);
  });

  test('is not retried after an untrusted certificate', async () => {
    const cause = Object.assign(new Error('self-signed'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    const { client, sent } = createScriptedClient([new TypeError('fetch failed', { cause })]);
    assert.match((await captureError(client.query('{a}'))).message, /DEPTH_ZERO_SELF_SIGNED_CERT/);
    assert.equal(sent.length, 1);
  });

  test('ends an attempt after the timeout of the client or of the call', async () => {
    const { client } = createScriptedClient(['never', 'never'], { retrySeconds: 0, timeoutSeconds: 0.02 });
    assert.match((await captureError(client.query('{a}'))).message, /no response within 0.02 s/);
    const error = await captureError(client.query('{a}', undefined, { timeoutSeconds: 0.01 }));
    assert.match(error.message, /no response within 0.01 s/);
  });

  test('rejects with the reason of its signal during a request, a pause or a refresh', async () => {
    const reason = new Error('Enough.');
    const expired = json(
      { errors: [{ message: 'No.', extensions: { code: 'INVALID_AUTH_TOKEN' } }] },
      { status: 401 },
    );
    for (const replies of [
      ['never'],
      [new TypeError('fetch failed'), 'never'],
      [expired, 'never'],
    ] as Reply[][]) {
      const controller = new AbortController();
      // Short, because abandoned requests would keep the test running.
      const { client, sent } = createScriptedClient(replies, { timeoutSeconds: 1, retrySeconds: 1 });
      const call = client.mutate('mutation{a}', undefined, { signal: controller.signal });
      while (sent.length < 1) await new Promise(setImmediate);
      await new Promise(setImmediate);
      controller.abort(reason);
      await assert.rejects(call, reason);
      await assert.rejects(client.query('{a}', undefined, { signal: controller.signal }), reason);
      assert.ok(sent.length <= 2);
    }
  });

  test('never puts a token or a password into an error', async () => {
    const { client, storage } = createScriptedClient(Array<Reply>(4).fill(new TypeError('fetch failed')), {
      retrySeconds: 0,
    });
    const tokens = (await storage.read())!;
    await storage.write({ ...tokens, authToken: 'secret\nauth', refreshToken: 'secret-refresh' });
    const errors = [
      await captureError(client.query('{a}')),
      await captureError(client.login({ username: 'ann', password: 'secret-password' })),
    ];
    for (const error of errors) {
      assert.equal(error.code, 'UNREACHABLE');
      assert.doesNotMatch(`${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`, /secret/);
    }
  });

  test('sends the headers of the client, which cannot replace its own headers', async () => {
    const headers = { 'User-Agent': 'tests', Authorization: 'Basic x' };
    const { client, sent } = createScriptedClient([success()], { headers });
    await client.query('{a}');
    assert.equal(sent[0]!.headers.get('user-agent'), 'tests');
    assert.equal(sent[0]!.headers.get('authorization'), 'Bearer secret-auth');
  });
});

describe('the url of a client', () => {
  test('loses its trailing slashes, query and fragment', () => {
    assert.equal(createClient({ url: 'http://a.test' }).url, 'http://a.test');
    assert.equal(createClient({ url: 'https://a.test:444/b//' }).url, 'https://a.test:444/b');
    assert.equal(createClient({ url: new URL('http://a.test/b/?c#d') }).url, 'http://a.test/b');
  });

  test('is rejected if it is invalid or has a password, which the error does not contain', () => {
    for (const invalid of ['', 'a.test', 'ftp://a.test', '/', 'http://ann:secret-password@a.test']) {
      assert.throws(
        () => createClient({ url: invalid }),
        (error) =>
          error instanceof EspalierError && error.code === 'BAD_INPUT' && !error.message.includes('secret'),
      );
    }
  });
});
