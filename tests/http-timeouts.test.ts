/** Slow clients are cut, and nobody else: not who uploads steadily, not who waits for a long answer. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { generate } from 'selfsigned';
import type { Problem } from '@espalier/contract';
import type { HttpTimes } from '../server/src/http/http-times.ts';
import type { GraphResult } from '../server/src/graph/graph.ts';
import { eventually } from './eventually.ts';
import { dataOf, StagedApp, StagedStream } from './live/staged-app.ts';
import { RawConnection } from './raw-connection.ts';

/**
 * A byte earns a second: whoever has sent a few is safe for the length of a test. Node measures the time for headers by
 * the clock, so it is short only where nobody is to be served.
 */
const times: HttpTimes = {
  headersMs: 60_000,
  bodyMs: 50,
  bodyBytesPerSecond: 1,
  longestBodyMs: 3_600_000,
  keepAliveMs: 50,
  handshakeMs: 50,
  stalledAnswerMs: 3_600_000,
  checkEveryMs: 5,
};

describe('a slow client', () => {
  let app: StagedApp;
  before(async () => (app = await StagedApp.start({ httpTimes: times })));
  after(() => app.stop());

  const post = (path: string, body: string, length = body.length) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${path === '/graphql' ? `Authorization: Bearer ${app.token('ann')}\r\n` : ''}Content-Length: ${length}\r\n\r\n${body}`;

  /** Long enough for anybody else to be cut who should be. */
  const untilSomebodyIsCut = async () => {
    const connection = await RawConnection.open(app.url);
    assert.equal((await connection.exchange(post('/graphql', '', 100)))?.status, 408);
  };

  describe('without a whole head', () => {
    let hasty: StagedApp;
    before(async () => (hasty = await StagedApp.start({ httpTimes: { ...times, headersMs: 50 } })));
    after(() => hasty.stop());

    for (const [what, sent] of [
      ['says nothing', ''],
      ['stops amid the first line', 'POST /lo'],
      ['stops amid its headers', 'POST /login HTTP/1.1\r\nHost: x\r\nX-Slow: '],
    ] as const) {
      test(`that ${what} gets 408 and is cut`, async () => {
        const connection = await RawConnection.open(hasty.url);
        const answer = await connection.exchange(sent);
        assert.equal(answer?.status, 408);
        assert.match(answer.head, /content-type: application\/problem\+json/);
        assert.match(answer.head, /connection: close/i);
        const { status, detail } = JSON.parse(answer.body) as Problem;
        assert.deepEqual({ status, detail }, { status: 408, detail: 'The request was not sent in time.' });
        assert.equal(await connection.read(), undefined);
      });
    }
  });

  for (const path of ['/login', '/login/refresh', '/logout', '/login/verify', '/graphql', '/nothing']) {
    test(`whose body does not come gets 408 at ${path} and is cut`, async () => {
      const connection = await RawConnection.open(app.url);
      const answer = await connection.exchange(post(path, '', 10));
      assert.equal(answer?.status, 408);
      assert.equal(await connection.read(), undefined);
    });
  }

  test('who was cut has nothing done for them, and is logged as no failure', async () => {
    let asked = 0;
    app.open = () => (asked++, dataOf({}));
    const body = JSON.stringify({ query: '{folder{name}}' });
    const connection = await RawConnection.open(app.url);
    assert.equal((await connection.exchange(post('/graphql', '', body.length)))?.status, 408);
    connection.send(body);
    assert.equal(await connection.read(), undefined);
    await untilSomebodyIsCut();
    assert.equal(asked, 0);
    assert.deepEqual(loud(app), []);
  });

  test('that sends steadily is not cut', async () => {
    app.open = ({ query }) => dataOf({ length: query.length });
    const body = JSON.stringify({ query: 'x'.repeat(5_000) });
    const connection = await RawConnection.open(app.url);
    connection.send(post('/graphql', '', body.length));
    assert.equal((await fetch(`${app.url}/livez`)).status, 200);
    connection.send(body.slice(0, 2_000));
    await untilSomebodyIsCut();
    connection.send(body.slice(2_000, 4_000));
    await untilSomebodyIsCut();
    const answer = await connection.exchange(body.slice(4_000));
    assert.equal(answer?.body, '{"data":{"length":5000}}');
    connection.close();
  });

  test('a request that is worked on for long is not cut', async () => {
    let answer: (result: GraphResult) => void = () => undefined;
    app.open = () => new Promise((resolve) => (answer = resolve));
    const connection = await RawConnection.open(app.url);
    const pending = connection.exchange(post('/graphql', JSON.stringify({ query: '{folder{name}}' })));
    await untilSomebodyIsCut();
    await untilSomebodyIsCut();
    answer(dataOf({ done: true }));
    assert.equal((await pending)?.body, '{"data":{"done":true}}');
    connection.close();
  });

  test('an event stream is not cut', async () => {
    const stream = new StagedStream();
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
    await untilSomebodyIsCut();
    await untilSomebodyIsCut();
    stream.give({ still: 'here' });
    stream.end();
    assert.match(await response.text(), /"still":"here"/);
  });

  test('a client that leaves an event stream, or amid its body, is logged as no failure', async () => {
    const stream = new StagedStream();
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
    await eventually(() => stream.isOver, 'the stream is over');
    const half = await RawConnection.open(app.url);
    half.send(post('/login', '{"username', 100));
    await untilSomebodyIsCut();
    half.close();
    await untilSomebodyIsCut();
    assert.deepEqual(loud(app), []);
  });

  test('a socket is not cut', async () => {
    const key = Buffer.from('0123456789abcdef').toString('base64');
    const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    const connection = await RawConnection.open(app.url);
    const answer = await connection.exchange(
      `GET /graphql HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n`,
    );
    assert.equal(answer?.status, 101);
    assert.ok(answer.head.includes(accept));
    await untilSomebodyIsCut();
    assert.equal(connection.isOpen, true);
    connection.close();
  });

  test('an answer that is due to an earlier request is not replaced by 408', async () => {
    app.open = () => new Promise(() => undefined);
    const connection = await RawConnection.open(app.url);
    const first = post('/graphql', JSON.stringify({ query: '{folder{name}}' }));
    assert.equal(await connection.exchange(first + post('/graphql', '', 100)), undefined);
  });

  test('a body that nobody reads any more must come to an end, too', async () => {
    const connection = await RawConnection.open(app.url);
    const answer = await connection.exchange(
      'GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nslow',
    );
    assert.equal(answer?.status, 200);
    assert.equal(await connection.read(), undefined);
  });

  test('a connection without a further request is ended', async () => {
    const connection = await RawConnection.open(app.url);
    const answer = await connection.exchange('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    assert.equal(answer?.status, 200);
    assert.equal(await connection.read(), undefined);
  });
});

describe('who does not read', () => {
  test('a long answer that nobody takes in is given up', async () => {
    const app = await StagedApp.start({ httpTimes: { ...times, headersMs: 60_000, stalledAnswerMs: 50 } });
    app.open = () => dataOf('x'.repeat(20_000_000));
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    const body = JSON.stringify({ query: '{folder{name}}' });
    socket.write(
      `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer ${app.token('ann')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await once(socket, 'readable');
    await eventually(() => app.openConnections === 0, 'the connection is given up');
    socket.destroy();
    await app.stop();
  });
});

describe('TLS', () => {
  test('a client that does not finish its handshake is cut', async () => {
    const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }]);
    const tls = { cert: Buffer.from(cert), key: Buffer.from(key) };
    const app = await StagedApp.start({ httpTimes: times, tls });
    const silent = await RawConnection.open(app.url);
    assert.equal(await silent.read(), undefined);
    const plain = await RawConnection.open(app.url);
    assert.equal(await plain.exchange('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'), undefined);
    await app.stop();
  });
});

/** Lines above the level of what clients do wrong. */
function loud({ logLines }: StagedApp): string[] {
  return logLines.filter((line) => (JSON.parse(line) as { level: number }).level > 30);
}
