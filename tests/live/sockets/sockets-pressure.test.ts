/**
 * Sockets with a client that does not read, does not respond or opens too many operations, and sockets while
 * the service stops.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { RawConnection } from '../../support/raw-connection.ts';
import { SocketClient } from '../socket-client.ts';
import { eventually } from '../../support/eventually.ts';
import { dataOf, shortTimings, StubApp, StubStream } from '../stub-app.ts';
import { waitUntilStable } from '../wait-until-stable.ts';
import { withoutRequestId } from '../../support/graph-testbed.ts';

const noHeartbeatTimings = { ...shortTimings, heartbeatEveryMs: 3_600_000 };
const large = 'x'.repeat(256 * 1024);

describe('a slow client', () => {
  test('receives the next response only after it has read the last one, and loses nothing', async () => {
    const app = await StubApp.start({ liveTimings: noHeartbeatTimings });
    const client = await SocketClient.connect(app.url, app.token('ann'));
    const stream = new StubStream();
    const count = 200;
    for (let number = 0; number < count; number++) stream.push({ number, large });
    app.open = () => stream;
    client.socket.pause();
    client.start('1', 'subscription{a}');
    const nextCalls = await waitUntilStable(() => stream.nextCalls);
    assert.ok(nextCalls < count / 2, `${nextCalls} responses were computed but not read`);
    client.socket.resume();
    for (let number = 0; number < count; number++) {
      const { data } = (await client.next()).payload as { data: { number: number } };
      assert.equal(data.number, number);
    }
    await client.close();
    await app.stop();
  });

  test('delays only its own messages until it reads again', async () => {
    const app = await StubApp.start({ liveTimings: noHeartbeatTimings });
    let openCount = 0;
    const slowClient = await SocketClient.connect(app.url, app.token('ann'));
    app.open = () => (openCount++, dataOf(large));
    slowClient.socket.pause();
    for (let id = 0; id < 1_000; id++) slowClient.start(String(id), '{a}'.padEnd(10_000));
    const computed = await waitUntilStable(() => openCount);
    assert.ok(computed < 200, `${computed} responses were computed but not read`);
    assert.ok(slowClient.socket.bufferedAmount > 0, 'the client still buffers its messages');
    const other = await SocketClient.connect(app.url, app.token('bob'));
    other.start('1', '{a}');
    assert.equal((await other.next()).id, '1');
    slowClient.socket.resume();
    await eventually(
      () => slowClient.unread.some(({ id }) => id === '999'),
      'the server reads its messages again',
    );
    await other.close();
    await slowClient.close();
    await app.stop();
  });

  test('is throttled even if it sends only WebSocket pings', async () => {
    const app = await StubApp.start({ liveTimings: noHeartbeatTimings });
    const client = await SocketClient.connect(app.url, app.token('ann'));
    client.socket.pause();
    const payload = Buffer.alloc(125);
    for (let sent = 0; sent < 200_000; sent++) client.socket.ping(payload);
    const bufferedBytes = await waitUntilStable(() => client.socket.bufferedAmount);
    assert.ok(bufferedBytes > 0, 'the client still buffers its messages');
    client.socket.resume();
    client.send({ type: 'ping' });
    // The server answers this ping after all earlier ones.
    assert.equal((await client.next()).type, 'pong');
    await client.close();
    await app.stop();
  });
});

describe('heartbeats', () => {
  test('do not disconnect a peer that answers pings', async () => {
    const app = await StubApp.start();
    const client = await SocketClient.connect(app.url, app.token('ann'));
    for (let seen = 0; seen < 10; seen++) await once(client.socket, 'ping');
    client.send({ type: 'ping' });
    assert.equal((await client.next()).type, 'pong');
    await client.close();
    await app.stop();
  });

  test('disconnect a peer that does not answer, and end its subscriptions', async () => {
    const app = await StubApp.start();
    const stream = new StubStream();
    app.open = () => stream;
    const client = await SocketClient.connect(app.url, app.token('ann'), { autoPong: false });
    client.start('1', 'subscription{a}');
    assert.equal((await client.closed()).code, 1006);
    await eventually(() => stream.hasEnded, 'the stream ends');
    await app.stop();
  });

  test('disconnect a peer that does not read, even with much data pending', async () => {
    const app = await StubApp.start();
    const stream = new StubStream();
    app.open = () => stream;
    for (let number = 0; number < 200; number++) stream.push(large);
    const client = await SocketClient.connect(app.url, app.token('ann'));
    client.socket.pause();
    client.start('1', 'subscription{a}');
    await eventually(() => stream.hasEnded, 'the stream ends');
    client.socket.terminate();
    await app.stop();
  });
});

describe('the operation limit of a socket', () => {
  test('rejects one more operation with an error for its id, and keeps the socket open', async () => {
    const app = await StubApp.start();
    const client = await SocketClient.connect(app.url, app.token('ann'));
    const streams: StubStream[] = [];
    app.open = () => {
      streams.push(new StubStream());
      return streams.at(-1)!;
    };
    for (let id = 1; id <= 6; id++) client.start(String(id), 'subscription{a}');
    const { id, type, payload } = await client.next();
    assert.deepEqual({ id, type }, { id: '6', type: 'error' });
    const [error] = payload as unknown as { message: string; extensions: object }[];
    assert.deepEqual(withoutRequestId(error!).extensions, { code: 'TOO_EXPENSIVE' });
    assert.match(error!.message, /5 open operations/);
    client.send({ id: '1', type: 'complete' });
    await eventually(() => streams[0]!.hasEnded, 'the first subscription ends');
    client.start('7', 'subscription{a}');
    await eventually(() => streams.length === 6, 'a slot is free again');
    await client.close();
    await app.stop();
  });

  test('counts a stopped operation until it has ended', async () => {
    const app = await StubApp.start();
    const client = await SocketClient.connect(app.url, app.token('ann'));
    let openCount = 0;
    app.open = () => {
      openCount++;
      return new Promise(() => undefined);
    };
    for (let id = 1; id <= 50; id++) {
      client.start(String(id), '{a}');
      client.send({ id: String(id), type: 'complete' });
    }
    assert.equal((await client.next()).id, '6');
    client.send({ type: 'ping' });
    while ((await client.next()).type !== 'pong');
    assert.equal(openCount, 5);
    await client.close();
    await app.stop();
  });
});

describe('the stop of the service', () => {
  test('closes every socket with 1001 and ends running operations', async () => {
    const app = await StubApp.start();
    const stream = new StubStream();
    app.open = () => stream;
    const running = await SocketClient.connect(app.url, app.token('ann'));
    running.start('1', 'subscription{a}');
    const waiting = await SocketClient.open(app.url);
    const older = await SocketClient.connect(app.url, app.token('ann'), { protocols: ['graphql-ws'] });
    await eventually(() => stream.nextCalls === 1, 'the subscription runs');
    await app.stop();
    for (const client of [running, waiting, older]) {
      assert.deepEqual(await client.closed(), { code: 1001, reason: 'Going away' });
      assert.deepEqual(client.unread, []);
    }
    assert.ok(stream.hasEnded);
  });

  test('does not wait for a connection that has sent nothing', async () => {
    const app = await StubApp.start();
    const connection = await RawConnection.open(app.url);
    await app.stop();
    assert.equal(await connection.read(), undefined);
  });

  test('does not wait for a client that does not read', async () => {
    const app = await StubApp.start({ liveTimings: noHeartbeatTimings });
    const stream = new StubStream();
    for (let number = 0; number < 200; number++) stream.push(large);
    app.open = () => stream;
    const client = await SocketClient.connect(app.url, app.token('ann'));
    client.socket.pause();
    client.start('1', 'subscription{a}');
    await waitUntilStable(() => stream.nextCalls);
    await app.stop();
    client.socket.terminate();
  });
});
