/** What cannot be read, or never comes: each is answered, and logged once, by the id that its sender was told. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Problem } from '@espalier/contract';
import { usualTimes, type HttpTimes } from '../server/src/http/http-times.ts';
import type { FinishedRequest } from '../server/src/http/request-log.ts';
import { eventually } from './eventually.ts';
import { dataOf, StagedApp, type StagedOptions } from './live/staged-app.ts';
import { RawConnection } from './raw-connection.ts';

type Line = Readonly<Record<string, unknown>>;

const secret = 'do-not-tell';
const json = 'Content-Type: application/json\r\n';
/** No head is late, and no body is in time that stops. */
const hastyBodies: HttpTimes = { ...usualTimes, bodyMs: 50, bodyBytesPerSecond: 1e9, checkEveryMs: 5 };
const hastyHeads: HttpTimes = { ...usualTimes, headersMs: 50, checkEveryMs: 5 };

async function withApp(options: StagedOptions, use: (stage: Stage) => Promise<void>): Promise<void> {
  const counted: FinishedRequest[] = [];
  const app = await StagedApp.start({ onAnswered: (request) => void counted.push(request), ...options });
  try {
    await use(new Stage(app, counted));
  } finally {
    await app.stop();
  }
}

class Stage {
  readonly app: StagedApp;
  readonly counted: readonly FinishedRequest[];

  constructor(app: StagedApp, counted: readonly FinishedRequest[]) {
    this.app = app;
    this.counted = counted;
  }

  /** Sends it on a connection of its own, and waits for its end. */
  async refused(sent: string): Promise<Problem> {
    const connection = await RawConnection.open(this.app.url);
    const answer = await connection.exchange(sent);
    const problem = JSON.parse(answer!.body) as Problem;
    assert.equal(answer!.status, problem.status);
    assert.equal(await connection.read(), undefined);
    connection.close();
    await eventually(() => this.app.openConnections === 0, 'it is gone');
    return problem;
  }

  /** Of requests, without what differs from time to time; fails the test if there are not so many, or what was sent is told. */
  async lines(count: number): Promise<Line[]> {
    const found = () =>
      this.app.logLines.map((text) => JSON.parse(text) as Line).filter(({ msg }) => msg === 'request');
    await eventually(() => found().length >= count, `${count} lines`);
    // A second one would come when the connection is gone.
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(found().length, count);
    assert.ok(!this.app.logLines.join('').includes(secret));
    assert.deepEqual(
      this.counted.map(({ requestId, status }) => ({ requestId, status })),
      found().map(({ requestId, status }) => ({ requestId, status })),
    );
    return found().map(({ time, pid, hostname, ms, ...rest }) => {
      assert.ok(typeof time === 'number' && typeof pid === 'number' && typeof hostname === 'string');
      assert.ok(typeof ms === 'number' && ms >= 0);
      return rest;
    });
  }
}

const ofUnknown = { level: 30, method: 'none', code: 'BAD_INPUT', address: '127.0.0.1', msg: 'request' };

describe('a request that never was one', () => {
  for (const [what, status, sent, times] of [
    ['is no HTTP', 400, `${secret}\r\n\r\n`, usualTimes],
    ['has a header that is none', 400, `GET /${secret} HTTP/1.1\r\nHost: x\r\n${secret}\r\n\r\n`, usualTimes],
    ['is too long in its head', 431, `GET /livez HTTP/1.1\r\nX: ${secret.repeat(2_000)}\r\n\r\n`, usualTimes],
    ['is silent', 408, '', hastyHeads],
    ['stops amid its head', 408, `GET /${secret} HTTP/1.1\r\nHost: x`, hastyHeads],
  ] as const) {
    test(`because it ${what} has a line with ${status} and nothing of what it was`, () =>
      withApp({ httpTimes: times }, async (stage) => {
        const { requestId } = await stage.refused(sent);
        assert.deepEqual(await stage.lines(1), [{ ...ofUnknown, requestId, status }]);
        assert.deepEqual(stage.counted[0]!.route, undefined);
      }));
  }

  test('is told of once, however much of it comes', () =>
    withApp({}, async (stage) => {
      const connection = await RawConnection.open(stage.app.url);
      const { requestId } = JSON.parse((await connection.exchange('one\r\n\r\n'))!.body) as Problem;
      for (let time = 0; time < 5; time++) connection.send('more\r\n\r\n');
      assert.equal(await connection.read(), undefined);
      connection.close();
      await eventually(() => stage.app.openConnections === 0, 'it is gone');
      assert.deepEqual(await stage.lines(1), [{ ...ofUnknown, requestId, status: 400 }]);
    }));

  test('because somebody only looked whether the port is open has no line', () =>
    withApp({}, async (stage) => {
      const connection = await RawConnection.open(stage.app.url);
      await eventually(() => stage.app.openConnections === 1, 'it is open');
      connection.close();
      await eventually(() => stage.app.openConnections === 0, 'it is gone');
      await stage.lines(0);
    }));

  test('behind one that is worked on is answered after it', () =>
    withApp({}, async (stage) => {
      const work = Promise.withResolvers<ReturnType<typeof dataOf>>();
      let asked = 0;
      stage.app.open = () => (asked++, work.promise);
      const body = '{"query":"{x}"}';
      const connection = await RawConnection.open(stage.app.url);
      connection.send(
        `POST /graphql HTTP/1.1\r\nHost: x\r\n${json}Authorization: Bearer ${stage.app.token('ann')}\r\nContent-Length: ${body.length}\r\n\r\n${body}${secret}\r\n\r\n`,
      );
      await eventually(() => asked === 1, 'it is asked');
      connection.send(`${secret}\r\n\r\n`);
      work.resolve(dataOf({ done: true }));
      assert.equal((await connection.read())?.body, '{"data":{"done":true}}');
      const { requestId } = JSON.parse((await connection.read())!.body) as Problem;
      assert.equal(await connection.read(), undefined);
      connection.close();
      const [first, second] = await stage.lines(2);
      assert.deepEqual([first!['route'], first!['status'], first!['userId']], ['/graphql', 200, 'ann']);
      assert.deepEqual(second, { ...ofUnknown, requestId, status: 400 });
    }));
});

describe('a request whose body', () => {
  const post = (path: string, more: string) =>
    `POST ${path}?x=${secret} HTTP/1.1\r\nHost: x\r\n${json}X-Forwarded-For: 192.0.2.7\r\n${more}`;
  const known = { level: 30, method: 'POST', code: 'BAD_INPUT', address: '192.0.2.7', msg: 'request' };
  const behindProxy = { httpTimes: hastyBodies, settings: { trustProxy: ['127.0.0.1'] } };

  for (const [path, route] of [
    ['/login', { route: '/login' }],
    ['/nothing', {}],
  ] as const) {
    test(`does not come has a line with 408 at ${path}, and no other`, () =>
      withApp(behindProxy, async (stage) => {
        const { requestId } = await stage.refused(post(path, `Content-Length: 100\r\n\r\n${secret}`));
        assert.deepEqual(await stage.lines(1), [{ ...known, ...route, requestId, status: 408 }]);
        assert.ok(!stage.app.logLines.join('').includes('the client left'));
      }));
  }

  for (const [what, given] of [
    ['without CORS', {}],
    ['with CORS', { corsOrigins: ['https://app.example'] }],
  ] as const) {
    test(`does not come has a line with 408 and its user, ${what}`, () =>
      withApp({ httpTimes: hastyBodies, settings: given }, async (stage) => {
        const { requestId } = await stage.refused(
          `POST /graphql HTTP/1.1\r\nHost: x\r\n${json}Authorization: Bearer ${stage.app.token('ann')}\r\nContent-Length: 100\r\n\r\n{`,
        );
        const facts = { route: '/graphql', userId: 'ann', address: '127.0.0.1', status: 408 };
        assert.deepEqual(await stage.lines(1), [{ ...known, ...facts, requestId }]);
      }));
  }

  test('is broken has a line with 400, and no other', () =>
    withApp(behindProxy, async (stage) => {
      const { requestId } = await stage.refused(
        post('/login', `Transfer-Encoding: chunked\r\n\r\n3\r\n{"a\r\n${secret}\r\n`),
      );
      assert.deepEqual(await stage.lines(1), [{ ...known, route: '/login', requestId, status: 400 }]);
    }));

  test('is broken after its answer has only the line of its answer, and gets no other', () =>
    withApp({}, async (stage) => {
      const connection = await RawConnection.open(stage.app.url);
      const head = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
      assert.equal((await connection.exchange(head))?.status, 200);
      assert.equal(await connection.exchange(`${secret}\r\n\r\n`), undefined);
      connection.close();
      const [line] = await stage.lines(1);
      assert.deepEqual([line!['route'], line!['status']], ['/openapi.json', 200]);
    }));
});

test('an expectation that nobody knows has a line with 417, and its request is not done', () =>
  withApp({ settings: { trustProxy: true } }, async (stage) => {
    let asked = 0;
    stage.app.open = () => (asked++, dataOf({}));
    const { requestId, code } = await stage.refused(
      `POST /graphql HTTP/1.1\r\nHost: x\r\n${json}Expect: ${secret}\r\nX-Forwarded-For: 192.0.2.7\r\nAuthorization: Bearer ${stage.app.token('ann')}\r\nContent-Length: 15\r\n\r\n{"query":"{x}"}`,
    );
    assert.equal(code, 'BAD_INPUT');
    const facts = { method: 'POST', route: '/graphql', status: 417, address: '192.0.2.7' };
    assert.deepEqual(await stage.lines(1), [{ ...ofUnknown, ...facts, requestId }]);
    assert.equal(asked, 0);
  }));

test('a handshake of a socket that is none has a line with 400', () =>
  withApp({}, async (stage) => {
    const { requestId } = await stage.refused(
      `GET /graphql HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${secret}\r\n\r\n`,
    );
    const facts = { method: 'GET', route: '/graphql', status: 400 };
    assert.deepEqual(await stage.lines(1), [{ ...ofUnknown, ...facts, requestId }]);
  }));
