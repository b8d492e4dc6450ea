/** Sockets whose other end does not read, does not answer, asks for too much, or is there when the service stops. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { RawConnection } from '../raw-connection.ts';
import { SocketClient } from './socket-client.ts';
import { eventually } from '../eventually.ts';
import { dataOf, shortTimes, StagedApp, StagedStream } from './staged-app.ts';

const calmTimes = { ...shortTimes, beatEveryMs: 3_600_000 };
const large = 'x'.repeat(256 * 1024);

/** The value once it has stopped growing. */
async function settled(value: () => number): Promise<number> {
  let [last, same] = [value(), 0];
  await eventually(() => {
    same = value() === last ? same + 1 : 0;
    last = value();
    return same === 40;
  }, 'it stops growing');
  return last;
}

describe('a slow reader', () => {
  test('is given the next answer only when it has taken the last one, and loses nothing', async () => {
    const app = await StagedApp.start({ liveTimes: calmTimes });
    const client = await SocketClient.connect(app.url, app.token('ann'));
    const stream = new StagedStream();
    const count = 200;
    for (let number = 0; number < count; number++) stream.give({ number, large });
    app.open = () => stream;
    client.socket.pause();
    client.start('1', 'subscription{a}');
    const asked = await settled(() => stream.asked);
    assert.ok(asked < count / 2, `${asked} answers were made for nobody`);
    client.socket.resume();
    for (let number = 0; number < count; number++) {
      const { data } = (await client.next()).payload as { data: { number: number } };
      assert.equal(data.number, number);
    }
    await client.close();
    await app.stop();
  });

  test('is not read from while it does not read, and others are served', async () => {
    const app = await StagedApp.start({ liveTimes: calmTimes });
    let opened = 0;
    const greedy = await SocketClient.connect(app.url, app.token('ann'));
    app.open = () => (opened++, dataOf(large));
    greedy.socket.pause();
    for (let id = 0; id < 1_000; id++) greedy.start(String(id), '{a}'.padEnd(10_000));
    const answered = await settled(() => opened);
    assert.ok(answered < 200, `${answered} answers were made for nobody`);
    assert.ok(greedy.socket.bufferedAmount > 0, 'what it sent is still with it');
    const other = await SocketClient.connect(app.url, app.token('bob'));
    other.start('1', '{a}');
    assert.equal((await other.next()).id, '1');
    greedy.socket.resume();
    await eventually(() => greedy.unread.some(({ id }) => id === '999'), 'it is read from again');
    await other.close();
    await greedy.close();
    await app.stop();
  });

  test('that only sends WebSocket pings is held back, too', async () => {
    const app = await StagedApp.start({ liveTimes: calmTimes });
    const client = await SocketClient.connect(app.url, app.token('ann'));
    client.socket.pause();
    const payload = Buffer.alloc(125);
    for (let sent = 0; sent < 200_000; sent++) client.socket.ping(payload);
    const left = await settled(() => client.socket.bufferedAmount);
    assert.ok(left > 0, 'what it sent is still with it');
    client.socket.resume();
    client.send({ type: 'ping' });
    // After all those before it.
    assert.equal((await client.next()).type, 'pong');
    await client.close();
    await app.stop();
  });
});

describe('signs of life', () => {
  test('a peer that answers pings stays, however many there are', async () => {
    const app = await StagedApp.start();
    const client = await SocketClient.connect(app.url, app.token('ann'));
    for (let seen = 0; seen < 10; seen++) await once(client.socket, 'ping');
    client.send({ type: 'ping' });
    assert.equal((await client.next()).type, 'pong');
    await client.close();
    await app.stop();
  });

  test('a peer that answers nothing is let go, and its subscriptions end', async () => {
    const app = await StagedApp.start();
    const stream = new StagedStream();
    app.open = () => stream;
    const client = await SocketClient.connect(app.url, app.token('ann'), { autoPong: false });
    client.start('1', 'subscription{a}');
    assert.equal((await client.closed()).code, 1006);
    await eventually(() => stream.isOver, 'the stream ends');
    await app.stop();
  });

  test('a peer that takes nothing in is let go, even with much on its way to it', async () => {
    const app = await StagedApp.start();
    const stream = new StagedStream();
    app.open = () => stream;
    for (let number = 0; number < 200; number++) stream.give(large);
    const client = await SocketClient.connect(app.url, app.token('ann'));
    client.socket.pause();
    client.start('1', 'subscription{a}');
    await eventually(() => stream.isOver, 'the stream ends');
    client.socket.terminate();
    await app.stop();
  });
});

describe('many operations', () => {
  test('one more than allowed gets an error for its id, and the socket lives on', async () => {
    const app = await StagedApp.start();
    const client = await SocketClient.connect(app.url, app.token('ann'));
    const streams: StagedStream[] = [];
    app.open = () => {
      streams.push(new StagedStream());
      return streams.at(-1)!;
    };
    for (let id = 1; id <= 6; id++) client.start(String(id), 'subscription{a}');
    const { id, type, payload } = await client.next();
    assert.deepEqual({ id, type }, { id: '6', type: 'error' });
    const [error] = payload as unknown as { message: string; extensions: unknown }[];
    assert.deepEqual(error!.extensions, { code: 'TOO_EXPENSIVE' });
    assert.match(error!.message, /5 open operations/);
    client.send({ id: '1', type: 'complete' });
    await eventually(() => streams[0]!.isOver, 'the first ends');
    client.start('7', 'subscription{a}');
    await eventually(() => streams.length === 6, 'there is a place again');
    await client.close();
    await app.stop();
  });

  test('what was stopped counts until it has ended: to start and stop is not free', async () => {
    const app = await StagedApp.start();
    const client = await SocketClient.connect(app.url, app.token('ann'));
    let opened = 0;
    app.open = () => {
      opened++;
      return new Promise(() => undefined);
    };
    for (let id = 1; id <= 50; id++) {
      client.start(String(id), '{a}');
      client.send({ id: String(id), type: 'complete' });
    }
    assert.equal((await client.next()).id, '6');
    client.send({ type: 'ping' });
    while ((await client.next()).type !== 'pong');
    assert.equal(opened, 5);
    await client.close();
    await app.stop();
  });
});

describe('the end of the service', () => {
  test('closes every socket with 1001 and ends what runs', async () => {
    const app = await StagedApp.start();
    const stream = new StagedStream();
    app.open = () => stream;
    const running = await SocketClient.connect(app.url, app.token('ann'));
    running.start('1', 'subscription{a}');
    const waiting = await SocketClient.open(app.url);
    const older = await SocketClient.connect(app.url, app.token('ann'), { protocols: ['graphql-ws'] });
    await eventually(() => stream.asked === 1, 'the subscription runs');
    await app.stop();
    for (const client of [running, waiting, older]) {
      assert.deepEqual(await client.closed(), { code: 1001, reason: 'Going away' });
      assert.deepEqual(client.unread, []);
    }
    assert.ok(stream.isOver);
  });

  test('does not wait for a connection that has asked for nothing', async () => {
    const app = await StagedApp.start();
    const connection = await RawConnection.open(app.url);
    await app.stop();
    assert.equal(await connection.read(), undefined);
  });

  test('does not wait for a client that does not read', async () => {
    const app = await StagedApp.start({ liveTimes: calmTimes });
    const stream = new StagedStream();
    for (let number = 0; number < 200; number++) stream.give(large);
    app.open = () => stream;
    const client = await SocketClient.connect(app.url, app.token('ann'));
    client.socket.pause();
    client.start('1', 'subscription{a}');
    await settled(() => stream.asked);
    await app.stop();
    client.socket.terminate();
  });
});
