/**
 * Subscriptions with clients that do not read or have disconnected. Their memory is bounded per user, and
 * they do not delay other users. `npm run lab -- unread-subscriptions` tests many more.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ExecutionOptions, GraphResult, GraphStream } from '../../server/src/graph/graph.ts';
import type { AdmissionLimits } from '../../server/src/http/guards/overload.ts';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { EventClient } from './event-client.ts';
import { SocketClient } from './socket-client.ts';
import { dataOf, shortTimings, StubApp } from './stub-app.ts';
import { waitUntilStable } from './wait-until-stable.ts';

const mebibyte = 2 ** 20;
const noOverload = { isMemoryShort: false, isBehind: false };
const noHeartbeatTimings = { ...shortTimings, heartbeatEveryMs: 3_600_000 };
const pressureLimits: AdmissionLimits = {
  operations: 1e9,
  operationsPerUser: 1e9,
  bodyBytes: 32 * mebibyte,
  bodyBytesPerUser: 16 * mebibyte,
};
/**
 * Larger than the buffers of the operating system, so that a response stays in the process until the client
 * reads it.
 */
const largeResult: GraphResult = { isExecuted: true, text: `"${'x'.repeat(12 * mebibyte)}"` };
const smallResult = dataOf({});

/** A subscription with 20 events. It computes each response when there is capacity. */
class PacedStream implements GraphStream {
  static computed = new Map<string, number>();
  readonly reached = 0;
  readonly #userId: string;
  readonly #options: ExecutionOptions;
  #remaining = 20;

  constructor(userId: string, options: ExecutionOptions) {
    this.#userId = userId;
    this.#options = options;
  }

  async next(): Promise<IteratorResult<GraphResult, undefined>> {
    if (this.#remaining-- <= 0) {
      await new Promise<void>((resolve) => this.#options.signal!.addEventListener('abort', () => resolve()));
      return { done: true, value: undefined };
    }
    const { computed } = PacedStream;
    const value = await this.#options.waitForCapacity!(() => {
      computed.set(this.#userId, (computed.get(this.#userId) ?? 0) + 1);
      return Promise.resolve(this.#userId === 'ann' ? largeResult : smallResult);
    });
    return { done: false, value };
  }

  return(): Promise<IteratorResult<GraphResult, undefined>> {
    this.#remaining = 0;
    return Promise.resolve({ done: true, value: undefined });
  }

  cursorAfter(): undefined {
    return undefined;
  }

  endAfter(): void {
    this.#remaining = 0;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

async function start(limits: Partial<AdmissionLimits> = {}): Promise<StubApp> {
  PacedStream.computed = new Map();
  const app = await StubApp.start({
    liveTimings: noHeartbeatTimings,
    settings: { maxSubscriptions: 100 },
    guardOptions: { load: noOverload, admissionLimits: { ...pressureLimits, ...limits } },
  });
  app.open = (_, { userId }, graphLimits) => new PacedStream(userId, graphLimits!);
  return app;
}

const computedFor = (userId: string) => PacedStream.computed.get(userId) ?? 0;

describe('subscriptions of a client that does not read', () => {
  test('compute few responses over sockets, delay no other client and lose nothing', async () => {
    const app = await start();
    const silent: SocketClient[] = [];
    for (let socket = 0; socket < 3; socket++) {
      const client = await SocketClient.connect(app.url, app.token('ann'));
      client.socket.pause();
      silent.push(client);
      for (let id = 0; id < 100; id++) client.start(String(id), 'subscription{a}');
    }
    // One response counts as 24 MiB, which is more than the limit of a user. Responses that are already being
    // computed still finish.
    const computed = await waitUntilStable(() => computedFor('ann'));
    assert.ok(computed >= 1 && computed <= 4, `${computed} responses were computed`);
    for (const protocol of ['graphql-transport-ws', 'graphql-ws']) {
      const reader = await SocketClient.connect(app.url, app.token('bob'), { protocols: [protocol] });
      reader.start('1', 'subscription{a}');
      for (let event = 0; event < 20; event++) assert.equal((await reader.next()).id, '1');
      await reader.close();
    }
    assert.equal(computedFor('ann'), computed);
    for (const client of silent.slice(1)) client.socket.terminate();
    silent[0]!.socket.resume();
    // The subscription continues when the client reads.
    for (let event = 0; event < computed + 2; event++) assert.ok((await silent[0]!.next()).payload);
    silent[0]!.socket.terminate();
    await app.stop();
  });

  test('compute few responses over event streams, and delay no other client', async () => {
    const app = await start();
    const openStream = (userId: string) =>
      EventClient.open(
        app.url,
        { query: 'subscription{a}' },
        { authorization: `Bearer ${app.token(userId)}` },
      );
    const body = JSON.stringify({ query: 'subscription{a}' });
    const nonReaders = await Promise.all(
      Array.from({ length: 8 }, () => RawConnection.open(app.url, { reads: false })),
    );
    for (const each of nonReaders) {
      each.send(
        `POST /graphql HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nAuthorization: Bearer ${app.token('ann')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    }
    const computed = await waitUntilStable(() => computedFor('ann'));
    assert.ok(computed >= 2 && computed <= 6, `${computed} responses were computed`);
    const reader = await openStream('bob');
    for (let event = 0; event < 20; event++) assert.equal((await reader.next())?.event, 'next');
    reader.disconnect();
    nonReaders.forEach((each) => each.close());
    // The memory of the closed connections is free again.
    const next = await openStream('ann');
    assert.equal((await next.next())?.event, 'next');
    next.disconnect();
    await app.stop();
  });
});

describe('operations over sockets', () => {
  const limits = { operationsPerUser: 3 };
  const holdResponses = (app: StubApp) => {
    const finishers: (() => void)[] = [];
    const signals: AbortSignal[] = [];
    app.open = (_, __, graphLimits) => {
      signals.push(graphLimits!.signal!);
      return new Promise((resolve) => finishers.push(() => resolve(dataOf({}))));
    };
    return { finishers, signals };
  };

  for (const protocol of ['graphql-transport-ws', 'graphql-ws']) {
    test(`get an error over ${protocol} beyond the limit of a user, or close the socket if they are subscriptions`, async () => {
      const app = await start(limits);
      const { finishers } = holdResponses(app);
      const client = await SocketClient.connect(app.url, app.token('ann'), { protocols: [protocol] });
      for (let id = 0; id < 4; id++) client.start(String(id), '{a}');
      const { id, type, payload } = await client.next();
      assert.deepEqual({ id, type }, { id: '3', type: 'error' });
      assert.match(JSON.stringify(payload), /UNAVAILABLE/);
      assert.equal(finishers.length, 3);
      // An error would end a subscription permanently.
      client.start('4', 'subscription{a}');
      assert.equal((await client.closed()).code, 1013);
      assert.equal(finishers.length, 3);
      await app.stop();
    });

    test(`count toward the limit until they end, even after their ${protocol} socket has closed`, async () => {
      const app = await start(limits);
      const { finishers, signals } = holdResponses(app);
      const client = await SocketClient.connect(app.url, app.token('ann'), { protocols: [protocol] });
      for (let id = 0; id < 3; id++) client.start(String(id), '{a}');
      await eventually(() => finishers.length === 3, 'all operations run');
      client.socket.terminate();
      await eventually(() => signals.every(({ aborted }) => aborted), 'all operations are aborted');
      const other = await SocketClient.connect(app.url, app.token('ann'));
      other.start('1', '{a}');
      assert.equal((await other.next()).type, 'error');
      finishers.forEach((finish) => finish());
      await eventually(() => {
        other.start('2', '{a}');
        return finishers.length === 4;
      }, 'there is room again');
      finishers.forEach((finish) => finish());
      other.socket.terminate();
      await app.stop();
    });

    test(`are aborted when the client stops them over ${protocol}`, async () => {
      const app = await start();
      const { signals } = holdResponses(app);
      const client = await SocketClient.connect(app.url, app.token('ann'), { protocols: [protocol] });
      client.start('1', '{a}');
      client.start('2', '{a}');
      await eventually(() => signals.length === 2, 'both operations run');
      client.send({ id: '1', type: protocol === 'graphql-ws' ? 'stop' : 'complete' });
      await eventually(() => signals[0]!.aborted, 'the operation is aborted');
      assert.ok(!signals[1]!.aborted);
      client.socket.terminate();
      await eventually(() => signals[1]!.aborted, 'the other operation is aborted with its socket');
      await app.stop();
    });
  }

  test('are refused if one user sends many large requests', async () => {
    const app = await start({ bodyBytesPerUser: 4 * mebibyte });
    holdResponses(app);
    const client = await SocketClient.connect(app.url, app.token('ann'));
    for (let id = 0; id < 10; id++) client.start(String(id), '{a}'.padEnd(60_000));
    const { id, type } = await client.next();
    assert.deepEqual({ id, type }, { id: '2', type: 'error' });
    client.socket.terminate();
    await app.stop();
  });
});

describe('requests over HTTP', () => {
  for (const accept of ['application/json', 'text/event-stream']) {
    test(`are aborted when a client that accepts ${accept} disconnects, but not after a response`, async () => {
      const app = await start();
      const signals: AbortSignal[] = [];
      let finish: () => void = () => undefined;
      app.open = (_, __, graphLimits) => {
        signals.push(graphLimits!.signal!);
        return new Promise((resolve) => (finish = () => resolve(dataOf({}))));
      };
      const controller = new AbortController();
      const send = (signal: AbortSignal | null) =>
        fetch(`${app.url}/graphql`, {
          method: 'POST',
          headers: {
            accept,
            'content-type': 'application/json',
            authorization: `Bearer ${app.token('ann')}`,
          },
          body: JSON.stringify({ query: '{a}' }),
          signal,
        });
      const aborted = send(controller.signal);
      await eventually(() => signals.length === 1, 'the operation runs');
      controller.abort();
      await assert.rejects(aborted);
      await eventually(() => signals[0]!.aborted, 'the operation is aborted');
      finish();
      const completed = send(null);
      await eventually(() => signals.length === 2, 'the operation runs');
      finish();
      assert.equal((await completed).status, 200);
      await (await completed).text();
      assert.ok(!signals[1]!.aborted);
      await app.stop();
    });
  }
});
