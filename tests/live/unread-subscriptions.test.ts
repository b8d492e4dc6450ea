/**
 * Subscriptions whose client reads nothing, or is gone: what they take is bounded per user and does not delay others. The
 * short form of `npm run measure:unread-subscriptions`.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { GraphLimits, GraphResult, GraphStream } from '../../server/src/graph/graph.ts';
import type { PressureLimits } from '../../server/src/http/pressure.ts';
import { eventually } from '../eventually.ts';
import { RawConnection } from '../raw-connection.ts';
import { EventClient } from './event-client.ts';
import { SocketClient } from './socket-client.ts';
import { dataOf, shortTimes, StagedApp } from './staged-app.ts';

const mebibyte = 2 ** 20;
const calm = { isMemoryShort: false, isBehind: false };
const calmTimes = { ...shortTimes, beatEveryMs: 3_600_000 };
const pressureLimits: PressureLimits = {
  operations: 1e9,
  operationsOfOne: 1e9,
  bodyBytes: 32 * mebibyte,
  bodyBytesOfOne: 16 * mebibyte,
};
/** More than the system's own buffers take, many times over: a response stays in the process until it is read. */
const wide: GraphResult = { isExecuted: true, text: `"${'x'.repeat(12 * mebibyte)}"` };
const small = dataOf({});

/** A subscription with 20 events, whose responses are computed when there is room. */
class PacedStream implements GraphStream {
  static computed = new Map<string, number>();
  readonly reached = 0;
  readonly #userId: string;
  readonly #limits: GraphLimits;
  #left = 20;

  constructor(userId: string, limits: GraphLimits) {
    this.#userId = userId;
    this.#limits = limits;
  }

  async next(): Promise<IteratorResult<GraphResult, undefined>> {
    if (this.#left-- <= 0) {
      await new Promise<void>((resolve) => this.#limits.signal!.addEventListener('abort', () => resolve()));
      return { done: true, value: undefined };
    }
    const { computed } = PacedStream;
    const value = await this.#limits.whenRoom!(() => {
      computed.set(this.#userId, (computed.get(this.#userId) ?? 0) + 1);
      return Promise.resolve(this.#userId === 'ann' ? wide : small);
    });
    return { done: false, value };
  }

  return(): Promise<IteratorResult<GraphResult, undefined>> {
    this.#left = 0;
    return Promise.resolve({ done: true, value: undefined });
  }

  cursorAfter(): undefined {
    return undefined;
  }

  stopAfter(): void {
    this.#left = 0;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

async function start(limits: Partial<PressureLimits> = {}): Promise<StagedApp> {
  PacedStream.computed = new Map();
  const app = await StagedApp.start({
    liveTimes: calmTimes,
    settings: { maxSubscriptions: 100 },
    crowd: { load: calm, pressureLimits: { ...pressureLimits, ...limits } },
  });
  app.open = (_, { userId }, given) => new PacedStream(userId, given!);
  return app;
}

const computedFor = (userId: string) => PacedStream.computed.get(userId) ?? 0;

/** Once it has stopped growing. */
async function settled(value: () => number): Promise<number> {
  let [last, same] = [-1, 0];
  await eventually(() => {
    same = value() === last ? same + 1 : 0;
    last = value();
    return same === 40;
  }, 'it stops growing');
  return last;
}

describe('subscriptions that are not read', () => {
  test('of sockets: few responses are computed, others receive everything, and nothing is lost', async () => {
    const app = await start();
    const silent: SocketClient[] = [];
    for (let socket = 0; socket < 3; socket++) {
      const client = await SocketClient.connect(app.url, app.token('ann'));
      client.socket.pause();
      silent.push(client);
      for (let id = 0; id < 100; id++) client.start(String(id), 'subscription{a}');
    }
    // One is counted at 24 MiB: more than the user may have. Those being computed at that moment are added.
    const computed = await settled(() => computedFor('ann'));
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
    // It goes on as it is read.
    for (let event = 0; event < computed + 2; event++) assert.ok((await silent[0]!.next()).payload);
    silent[0]!.socket.terminate();
    await app.stop();
  });

  test('of event streams: few responses are computed, and others receive everything', async () => {
    const app = await start();
    const ask = (userId: string) =>
      EventClient.open(
        app.url,
        { query: 'subscription{a}' },
        { authorization: `Bearer ${app.token(userId)}` },
      );
    const body = JSON.stringify({ query: 'subscription{a}' });
    const deaf = await Promise.all(
      Array.from({ length: 8 }, () => RawConnection.open(app.url, { reads: false })),
    );
    for (const each of deaf) {
      each.send(
        `POST /graphql HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nAuthorization: Bearer ${app.token('ann')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    }
    const computed = await settled(() => computedFor('ann'));
    assert.ok(computed >= 2 && computed <= 6, `${computed} responses were computed`);
    const reader = await ask('bob');
    for (let event = 0; event < 20; event++) assert.equal((await reader.next())?.event, 'next');
    reader.leave();
    deaf.forEach((each) => each.close());
    // What they took is free again.
    const next = await ask('ann');
    assert.equal((await next.next())?.event, 'next');
    next.leave();
    await app.stop();
  });
});

describe('operations over sockets', () => {
  const limits = { operationsOfOne: 3 };
  const waiting = (app: StagedApp) => {
    const answers: (() => void)[] = [];
    const signals: AbortSignal[] = [];
    app.open = (_, __, given) => {
      signals.push(given!.signal!);
      return new Promise((resolve) => answers.push(() => resolve(dataOf({}))));
    };
    return { answers, signals };
  };

  for (const protocol of ['graphql-transport-ws', 'graphql-ws']) {
    test(`beyond a user's limit get an error of ${protocol}, and subscriptions come back later`, async () => {
      const app = await start(limits);
      const { answers } = waiting(app);
      const client = await SocketClient.connect(app.url, app.token('ann'), { protocols: [protocol] });
      for (let id = 0; id < 4; id++) client.start(String(id), '{a}');
      const { id, type, payload } = await client.next();
      assert.deepEqual({ id, type }, { id: '3', type: 'error' });
      assert.match(JSON.stringify(payload), /UNAVAILABLE/);
      assert.equal(answers.length, 3);
      // An error would end a subscription for good.
      client.start('4', 'subscription{a}');
      assert.equal((await client.closed()).code, 1013);
      assert.equal(answers.length, 3);
      await app.stop();
    });

    test(`of ${protocol} that run when their socket is closed count until they end`, async () => {
      const app = await start(limits);
      const { answers, signals } = waiting(app);
      const client = await SocketClient.connect(app.url, app.token('ann'), { protocols: [protocol] });
      for (let id = 0; id < 3; id++) client.start(String(id), '{a}');
      await eventually(() => answers.length === 3, 'all run');
      client.socket.terminate();
      await eventually(() => signals.every(({ aborted }) => aborted), 'all are told to stop');
      const other = await SocketClient.connect(app.url, app.token('ann'));
      other.start('1', '{a}');
      assert.equal((await other.next()).type, 'error');
      answers.forEach((answer) => answer());
      await eventually(() => {
        other.start('2', '{a}');
        return answers.length === 4;
      }, 'there is room again');
      answers.forEach((answer) => answer());
      other.socket.terminate();
      await app.stop();
    });

    test(`of ${protocol} are told when they are stopped`, async () => {
      const app = await start();
      const { signals } = waiting(app);
      const client = await SocketClient.connect(app.url, app.token('ann'), { protocols: [protocol] });
      client.start('1', '{a}');
      client.start('2', '{a}');
      await eventually(() => signals.length === 2, 'both run');
      client.send({ id: '1', type: protocol === 'graphql-ws' ? 'stop' : 'complete' });
      await eventually(() => signals[0]!.aborted, 'it is stopped');
      assert.ok(!signals[1]!.aborted);
      client.socket.terminate();
      await eventually(() => signals[1]!.aborted, 'the other is stopped with its socket');
      await app.stop();
    });
  }

  test('with many large requests of one user are refused', async () => {
    const app = await start({ bodyBytesOfOne: 4 * mebibyte });
    waiting(app);
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
    test(`for ${accept} are told when their client is gone, and not when they are answered`, async () => {
      const app = await start();
      const signals: AbortSignal[] = [];
      let answer: () => void = () => undefined;
      app.open = (_, __, given) => {
        signals.push(given!.signal!);
        return new Promise((resolve) => (answer = () => resolve(dataOf({}))));
      };
      const leaving = new AbortController();
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
      const left = send(leaving.signal);
      await eventually(() => signals.length === 1, 'it runs');
      leaving.abort();
      await assert.rejects(left);
      await eventually(() => signals[0]!.aborted, 'it is stopped');
      answer();
      const stays = send(null);
      await eventually(() => signals.length === 2, 'it runs');
      answer();
      assert.equal((await stays).status, 200);
      await (await stays).text();
      assert.ok(!signals[1]!.aborted);
      await app.stop();
    });
  }
});
