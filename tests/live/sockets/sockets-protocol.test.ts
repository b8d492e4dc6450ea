/** The two WebSocket sub-protocols, message by message, with a stub graph. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { Refusal } from '../../../server/src/refusal.ts';
import { SocketClient, type SocketClientOptions } from '../socket-client.ts';
import { eventually } from '../../support/eventually.ts';
import { dataOf, StubApp, StubStream } from '../stub-app.ts';
import { withoutRequestId } from '../../support/graph-testbed.ts';

const legacy: SocketClientOptions = { protocols: ['graphql-ws'] };

describe('a socket', () => {
  let app: StubApp;
  before(async () => (app = await StubApp.start()));
  after(() => app.stop());
  afterEach(() => {
    app.open = () => dataOf({});
    app.admit = () => undefined;
  });

  const connect = (options?: SocketClientOptions) => SocketClient.connect(app.url, app.token('ann'), options);

  test('answers a query with its result and completes it', async () => {
    const client = await connect();
    app.open = ({ query, variables }, { userId }) => dataOf({ query, variables, userId });
    client.start('1', '{folder}', { a: 1 });
    const data = { query: '{folder}', variables: { a: 1 }, userId: 'ann' };
    assert.deepEqual(await client.next(), { id: '1', type: 'next', payload: { data } });
    assert.deepEqual(await client.next(), { id: '1', type: 'complete' });
    await client.close();
  });

  test('answers a query of the older protocol with data and completes it', async () => {
    const client = await connect(legacy);
    app.open = () => dataOf({ a: 1 });
    client.start('1', '{a}');
    assert.deepEqual(await client.next(), { id: '1', type: 'data', payload: { data: { a: 1 } } });
    assert.deepEqual(await client.next(), { id: '1', type: 'complete' });
    client.send({ type: 'connection_terminate' });
    assert.equal((await client.closed()).code, 1000);
  });

  test('sends each response of a subscription and completes it when its stream ends', async () => {
    for (const [options, type] of [
      [{}, 'next'],
      [legacy, 'data'],
    ] as const) {
      const client = await connect(options);
      const stream = new StubStream();
      app.open = () => stream;
      client.start('s', 'subscription{a}');
      stream.push(1, 2);
      assert.deepEqual(await client.next(), { id: 's', type, payload: { data: 1 } });
      assert.deepEqual(await client.next(), { id: 's', type, payload: { data: 2 } });
      stream.end();
      assert.deepEqual(await client.next(), { id: 's', type: 'complete' });
      await client.close();
    }
  });

  test('sends nothing more for a subscription that the client completes, and frees its id', async () => {
    for (const [options, stop] of [
      [{}, 'complete'],
      [legacy, 'stop'],
    ] as const) {
      const client = await connect(options);
      const stream = new StubStream();
      app.open = () => stream;
      client.start('s', 'subscription{a}');
      stream.push(1);
      await client.next();
      client.send({ id: 's', type: stop });
      await eventually(() => stream.hasEnded, 'the stream ends');
      stream.push(2);
      app.open = () => dataOf('again');
      client.start('s', '{a}');
      assert.deepEqual((await client.next()).payload, { data: 'again' });
      await client.close();
    }
  });

  test('ends an operation that the client stopped before it started', async () => {
    const client = await connect();
    const stream = new StubStream();
    const { promise, resolve } = Promise.withResolvers<StubStream>();
    app.open = () => promise;
    client.start('s', 'subscription{a}');
    client.send({ id: 's', type: 'complete' });
    client.send({ type: 'ping' });
    assert.equal((await client.next()).type, 'pong');
    resolve(stream);
    await eventually(() => stream.hasEnded, 'the stream ends');
    assert.equal(stream.nextCalls, 0);
    await client.close();
  });

  test('ends its subscriptions when it closes', async () => {
    const client = await connect();
    const streams = [new StubStream(), new StubStream()];
    const remaining = [...streams];
    app.open = () => remaining.shift()!;
    client.start('1', 'subscription{a}');
    client.start('2', 'subscription{a}');
    await eventually(() => streams.every(({ nextCalls }) => nextCalls === 1), 'both operations run');
    client.socket.terminate();
    await eventually(() => streams.every(({ hasEnded }) => hasEnded), 'both operations end');
  });

  test('sends an error without a completion if a request fails before it runs', async () => {
    const errors = [{ message: 'One' }, { message: 'Two' }];
    app.open = () => ({ isExecuted: false, text: JSON.stringify({ errors }), errors });
    const client = await connect();
    client.start('1', '{');
    assert.deepEqual(await client.next(), { id: '1', type: 'error', payload: errors });
    const older = await connect(legacy);
    older.start('1', '{');
    assert.deepEqual(await older.next(), { id: '1', type: 'error', payload: { message: 'One', errors } });
    app.open = () => dataOf(1);
    for (const each of [client, older]) {
      each.start('1', '{a}');
      assert.deepEqual(
        (await each.next()).payload,
        { data: 1 },
        'no other frame arrived, and the id is free',
      );
      await each.close();
    }
  });

  test('sends field errors with the result', async () => {
    const body = { errors: [{ message: 'No' }], data: { a: null } };
    app.open = () => ({ isExecuted: true, text: JSON.stringify(body) });
    const client = await connect();
    client.start('1', '{a}');
    assert.deepEqual(await client.next(), { id: '1', type: 'next', payload: body });
    assert.equal((await client.next()).type, 'complete');
    await client.close();
  });

  test('sends the code of a refused operation in an error, and stays open', async () => {
    const client = await connect();
    app.open = () => {
      throw new Refusal('UNAVAILABLE', 'Not now.');
    };
    client.start('1', '{a}');
    const error = { message: 'Not now.', extensions: { code: 'UNAVAILABLE' } };
    const errorFrame = await client.next();
    assert.deepEqual([errorFrame.id, errorFrame.type], ['1', 'error']);
    const errors = errorFrame.payload as unknown as { extensions: { code: string; requestId?: string } }[];
    assert.deepEqual(errors.map(withoutRequestId), [error]);
    const stream = new StubStream();
    app.open = () => stream;
    client.start('1', '{a}');
    stream.fail(new Refusal('NOT_FOUND', 'Gone.'));
    assert.equal((await client.next()).type, 'error');
    await client.close();
  });

  test('closes with 4500 after an unexpected error, without details, and logs it', async () => {
    let stream: StubStream | undefined;
    const failures: Record<string, StubApp['open']> = {
      immediately: () => {
        throw new Error('secret of immediately');
      },
      later: () => Promise.reject(new Error('secret of later')),
      'during the stream': () => {
        stream = new StubStream();
        stream.fail(new Error('secret of during the stream'));
        return stream;
      },
      'during serialization': () => {
        stream = new StubStream();
        stream.push({ toJSON: () => assert.fail('secret of during serialization') });
        return stream;
      },
    };
    for (const [when, open] of Object.entries(failures)) {
      const client = await connect();
      app.open = open;
      client.start('1', '{a}');
      assert.deepEqual(await client.closed(), { code: 4500, reason: 'Internal server error' }, when);
      assert.deepEqual(client.unread, []);
      assert.ok(app.logLines.some((line) => line.includes(`secret of ${when}`)));
      assert.notEqual(stream?.hasEnded, false, 'the stream has ended');
    }
  });

  test('closes with 4403 if the viewer is refused during an operation', async () => {
    const client = await connect();
    const stream = new StubStream();
    app.open = () => stream;
    client.start('1', 'subscription{a}');
    stream.fail(new Refusal('INVALID_AUTH_TOKEN'));
    assert.deepEqual(await client.closed(), { code: 4403, reason: 'INVALID_AUTH_TOKEN' });
    assert.deepEqual(client.unread, []);
  });

  test('closes with 4401 if an operation arrives before the acknowledgement, even during `connection_init`', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    app.admit = () => promise;
    const client = await SocketClient.open(app.url);
    client.init(app.token('ann'));
    client.start('1', '{a}');
    assert.deepEqual(await client.closed(), { code: 4401, reason: 'Unauthorized: wait for connection_ack' });
    resolve();
  });

  test('queues operations of the older protocol until the acknowledgement, in order', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let isAdmitting = false;
    app.admit = () => {
      isAdmitting = true;
      return promise;
    };
    app.open = ({ query }) => dataOf(query);
    const client = await SocketClient.open(app.url, legacy);
    client.init(app.token('ann'));
    client.start('1', 'one');
    client.start('2', 'two');
    client.send({ id: '1', type: 'stop' });
    client.start('1', 'three');
    await eventually(() => isAdmitting, 'the init is being handled');
    resolve();
    assert.equal((await client.next()).type, 'connection_ack');
    const responses = [await client.next(), await client.next(), await client.next(), await client.next()];
    const data = responses.filter(({ type }) => type === 'data').map(({ payload }) => payload!['data']);
    assert.deepEqual(data, ['two', 'three']);
    await client.close();
  });

  test('queues no more operations before the acknowledgement than a socket may have open', async () => {
    app.admit = () => new Promise(() => undefined);
    const client = await SocketClient.open(app.url, legacy);
    client.init(app.token('ann'));
    for (let id = 0; id < 10; id++) client.start(String(id), '{a}');
    assert.equal((await client.closed()).code, 4401);
  });

  test('closes with 4409 if an id is already in use, and names the id unless it is too long', async () => {
    app.open = () => new StubStream();
    for (const [id, reason] of [
      ['one', 'Subscriber for one already exists'],
      ['ß'.repeat(46), `Subscriber for ${'ß'.repeat(46)} already exists`],
      ['ß'.repeat(47), 'Subscriber already exists'],
      ['x'.repeat(60_000), 'Subscriber already exists'],
      ['\ud800', 'Subscriber for \ufffd already exists'],
    ] as const) {
      const client = await connect();
      client.start(id, 'subscription{a}');
      client.start(id, 'subscription{a}');
      assert.deepEqual(await client.closed(), { code: 4409, reason });
      assert.deepEqual(client.unread, []);
    }
  });

  test('replaces the running operation if the client reuses its id in the older protocol', async () => {
    const client = await connect(legacy);
    const [first, second] = [new StubStream(), new StubStream()];
    app.open = () => first;
    client.start('1', 'subscription{a}');
    first.push('first');
    assert.deepEqual((await client.next()).payload, { data: 'first' });
    app.open = () => second;
    client.start('1', 'subscription{a}');
    await eventually(() => first.hasEnded, 'the first one ends');
    second.push('second');
    assert.deepEqual(await client.next(), { id: '1', type: 'data', payload: { data: 'second' } });
    await client.close();
  });

  test('closes with 4403 if the viewer is not admitted, and gives the reason first in the older protocol', async () => {
    app.admit = () => Promise.reject(new Refusal('FORBIDDEN', 'You are disabled.'));
    const client = await SocketClient.open(app.url);
    client.init(app.token('ann'));
    assert.deepEqual(await client.closed(), { code: 4403, reason: 'INVALID_AUTH_TOKEN' });
    assert.deepEqual(client.unread, []);
    const older = await SocketClient.open(app.url, legacy);
    older.init(app.token('ann'));
    const { type, payload } = await older.next();
    const { requestId } = payload!['extensions'] as { requestId: string };
    assert.match(requestId, /./);
    const extensions = { code: 'INVALID_AUTH_TOKEN', requestId };
    assert.deepEqual(
      { type, payload },
      { type: 'connection_error', payload: { message: 'You are disabled.', extensions } },
    );
    assert.equal((await older.closed()).code, 4403);
  });

  test('closes with 1013 while the service cannot admit viewers, so that clients reconnect', async () => {
    app.admit = () => Promise.reject(new Refusal('UNAVAILABLE'));
    const client = await SocketClient.open(app.url);
    client.init(app.token('ann'));
    assert.equal((await client.closed()).code, 1013);
  });

  test('closes with 1013 if the token in a message cannot be checked at the moment', async () => {
    for (const type of ['connection_init', 'ping', 'pong']) {
      const client = type === 'connection_init' ? await SocketClient.open(app.url) : await connect();
      app.hasKeys = false;
      client.send({ type, payload: { authorization: `Bearer ${app.token('ann')}` } });
      assert.deepEqual(await client.closed(), { code: 1013, reason: 'Not now.' }, type);
      app.hasKeys = true;
    }
  });

  test('uses the newer protocol if the client offers both', async () => {
    const client = await connect({ protocols: ['graphql-ws', 'graphql-transport-ws'] });
    assert.equal(client.socket.protocol, 'graphql-transport-ws');
    await client.close();
  });

  test('closes with 4406 if the client offers neither protocol', async () => {
    for (const protocols of [[], ['mqtt']]) {
      const socket = SocketClient.open(app.url, { protocols });
      if (protocols.length > 0) await assert.rejects(socket, /no subprotocol/);
      else assert.equal((await (await socket).closed()).code, 4406);
    }
  });
});
