/**
 * Requests that cannot be parsed or do not arrive completely: each gets a response, and one log line with the request id
 * of the response.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Problem } from '@espalier/contract';
import { defaultTimeouts, type HttpTimeouts } from '../../server/src/http/guards/timeouts.ts';
import type { FinishedRequest } from '../../server/src/http/access-log.ts';
import { eventually } from '../support/eventually.ts';
import { dataOf, StubApp, type StubAppOptions } from '../live/stub-app.ts';
import { RawConnection } from '../support/raw-connection.ts';

type LogLine = Readonly<Record<string, unknown>>;

const secret = 'do-not-tell';
const json = 'Content-Type: application/json\r\n';
/** A body times out as soon as it pauses. Heads have the default timeout. */
const shortBodyTimeout: HttpTimeouts = {
  ...defaultTimeouts,
  bodyMs: 50,
  bodyBytesPerSecond: 1e9,
  checkEveryMs: 5,
};
const shortHeadTimeout: HttpTimeouts = { ...defaultTimeouts, headersMs: 50, checkEveryMs: 5 };

async function withApp(options: StubAppOptions, use: (fixture: Fixture) => Promise<void>): Promise<void> {
  const finishedRequests: FinishedRequest[] = [];
  const app = await StubApp.start({
    onRequestFinished: (request) => void finishedRequests.push(request),
    ...options,
  });
  try {
    await use(new Fixture(app, finishedRequests));
  } finally {
    await app.stop();
  }
}

class Fixture {
  readonly app: StubApp;
  readonly finishedRequests: readonly FinishedRequest[];

  constructor(app: StubApp, finishedRequests: readonly FinishedRequest[]) {
    this.app = app;
    this.finishedRequests = finishedRequests;
  }

  /** Sends a request on a new connection, and waits until the server responds and closes the connection. */
  async sendRefused(sent: string): Promise<Problem> {
    const connection = await RawConnection.open(this.app.url);
    const answer = await connection.exchange(sent);
    const problem = JSON.parse(answer!.body) as Problem;
    assert.equal(answer!.status, problem.status);
    assert.equal(await connection.read(), undefined);
    connection.close();
    await eventually(() => this.app.openConnections === 0, 'the connection is closed');
    return problem;
  }

  /**
   * Returns the log lines of requests without fields that vary. Fails if their number differs or if they contain what
   * the client sent.
   */
  async readLines(count: number): Promise<LogLine[]> {
    const read = () =>
      this.app.logLines.map((text) => JSON.parse(text) as LogLine).filter(({ msg }) => msg === 'request');
    await eventually(() => read().length >= count, `${count} lines`);
    // A duplicate would be logged when the connection closes.
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(read().length, count);
    assert.ok(!this.app.logLines.join('').includes(secret));
    assert.deepEqual(
      this.finishedRequests.map(({ requestId, status }) => ({ requestId, status })),
      read().map(({ requestId, status }) => ({ requestId, status })),
    );
    return read().map(({ time, pid, hostname, ms, ...rest }) => {
      assert.ok(typeof time === 'number' && typeof pid === 'number' && typeof hostname === 'string');
      assert.ok(typeof ms === 'number' && ms >= 0);
      return rest;
    });
  }
}

const unknownRequest = { level: 30, method: 'none', code: 'BAD_INPUT', address: '127.0.0.1', msg: 'request' };

describe('a malformed request', () => {
  for (const [what, status, sent, times] of [
    ['is not HTTP', 400, `${secret}\r\n\r\n`, defaultTimeouts],
    [
      'has a malformed header',
      400,
      `GET /${secret} HTTP/1.1\r\nHost: x\r\n${secret}\r\n\r\n`,
      defaultTimeouts,
    ],
    [
      'has a head that is too long',
      431,
      `GET /livez HTTP/1.1\r\nX: ${secret.repeat(2_000)}\r\n\r\n`,
      defaultTimeouts,
    ],
    ['is empty', 408, '', shortHeadTimeout],
    ['stops within its head', 408, `GET /${secret} HTTP/1.1\r\nHost: x`, shortHeadTimeout],
  ] as const) {
    test(`is logged with status ${status} and without its content if it ${what}`, () =>
      withApp({ httpTimeouts: times }, async (fixture) => {
        const { requestId } = await fixture.sendRefused(sent);
        assert.deepEqual(await fixture.readLines(1), [{ ...unknownRequest, requestId, status }]);
        assert.deepEqual(fixture.finishedRequests[0]!.route, undefined);
      }));
  }

  test('is logged once, even if the client sends more', () =>
    withApp({}, async (fixture) => {
      const connection = await RawConnection.open(fixture.app.url);
      const { requestId } = JSON.parse((await connection.exchange('one\r\n\r\n'))!.body) as Problem;
      for (let time = 0; time < 5; time++) connection.send('more\r\n\r\n');
      assert.equal(await connection.read(), undefined);
      connection.close();
      await eventually(() => fixture.app.openConnections === 0, 'the connection is closed');
      assert.deepEqual(await fixture.readLines(1), [{ ...unknownRequest, requestId, status: 400 }]);
    }));

  test('is not logged if the client only opened and closed the connection', () =>
    withApp({}, async (fixture) => {
      const connection = await RawConnection.open(fixture.app.url);
      await eventually(() => fixture.app.openConnections === 1, 'it is open');
      connection.close();
      await eventually(() => fixture.app.openConnections === 0, 'the connection is closed');
      await fixture.readLines(0);
    }));

  test('gets its response only after that of an earlier request on the connection', () =>
    withApp({}, async (fixture) => {
      const work = Promise.withResolvers<ReturnType<typeof dataOf>>();
      let calls = 0;
      fixture.app.open = () => (calls++, work.promise);
      const body = '{"query":"{x}"}';
      const connection = await RawConnection.open(fixture.app.url);
      connection.send(
        `POST /graphql HTTP/1.1\r\nHost: x\r\n${json}Authorization: Bearer ${fixture.app.token('ann')}\r\nContent-Length: ${body.length}\r\n\r\n${body}${secret}\r\n\r\n`,
      );
      await eventually(() => calls === 1, 'the query runs');
      connection.send(`${secret}\r\n\r\n`);
      work.resolve(dataOf({ done: true }));
      assert.equal((await connection.read())?.body, '{"data":{"done":true}}');
      const { requestId } = JSON.parse((await connection.read())!.body) as Problem;
      assert.equal(await connection.read(), undefined);
      connection.close();
      const [first, second] = await fixture.readLines(2);
      assert.deepEqual([first!['route'], first!['status'], first!['userId']], ['/graphql', 200, 'ann']);
      assert.deepEqual(second, { ...unknownRequest, requestId, status: 400 });
    }));
});

describe('a request with a broken body', () => {
  const post = (path: string, more: string) =>
    `POST ${path}?x=${secret} HTTP/1.1\r\nHost: x\r\n${json}X-Forwarded-For: 192.0.2.7\r\n${more}`;
  const knownRequest = { level: 30, method: 'POST', code: 'BAD_INPUT', address: '192.0.2.7', msg: 'request' };
  const behindProxy = { httpTimeouts: shortBodyTimeout, settings: { trustProxy: ['127.0.0.1'] } };

  for (const [path, route] of [
    ['/login', { route: '/login' }],
    ['/nothing', {}],
  ] as const) {
    test(`is logged once with status 408 at ${path} if its body does not arrive`, () =>
      withApp(behindProxy, async (fixture) => {
        const { requestId } = await fixture.sendRefused(post(path, `Content-Length: 100\r\n\r\n${secret}`));
        assert.deepEqual(await fixture.readLines(1), [{ ...knownRequest, ...route, requestId, status: 408 }]);
        assert.ok(!fixture.app.logLines.join('').includes('the client left'));
      }));
  }

  for (const [cors, settings] of [
    ['without CORS', {}],
    ['with CORS', { corsOrigins: ['https://app.example'] }],
  ] as const) {
    test(`is logged with status 408 and its user if its body does not arrive, ${cors}`, () =>
      withApp({ httpTimeouts: shortBodyTimeout, settings }, async (fixture) => {
        const { requestId } = await fixture.sendRefused(
          `POST /graphql HTTP/1.1\r\nHost: x\r\n${json}Authorization: Bearer ${fixture.app.token('ann')}\r\nContent-Length: 100\r\n\r\n{`,
        );
        const facts = { route: '/graphql', userId: 'ann', address: '127.0.0.1', status: 408 };
        assert.deepEqual(await fixture.readLines(1), [{ ...knownRequest, ...facts, requestId }]);
      }));
  }

  test('is logged once with status 400 if its chunked encoding is invalid', () =>
    withApp(behindProxy, async (fixture) => {
      const { requestId } = await fixture.sendRefused(
        post('/login', `Transfer-Encoding: chunked\r\n\r\n3\r\n{"a\r\n${secret}\r\n`),
      );
      assert.deepEqual(await fixture.readLines(1), [
        { ...knownRequest, route: '/login', requestId, status: 400 },
      ]);
    }));

  test('is logged once and gets no second response if the body breaks after the response', () =>
    withApp({}, async (fixture) => {
      const connection = await RawConnection.open(fixture.app.url);
      const head = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
      assert.equal((await connection.exchange(head))?.status, 200);
      assert.equal(await connection.exchange(`${secret}\r\n\r\n`), undefined);
      connection.close();
      const [line] = await fixture.readLines(1);
      assert.deepEqual([line!['route'], line!['status']], ['/openapi.json', 200]);
    }));
});

test('a request with an unknown Expect header gets 417, is logged and is not executed', () =>
  withApp({ settings: { trustProxy: true } }, async (fixture) => {
    let calls = 0;
    fixture.app.open = () => (calls++, dataOf({}));
    const { requestId, code } = await fixture.sendRefused(
      `POST /graphql HTTP/1.1\r\nHost: x\r\n${json}Expect: ${secret}\r\nX-Forwarded-For: 192.0.2.7\r\nAuthorization: Bearer ${fixture.app.token('ann')}\r\nContent-Length: 15\r\n\r\n{"query":"{x}"}`,
    );
    assert.equal(code, 'BAD_INPUT');
    const facts = { method: 'POST', route: '/graphql', status: 417, address: '192.0.2.7' };
    assert.deepEqual(await fixture.readLines(1), [{ ...unknownRequest, ...facts, requestId }]);
    assert.equal(calls, 0);
  }));

test('an invalid WebSocket handshake is logged with status 400', () =>
  withApp({}, async (fixture) => {
    const { requestId } = await fixture.sendRefused(
      `GET /graphql HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${secret}\r\n\r\n`,
    );
    const facts = { method: 'GET', route: '/graphql', status: 400 };
    assert.deepEqual(await fixture.readLines(1), [{ ...unknownRequest, ...facts, requestId }]);
  }));
