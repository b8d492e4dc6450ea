/** Slow clients are disconnected. Clients that upload steadily or wait for a long response are not. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { generate } from 'selfsigned';
import type { Problem } from '@espalier/contract';
import type { HttpTimeouts } from '../../server/src/http/guards/timeouts.ts';
import type { GraphResult } from '../../server/src/graph/graph.ts';
import { eventually } from '../support/eventually.ts';
import { dataOf, StubApp, StubStream } from '../live/stub-app.ts';
import { RawConnection } from '../support/raw-connection.ts';

/**
 * Each byte extends the timeout by a second, so a client that has sent a few bytes stays connected for a whole test. Node
 * measures the header timeout by the real clock, so it is short only in tests that serve no request.
 */
const shortTimeouts: HttpTimeouts = {
  headersMs: 60_000,
  bodyMs: 50,
  bodyBytesPerSecond: 1,
  maxBodyMs: 3_600_000,
  keepAliveMs: 50,
  handshakeMs: 50,
  stalledResponseMs: 3_600_000,
  checkEveryMs: 5,
};

describe('slow clients', () => {
  let app: StubApp;
  before(async () => (app = await StubApp.start({ httpTimeouts: shortTimeouts })));
  after(() => app.stop());

  const post = (path: string, body: string, length = body.length) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${path === '/graphql' ? `Authorization: Bearer ${app.token('ann')}\r\n` : ''}Content-Length: ${length}\r\n\r\n${body}`;

  /** Waits until a new slow client is disconnected. By then, the timeouts of all earlier clients have passed as well. */
  const waitForTimeout = async () => {
    const connection = await RawConnection.open(app.url);
    assert.equal((await connection.exchange(post('/graphql', '', 100)))?.status, 408);
  };

  describe('with an incomplete head', () => {
    let appWithShortHeadTimeout: StubApp;
    before(
      async () =>
        (appWithShortHeadTimeout = await StubApp.start({
          httpTimeouts: { ...shortTimeouts, headersMs: 50 },
        })),
    );
    after(() => appWithShortHeadTimeout.stop());

    for (const [what, sent] of [
      ['sends nothing', ''],
      ['stops within the request line', 'POST /lo'],
      ['stops within the headers', 'POST /login HTTP/1.1\r\nHost: x\r\nX-Slow: '],
    ] as const) {
      test(`get 408 and are disconnected, for example a client that ${what}`, async () => {
        const connection = await RawConnection.open(appWithShortHeadTimeout.url);
        const answer = await connection.exchange(sent);
        assert.equal(answer?.status, 408);
        assert.match(answer.head, /content-type: application\/problem\+json/);
        assert.match(answer.head, /connection: close/i);
        const { status, detail } = JSON.parse(answer.body) as Problem;
        assert.deepEqual(
          { status, detail },
          { status: 408, detail: 'The request did not arrive in time. Send it again.' },
        );
        assert.equal(await connection.read(), undefined);
      });
    }
  });

  for (const path of ['/login', '/login/refresh', '/logout', '/login/verify', '/graphql', '/nothing']) {
    test(`get 408 at ${path} and are disconnected if the body does not arrive`, async () => {
      const connection = await RawConnection.open(app.url);
      const answer = await connection.exchange(post(path, '', 10));
      assert.equal(answer?.status, 408);
      assert.equal(await connection.read(), undefined);
    });
  }

  test('are disconnected without running a query and without a failure in the log', async () => {
    let calls = 0;
    app.open = () => (calls++, dataOf({}));
    const body = JSON.stringify({ query: '{folder{name}}' });
    const connection = await RawConnection.open(app.url);
    assert.equal((await connection.exchange(post('/graphql', '', body.length)))?.status, 408);
    connection.send(body);
    assert.equal(await connection.read(), undefined);
    await waitForTimeout();
    assert.equal(calls, 0);
    assert.deepEqual(failuresIn(app), []);
  });

  test('stay connected while they send steadily', async () => {
    app.open = ({ query }) => dataOf({ length: query.length });
    const body = JSON.stringify({ query: 'x'.repeat(5_000) });
    const connection = await RawConnection.open(app.url);
    connection.send(post('/graphql', '', body.length));
    assert.equal((await fetch(`${app.url}/livez`)).status, 200);
    connection.send(body.slice(0, 2_000));
    await waitForTimeout();
    connection.send(body.slice(2_000, 4_000));
    await waitForTimeout();
    const answer = await connection.exchange(body.slice(4_000));
    assert.equal(answer?.body, '{"data":{"length":5000}}');
    connection.close();
  });

  test('stay connected while the server works on a request', async () => {
    let answer: (result: GraphResult) => void = () => undefined;
    app.open = () => new Promise((resolve) => (answer = resolve));
    const connection = await RawConnection.open(app.url);
    const pending = connection.exchange(post('/graphql', JSON.stringify({ query: '{folder{name}}' })));
    await waitForTimeout();
    await waitForTimeout();
    answer(dataOf({ done: true }));
    assert.equal((await pending)?.body, '{"data":{"done":true}}');
    connection.close();
  });

  test('stay connected during an event stream', async () => {
    const stream = new StubStream();
    app.open = () => stream;
    const leaving = new AbortController();
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: {
        accept: 'text/event-stream',
        'content-type': 'application/json',
        authorization: `Bearer ${app.token('ann')}`,
      },
      body: JSON.stringify({ query: 'subscription{x}' }),
      signal: leaving.signal,
    });
    await waitForTimeout();
    await waitForTimeout();
    stream.push({ still: 'here' });
    stream.end();
    assert.match(await response.text(), /"still":"here"/);
  });

  test('are not logged as failures when they leave an event stream or stop within a body', async () => {
    const stream = new StubStream();
    app.open = () => stream;
    const leaving = new AbortController();
    const headers = {
      accept: 'text/event-stream',
      'content-type': 'application/json',
      authorization: `Bearer ${app.token('ann')}`,
    };
    const body = JSON.stringify({ query: 'subscription{x}' });
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers,
      body,
      signal: leaving.signal,
    });
    assert.equal(response.status, 200);
    leaving.abort();
    await response.text().catch(() => undefined);
    await eventually(() => stream.hasEnded, 'the stream has ended');
    const half = await RawConnection.open(app.url);
    half.send(post('/login', '{"username', 100));
    await waitForTimeout();
    half.close();
    await waitForTimeout();
    assert.deepEqual(failuresIn(app), []);
  });

  test('stay connected on a WebSocket', async () => {
    const key = Buffer.from('0123456789abcdef').toString('base64');
    const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    const connection = await RawConnection.open(app.url);
    const answer = await connection.exchange(
      `GET /graphql HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n`,
    );
    assert.equal(answer?.status, 101);
    assert.ok(answer.head.includes(accept));
    await waitForTimeout();
    assert.equal(connection.isOpen, true);
    connection.close();
  });

  test('get no 408 instead of the response to an earlier request', async () => {
    app.open = () => new Promise(() => undefined);
    const connection = await RawConnection.open(app.url);
    const first = post('/graphql', JSON.stringify({ query: '{folder{name}}' }));
    assert.equal(await connection.exchange(first + post('/graphql', '', 100)), undefined);
  });

  test('are disconnected if a body does not end, even if the server ignores it', async () => {
    const connection = await RawConnection.open(app.url);
    const answer = await connection.exchange(
      'GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nslow',
    );
    assert.equal(answer?.status, 200);
    assert.equal(await connection.read(), undefined);
  });

  test('are disconnected after the keep-alive timeout', async () => {
    const connection = await RawConnection.open(app.url);
    const answer = await connection.exchange('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    assert.equal(answer?.status, 200);
    assert.equal(await connection.read(), undefined);
  });
});

describe('a client that does not read', () => {
  test('is disconnected in the middle of a long response', async () => {
    const app = await StubApp.start({
      httpTimeouts: { ...shortTimeouts, headersMs: 60_000, stalledResponseMs: 50 },
    });
    app.open = () => dataOf('x'.repeat(20_000_000));
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    const body = JSON.stringify({ query: '{folder{name}}' });
    socket.write(
      `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer ${app.token('ann')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await once(socket, 'readable');
    await eventually(() => app.openConnections === 0, 'the connection is closed');
    socket.destroy();
    await app.stop();
  });
});

describe('a server with TLS', () => {
  test('disconnects a client that does not finish its handshake', async () => {
    const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }]);
    const tls = { cert: Buffer.from(cert), key: Buffer.from(key) };
    const app = await StubApp.start({ httpTimeouts: shortTimeouts, tls });
    const silent = await RawConnection.open(app.url);
    assert.equal(await silent.read(), undefined);
    const plain = await RawConnection.open(app.url);
    assert.equal(await plain.exchange('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'), undefined);
    await app.stop();
  });
});

/** Log lines above the level of client errors. */
function failuresIn({ logLines }: StubApp): string[] {
  return logLines.filter((line) => (JSON.parse(line) as { level: number }).level > 30);
}
