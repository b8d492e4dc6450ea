/** Sockets and event streams while the service stops: they send the responses of running operations, and then close. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { GraphResult } from '../../server/src/graph/graph.ts';
import { EventClient } from '../live/event-client.ts';
import { SocketClient } from '../live/socket-client.ts';
import { eventually } from '../support/eventually.ts';
import { dataOf, StubApp, StubStream } from '../live/stub-app.ts';
import { RawConnection } from '../support/raw-connection.ts';

const goingAwayWith = (cursor: string) => ({ code: 1001, reason: `Going away; cursor=${cursor}` });
const goingAway = { code: 1001, reason: 'Going away' };

async function subscribe(app: StubApp, client: SocketClient, id: string): Promise<StubStream> {
  const stream = new StubStream();
  app.open = () => stream;
  client.start(id, 'subscription{a}');
  await eventually(() => stream.nextCalls === 1, 'the subscription runs');
  return stream;
}

describe('a socket of a stopping service', () => {
  for (const protocol of ['graphql-transport-ws', 'graphql-ws']) {
    test(`receives the cursor to continue from (${protocol})`, async () => {
      const app = await StubApp.start();
      const client = await SocketClient.connect(app.url, app.token('ann'), { protocols: [protocol] });
      (await subscribe(app, client, '1')).cursor = 'here';
      (await subscribe(app, client, '2')).cursor = 'here';
      await app.stop();
      assert.deepEqual(await client.closed(), goingAwayWith('here'));
      assert.deepEqual(client.unread, []);
    });
  }

  test('is closed only after its subscriptions have reached the same position', async () => {
    const app = await StubApp.start();
    const client = await SocketClient.connect(app.url, app.token('ann'));
    const aheadStream = await subscribe(app, client, '1');
    const behindStream = await subscribe(app, client, '2');
    Object.assign(aheadStream, { cursor: 'b', reached: 2 });
    Object.assign(behindStream, { cursor: 'a', reached: 1 });
    const stopped = app.stop();
    await eventually(
      () => aheadStream.endsAfter === 2 && behindStream.endsAfter === 2,
      'both end at the same position',
    );
    client.send({ type: 'ping' });
    assert.equal((await client.next()).type, 'pong');
    behindStream.push('late');
    assert.deepEqual((await client.next()).payload, { data: 'late' });
    behindStream.cursor = 'b';
    assert.deepEqual(await client.closed(), goingAwayWith('b'));
    await stopped;
  });

  test('is closed at the deadline without a cursor if no cursor is valid for all subscriptions', async () => {
    const app = await StubApp.start({ settings: { stopSeconds: 0.2 } });
    const client = await SocketClient.connect(app.url, app.token('ann'));
    (await subscribe(app, client, '1')).cursor = 'b';
    (await subscribe(app, client, '2')).cursor = 'a';
    await app.stop();
    assert.deepEqual(await client.closed(), goingAway);
  });

  test('receives the responses of running operations, and starts no new ones', async () => {
    const app = await StubApp.start();
    const client = await SocketClient.connect(app.url, app.token('ann'));
    const pendingAnswers: ((answer: GraphResult) => void)[] = [];
    app.open = () => new Promise<GraphResult>((resolve) => pendingAnswers.push(resolve));
    client.start('1', 'mutation{a}');
    await eventually(() => pendingAnswers.length === 1, 'the operation has started');
    const stopped = app.stop();
    await assert.rejects(async () => {
      for (;;) (await RawConnection.open(app.url)).close();
    }, /ECONNRE(FUSED|SET)/);
    client.start('2', 'mutation{a}');
    client.send({ type: 'ping' });
    assert.equal((await client.next()).type, 'pong');
    assert.equal(pendingAnswers.length, 1);
    pendingAnswers[0]!(dataOf('done'));
    assert.deepEqual(await client.next(), { id: '1', type: 'next', payload: { data: 'done' } });
    assert.deepEqual(await client.next(), { id: '1', type: 'complete' });
    assert.deepEqual(await client.closed(), goingAway);
    await stopped;
  });

  test('is closed in time, even with a running operation', async () => {
    const app = await StubApp.start({ settings: { stopSeconds: 0.2 } });
    const client = await SocketClient.connect(app.url, app.token('ann'));
    let isStarted = false;
    app.open = () => {
      isStarted = true;
      return new Promise(() => undefined);
    };
    client.start('1', 'mutation{a}');
    await eventually(() => isStarted, 'the operation has started');
    await app.stop();
    assert.deepEqual(await client.closed(), goingAway);
  });

  test('is closed when its token expires', async () => {
    const app = await StubApp.start();
    const client = await SocketClient.connect(app.url, app.token('ann', 600));
    app.open = () => new Promise(() => undefined);
    client.start('1', 'mutation{a}');
    client.send({ type: 'ping' });
    assert.equal((await client.next()).type, 'pong');
    const stopped = app.stop();
    app.clock.advanceSeconds(601);
    assert.deepEqual(await client.closed(), { code: 4403, reason: 'INVALID_AUTH_TOKEN' });
    await stopped;
  });
});

describe('an event stream of a stopping service', () => {
  test('ends with a comment that contains the cursor, without the event `complete`', async () => {
    const app = await StubApp.start();
    const stream = new StubStream();
    stream.cursor = 'here';
    app.open = () => stream;
    const client = await EventClient.open(
      app.url,
      { query: 'subscription{a}' },
      { authorization: `Bearer ${app.token('ann')}` },
    );
    stream.push('last');
    assert.deepEqual(await client.next(), { event: 'next', data: { data: 'last' } });
    const stopped = app.stop();
    assert.deepEqual(await client.readRest(), []);
    assert.equal(client.cursor, 'here');
    await stopped;
  });
});
