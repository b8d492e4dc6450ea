import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { endpoints } from '@espalier/contract';
import { Activity } from '../activity.ts';
import { noHead, type AnswerTo } from './endpoint-answer.ts';
import { smallBodyBytes } from './pressure.ts';
import { QuickWay } from './quick-way.ts';
import { ReceivedRequest } from './received-request.ts';
import type { AnsweredRequest } from './request-log.ts';
import { securedResponse } from './secured-response.ts';

const json = { 'content-type': 'application/json' };
const text = (length: number) => 'x'.repeat(length);

describe('the quick way', () => {
  let server: Server;
  let quickWay: QuickWay;
  let url: string;
  let answerTo: AnswerTo;
  let refuses = false;
  let failures: unknown[];
  let asked: string[];
  const told: AnsweredRequest[] = [];
  const activity = new Activity({ now: () => 0 });
  const counted = () => activity.lately(1)[0]!.requests;

  before(async () => {
    // In Fastify's place: says what was thrown at it, or that it was asked itself.
    server = createServer(
      { IncomingMessage: ReceivedRequest, ServerResponse: securedResponse(false, '1.2.3') },
      (request, response) => {
        try {
          quickWay.throwFailure(request);
          response.end('usual');
        } catch (error) {
          assert.ok(request.startedAt! >= 0);
          failures.push(error);
          response.end('failed');
        }
      },
    );
    quickWay = new QuickWay(server, {
      activity,
      nextRequestId: () => 'one',
      tell: (request) => void told.push(request),
    });
    quickWay.add('/api', endpoints.graph, {
      takes: ({ accept }) => accept !== 'text/event-stream',
      admit: () => {
        if (refuses) throw new Error('no');
        return { userId: 'ann', sessionId: '', keyId: '', tokenExpiresAt: 0 };
      },
      answerTo: (...given) => answerTo(...given),
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => server.close().closeAllConnections());
  beforeEach(() => {
    asked = [];
    failures = [];
    refuses = false;
    told.length = 0;
    answerTo = ({ body, viewer }) => {
      asked.push((body as Buffer).toString());
      assert.equal(viewer?.userId, 'ann');
      return { status: 200, head: noHead, text: 'quick' };
    };
  });

  const post = async (path: string, headers: Record<string, string>, body: string, method = 'POST') =>
    (await fetch(url + path, { method, headers, body })).text();

  for (const [what, headers, body] of [
    ['short JSON', json, 'x'],
    ['JSON of that charset', { 'content-type': 'application/json; charset=utf-8' }, 'x'],
    ['the longest of short bodies', json, text(smallBodyBytes)],
  ] as const) {
    test(`is for ${what}`, async () => {
      assert.equal(await post('/api/graphql', headers, body), 'quick');
      assert.deepEqual(asked, [body]);
    });
  }

  for (const [what, path, headers, body, method] of [
    ['another media type', '/api/graphql', { 'content-type': 'text/plain' }, 'x'],
    ['another charset', '/api/graphql', { 'content-type': 'application/json; charset=latin1' }, 'x'],
    ['no media type', '/api/graphql', {}, 'x'],
    ['an empty body', '/api/graphql', json, ''],
    ['a longer body', '/api/graphql', json, text(smallBodyBytes + 1)],
    ['what the endpoint does not take', '/api/graphql', { ...json, accept: 'text/event-stream' }, 'x'],
    ['another method', '/api/graphql', json, 'x', 'PUT'],
    ['another address', '/graphql', json, 'x'],
    ['a longer address', '/api/graphql/', json, 'x'],
    ['a query string', '/api/graphql?x', json, 'x'],
    ['an address in other letters', '/API/graphql', json, 'x'],
  ] as const) {
    test(`is not for ${what}`, async () => {
      const before = counted();
      assert.equal(await post(path, headers, body, method), 'usual');
      assert.deepEqual([asked, failures, told, counted() - before], [[], [], [], 0]);
    });
  }

  test('tells of each answer once', async () => {
    const before = counted();
    await post('/api/graphql', json, 'x');
    const [{ ms, ...line }] = told as [AnsweredRequest];
    assert.deepEqual(line, {
      requestId: 'one',
      method: 'POST',
      route: '/api/graphql',
      status: 200,
      userId: undefined,
      traceparent: undefined,
      trace: undefined,
    });
    assert.ok(ms > 0);
    assert.deepEqual([told.length, counted() - before], [1, 1]);
  });

  const bug = new TypeError('a bug');
  for (const [what, fails] of Object.entries<AnswerTo>({
    'throws at once': () => {
      throw bug;
    },
    'fails later': () => Promise.reject(bug),
    'gives what cannot be sent': () => ({ status: 200, head: noHead, text: null as unknown as string }),
    'throws nothing': () => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error
      throw undefined;
    },
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    'fails for no reason': () => Promise.reject(),
  })) {
    test(`hands over what ${what}, and asks once`, async () => {
      const before = counted();
      answerTo = ({ body }, response) => {
        asked.push(String(body));
        return fails({ body } as never, response);
      };
      assert.equal(await post('/api/graphql', json, 'x'), 'failed');
      assert.equal(failures.length, 1);
      assert.ok(failures[0] instanceof Error);
      assert.deepEqual([asked, told, counted() - before], [['x'], [], 1]);
    });
  }

  test('does not ask when somebody is not admitted', async () => {
    refuses = true;
    assert.equal(await post('/api/graphql', json, 'x'), 'failed');
    assert.deepEqual([asked, failures, told], [[], [new Error('no')], []]);
  });

  test('hands over a body that breaks off, and asks nothing', async () => {
    const arrived = once(server, 'request');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(
      'POST /api/graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\nx',
    );
    const [request] = (await arrived) as [IncomingMessage];
    const closed = new Promise((resolve) => request.on('close', resolve));
    socket.destroy();
    await closed;
    assert.deepEqual(asked, []);
    assert.equal(failures.length, 1);
    const [{ code, statusCode }] = failures as [{ code?: unknown; statusCode?: unknown }];
    assert.deepEqual([code, statusCode], ['ECONNRESET', 400]);
  });
});

describe('a quick way of which nobody is told', () => {
  const options = {
    activity: new Activity({ now: () => 0 }),
    nextRequestId: () => assert.fail(),
    tell: undefined,
  };

  test('gives requests no id', async () => {
    const server = createServer(
      { IncomingMessage: ReceivedRequest, ServerResponse: securedResponse(false, '1.2.3') },
      () => assert.fail(),
    );
    new QuickWay(server, options).add('', endpoints.verify, {
      answerTo: () => ({ status: 204, head: noHead }),
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const address = `http://127.0.0.1:${port}/login/verify`;
    assert.equal((await fetch(address, { method: 'POST', headers: json, body: '{}' })).status, 204);
    server.close().closeAllConnections();
  });

  test('stands before Fastify, or nowhere', () => {
    assert.throws(() => new QuickWay(createServer(), options), /Only Fastify/);
    const server = createServer(() => undefined).on('request', () => undefined);
    assert.throws(() => new QuickWay(server, options), /Only Fastify/);
  });
});
