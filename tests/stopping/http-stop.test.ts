/** HTTP connections while the service stops: each one finishes or is closed in time. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { describe, test } from 'node:test';
import { generate } from 'selfsigned';
import type { GraphResult } from '../../server/src/graph/graph.ts';
import { eventually } from '../support/eventually.ts';
import { dataOf, StubApp, type StubAppOptions } from '../live/stub-app.ts';
import { RawConnection } from '../support/raw-connection.ts';

const longSeconds = 3_600;
/** With these timings, the service never closes a connection because its client is silent. */
const patientTimings = { checkEveryMs: 5, maxSilentMs: longSeconds * 1000, pause: () => Promise.resolve() };
const impatientTimings = { ...patientTimings, maxSilentMs: 0 };

function query(authToken: string, body = '{"query":"{a}"}'): string {
  const head = ['POST /graphql HTTP/1.1', 'Host: x', 'Content-Type: application/json'];
  const ownHeaders = [`Authorization: Bearer ${authToken}`, `Content-Length: ${body.length}`];
  return [...head, ...ownHeaders, '', body].join('\r\n');
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const isKeptAlive = (head: string) => !/^connection: close/im.test(head);

/** Starts an app whose queries are answered by the test. */
async function startApp(options: StubAppOptions = {}) {
  const app = await StubApp.start({ stopTimings: patientTimings, ...options });
  const pendingAnswers: ((answer: GraphResult) => void)[] = [];
  app.open = () => new Promise<GraphResult>((resolve) => pendingAnswers.push(resolve));
  const waitForRequests = (count: number) =>
    eventually(() => pendingAnswers.length === count, `${count} requests have arrived`);
  return { app, waiting: pendingAnswers, waitForRequests, request: query(app.token('ann')) };
}

/** Waits for a response. After this, data that was sent earlier over other connections has arrived. */
async function roundTrip({ url }: StubApp): Promise<void> {
  const connection = await RawConnection.open(url);
  await connection.exchange(get('/livez'));
  connection.close();
}

const cutRequestCounts = ({ logLines }: StubApp) =>
  logLines.map((line) => JSON.parse(line) as { requests?: number }).flatMap(({ requests }) => requests ?? []);

describe('a stopping service', () => {
  test('answers a running request, announces that it was the last, and closes its connection', async () => {
    const { app, waiting, waitForRequests, request } = await startApp();
    const connection = await RawConnection.open(app.url);
    connection.send(request);
    await waitForRequests(1);
    const stopped = app.stop();
    waiting[0]!(dataOf('late'));
    const answer = await connection.read();
    assert.deepEqual([answer?.body, isKeptAlive(answer!.head)], ['{"data":"late"}', false]);
    assert.equal(await connection.read(), undefined);
    await stopped;
    assert.deepEqual(cutRequestCounts(app), []);
  });

  for (const [timing, requestsBefore] of [
    ['before', 3],
    ['partly before', 2.5],
    ['after', 1],
  ] as const) {
    test(`announces the last response if pipelined requests were sent ${timing} the stop`, async () => {
      const { app, waiting, waitForRequests, request } = await startApp();
      const connection = await RawConnection.open(app.url);
      const requests = request.repeat(3);
      const lengthBefore = request.length * requestsBefore;
      connection.send(requests.slice(0, lengthBefore));
      await waitForRequests(Math.floor(requestsBefore));
      await roundTrip(app);
      const stopped = app.stop();
      connection.send(requests.slice(lengthBefore));
      await waitForRequests(3);
      for (const [index, answer] of waiting.entries()) answer(dataOf(index));
      const answers = [await connection.read(), await connection.read(), await connection.read()];
      assert.deepEqual(
        answers.map((answer) => [answer?.body, isKeptAlive(answer!.head)]),
        [
          ['{"data":0}', true],
          ['{"data":1}', true],
          ['{"data":2}', false],
        ],
      );
      assert.equal(await connection.read(), undefined);
      await stopped;
      assert.deepEqual(cutRequestCounts(app), []);
    });
  }

  test('closes an idle connection immediately', async () => {
    const { app, request } = await startApp();
    const connection = await RawConnection.open(app.url);
    assert.equal((await connection.exchange(get('/livez')))?.status, 200);
    // Sends the request in two parts, like a request with a long body.
    app.open = () => dataOf('there');
    connection.send(request.slice(0, -5));
    await roundTrip(app);
    assert.equal((await connection.exchange(request.slice(-5)))?.status, 200);
    const other = await RawConnection.open(app.url);
    assert.equal((await other.exchange(get('/livez')))?.status, 200);
    await app.stop();
    assert.equal(await connection.read(), undefined);
    assert.equal(await other.read(), undefined);
    assert.deepEqual(cutRequestCounts(app), []);
  });

  test('closes a connection that received its response before the request was complete', async () => {
    const { app } = await startApp({ stopTimings: impatientTimings });
    const connection = await RawConnection.open(app.url);
    const incompleteRequest = 'GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf';
    assert.equal((await connection.exchange(incompleteRequest))?.status, 200);
    await app.stop();
    assert.equal(await connection.read(), undefined);
    assert.deepEqual(cutRequestCounts(app), []);
  });

  for (const [what, part] of [
    ['head', 20],
    ['body', -5],
  ] as const) {
    test(`serves a request with an incomplete ${what} if the rest arrives`, async () => {
      const { app, waiting, waitForRequests, request } = await startApp();
      const connection = await RawConnection.open(app.url);
      connection.send(request.slice(0, part));
      await roundTrip(app);
      const stopped = app.stop();
      connection.send(request.slice(part));
      await waitForRequests(1);
      waiting[0]!(dataOf('whole'));
      const answer = await connection.read();
      assert.deepEqual([answer?.body, isKeptAlive(answer!.head)], ['{"data":"whole"}', false]);
      await stopped;
      assert.deepEqual(cutRequestCounts(app), []);
    });

    test(`closes a connection with an incomplete ${what} if the rest does not arrive`, async () => {
      const { app, request } = await startApp({ stopTimings: impatientTimings });
      const newConnection = await RawConnection.open(app.url);
      newConnection.send(request.slice(0, part));
      const usedConnection = await RawConnection.open(app.url);
      assert.equal((await usedConnection.exchange(get('/livez')))?.status, 200);
      usedConnection.send(request.slice(0, part));
      await roundTrip(app);
      await app.stop();
      assert.equal(await newConnection.read(), undefined);
      assert.equal(await usedConnection.read(), undefined);
      assert.deepEqual(cutRequestCounts(app), [2]);
    });
  }

  test('closes requests that take too long, and logs their number', async () => {
    const { app, waitForRequests, request } = await startApp({
      settings: { stopSeconds: 0.05 },
      stopTimings: impatientTimings,
    });
    const connections = await Promise.all([1, 2, 3].map(() => RawConnection.open(app.url)));
    for (const connection of connections) connection.send(request);
    await waitForRequests(3);
    await app.stop();
    for (const connection of connections) assert.equal(await connection.read(), undefined);
    assert.deepEqual(cutRequestCounts(app), [3]);
  });

  test('sends a long response completely, even to a slow client', async () => {
    const { app, waiting, waitForRequests, request } = await startApp();
    const { hostname, port } = new URL(app.url);
    const client = connect(Number(port), hostname);
    client.write(request);
    await waitForRequests(1);
    waiting[0]!(dataOf('x'.repeat(2 ** 25)));
    await once(client, 'readable');
    const stopped = app.stop();
    let length = 0;
    for await (const chunk of client) {
      length += (chunk as Buffer).length;
      await new Promise(setImmediate);
    }
    assert.ok(length > 2 ** 25, `only ${length} bytes arrived`);
    await stopped;
    assert.deepEqual(cutRequestCounts(app), []);
  });

  test('is not blocked by a response that its client does not read', async () => {
    const { app, waiting, waitForRequests, request } = await startApp({ settings: { stopSeconds: 0.05 } });
    const { hostname, port } = new URL(app.url);
    const client = connect(Number(port), hostname);
    client.on('error', () => undefined);
    client.write(request);
    await waitForRequests(1);
    waiting[0]!(dataOf('x'.repeat(2 ** 25)));
    await app.stop();
    assert.deepEqual(cutRequestCounts(app), [1]);
    client.destroy();
  });

  test('keeps the port open for the delay, and closes connections after their responses', async () => {
    let endDelay = () => {};
    const pause = () => new Promise<void>((resolve) => (endDelay = resolve));
    const { app, waiting, waitForRequests, request } = await startApp({
      settings: { stopDelaySeconds: 5 },
      stopTimings: { ...patientTimings, pause },
    });
    const idleConnection = await RawConnection.open(app.url);
    assert.ok(isKeptAlive((await idleConnection.exchange(get('/readyz')))!.head));
    const stopped = app.stop();
    const ready = await (await RawConnection.open(app.url)).exchange(get('/readyz'));
    assert.deepEqual([ready?.status, isKeptAlive(ready!.head)], [503, false]);
    for (const connection of [idleConnection, await RawConnection.open(app.url)]) {
      waiting.length = 0;
      connection.send(request);
      await waitForRequests(1);
      waiting[0]!(dataOf('served'));
      const answer = await connection.read();
      assert.deepEqual([answer?.body, isKeptAlive(answer!.head)], ['{"data":"served"}', false]);
      assert.equal(await connection.read(), undefined);
    }
    endDelay();
    await stopped;
    await assert.rejects(RawConnection.open(app.url), /ECONNREFUSED/);
  });

  test('serves connections in the backlog when the port is closed', async () => {
    const { app } = await startApp();
    const { hostname, port } = new URL(app.url);
    const answers = Array.from({ length: 20 }, async () => {
      const client = connect(Number(port), hostname);
      client.write(get('/livez'));
      let text = '';
      for await (const chunk of client) text += (chunk as Buffer).toString();
      return text.slice(0, 12);
    });
    await app.stop();
    assert.deepEqual(await Promise.all(answers), Array(20).fill('HTTP/1.1 200'));
  });

  test('serves an open connection that sends its first request after the port is closed', async () => {
    const { app } = await startApp();
    const connection = await RawConnection.open(app.url);
    await roundTrip(app);
    const stopped = app.stop();
    const isRefused = () =>
      RawConnection.open(app.url).then(
        (other) => {
          other.close();
          return false;
        },
        ({ code }: NodeJS.ErrnoException) => code === 'ECONNREFUSED',
      );
    await eventually(isRefused, 'the port is closed');
    const answer = await connection.exchange(get('/livez'));
    assert.deepEqual([answer?.status, isKeptAlive(answer!.head)], [200, false]);
    await stopped;
  });

  test('closes a connection without any request', async () => {
    const { app } = await startApp({ stopTimings: impatientTimings });
    const connection = await RawConnection.open(app.url);
    await roundTrip(app);
    await app.stop();
    assert.equal(await connection.read(), undefined);
    assert.deepEqual(cutRequestCounts(app), []);
  });

  test('does not wait for silent clients or unfinished handshakes over TLS', async () => {
    const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }]);
    const tls = { cert: Buffer.from(cert), key: Buffer.from(key) };
    const { app } = await startApp({ tls, stopTimings: impatientTimings });
    const { hostname, port } = new URL(app.url);
    const silentSocket = connect(Number(port), hostname).on('error', () => undefined);
    const partialTlsSocket = connect(Number(port), hostname).on('error', () => undefined);
    partialTlsSocket.write(Buffer.from([22, 3, 1]));
    const silentTlsSocket = connectSecurely({
      host: hostname,
      port: Number(port),
      rejectUnauthorized: false,
    });
    silentTlsSocket.on('error', () => undefined);
    await Promise.all([
      once(silentSocket, 'connect'),
      once(partialTlsSocket, 'connect'),
      once(silentTlsSocket, 'secureConnect'),
    ]);
    const closeEvents = [silentSocket, partialTlsSocket, silentTlsSocket].map(
      (socket) => new Promise((resolve) => socket.resume().on('close', resolve)),
    );
    await app.stop();
    await Promise.all(closeEvents);
  });
});
