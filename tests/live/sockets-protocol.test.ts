/** The two sub-protocols, message by message, with a graph that does what the test tells it to. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { closeCodes } from '@espalier/contract';
import fc from 'fast-check';
import { legacyDialect, transportDialect } from '../../server/src/http/socket-dialects.ts';
import { Refusal } from '../../server/src/refusal.ts';
import { SocketClient, type SocketClientOptions } from './socket-client.ts';
import { eventually } from '../eventually.ts';
import { dataOf, StagedApp, StagedStream } from './staged-app.ts';

const legacy: SocketClientOptions = { protocols: ['graphql-ws'] };

describe('the connection', () => {
  let app: StagedApp;
  before(async () => (app = await StagedApp.start()));
  after(() => app.stop());
  afterEach(() => {
    app.open = () => dataOf({});
    app.admit = () => undefined;
  });

  const connect = (options?: SocketClientOptions) => SocketClient.connect(app.url, app.token('ann'), options);

  test('a query is answered with its result and completed', async () => {
    const client = await connect();
    app.open = ({ query, variables }, { userId }) => dataOf({ query, variables, userId });
    client.start('1', '{folder}', { a: 1 });
    const data = { query: '{folder}', variables: { a: 1 }, userId: 'ann' };
    assert.deepEqual(await client.next(), { id: '1', type: 'next', payload: { data } });
    assert.deepEqual(await client.next(), { id: '1', type: 'complete' });
    await client.close();
  });

  test('a query of the older protocol is answered with data and completed', async () => {
    const client = await connect(legacy);
    app.open = () => dataOf({ a: 1 });
    client.start('1', '{a}');
    assert.deepEqual(await client.next(), { id: '1', type: 'data', payload: { data: { a: 1 } } });
    assert.deepEqual(await client.next(), { id: '1', type: 'complete' });
    client.send({ type: 'connection_terminate' });
    assert.equal((await client.closed()).code, 1000);
  });

  test('a subscription sends each answer and completes when its stream ends', async () => {
    for (const [options, type] of [
      [{}, 'next'],
      [legacy, 'data'],
    ] as const) {
      const client = await connect(options);
      const stream = new StagedStream();
      app.open = () => stream;
      client.start('s', 'subscription{a}');
      stream.give(1, 2);
      assert.deepEqual(await client.next(), { id: 's', type, payload: { data: 1 } });
      assert.deepEqual(await client.next(), { id: 's', type, payload: { data: 2 } });
      stream.end();
      assert.deepEqual(await client.next(), { id: 's', type: 'complete' });
      await client.close();
    }
  });

  test('a subscription that the client completes sends nothing more, and its id is free', async () => {
    for (const [options, stop] of [
      [{}, 'complete'],
      [legacy, 'stop'],
    ] as const) {
      const client = await connect(options);
      const stream = new StagedStream();
      app.open = () => stream;
      client.start('s', 'subscription{a}');
      stream.give(1);
      await client.next();
      client.send({ id: 's', type: stop });
      await eventually(() => stream.isOver, 'the stream ends');
      stream.give(2);
      app.open = () => dataOf('again');
      client.start('s', '{a}');
      assert.deepEqual((await client.next()).payload, { data: 'again' });
      await client.close();
    }
  });

  test('an operation that is stopped before it has begun is ended as soon as it does', async () => {
    const client = await connect();
    const stream = new StagedStream();
    const { promise, resolve } = Promise.withResolvers<StagedStream>();
    app.open = () => promise;
    client.start('s', 'subscription{a}');
    client.send({ id: 's', type: 'complete' });
    client.send({ type: 'ping' });
    assert.equal((await client.next()).type, 'pong');
    resolve(stream);
    await eventually(() => stream.isOver, 'the stream ends');
    assert.equal(stream.asked, 0);
    await client.close();
  });

  test('a socket that goes away ends its subscriptions', async () => {
    const client = await connect();
    const streams = [new StagedStream(), new StagedStream()];
    const left = [...streams];
    app.open = () => left.shift()!;
    client.start('1', 'subscription{a}');
    client.start('2', 'subscription{a}');
    await eventually(() => streams.every(({ asked }) => asked === 1), 'both run');
    client.socket.terminate();
    await eventually(() => streams.every(({ isOver }) => isOver), 'both end');
  });

  test('a request that fails before it runs gets an error and no completion', async () => {
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
      assert.deepEqual((await each.next()).payload, { data: 1 }, 'nothing else came, and the id is free');
      await each.close();
    }
  });

  test('errors of fields come with the result', async () => {
    const body = { errors: [{ message: 'No' }], data: { a: null } };
    app.open = () => ({ isExecuted: true, text: JSON.stringify(body) });
    const client = await connect();
    client.start('1', '{a}');
    assert.deepEqual(await client.next(), { id: '1', type: 'next', payload: body });
    assert.equal((await client.next()).type, 'complete');
    await client.close();
  });

  test('a refused operation gets an error with its code, and the socket lives on', async () => {
    const client = await connect();
    app.open = () => {
      throw new Refusal('UNAVAILABLE', 'Not now.');
    };
    client.start('1', '{a}');
    const error = { message: 'Not now.', extensions: { code: 'UNAVAILABLE' } };
    assert.deepEqual(await client.next(), { id: '1', type: 'error', payload: [error] });
    const stream = new StagedStream();
    app.open = () => stream;
    client.start('1', '{a}');
    stream.fail(new Refusal('NOT_FOUND', 'Gone.'));
    assert.equal((await client.next()).type, 'error');
    await client.close();
  });

  test('a bug closes with 4500, tells nothing, and is in the log', async () => {
    let stream: StagedStream | undefined;
    const fails: Record<string, StagedApp['open']> = {
      'at once': () => {
        throw new Error('secret of at once');
      },
      later: () => Promise.reject(new Error('secret of later')),
      'in the stream': () => {
        stream = new StagedStream();
        stream.fail(new Error('secret of in the stream'));
        return stream;
      },
      'in writing': () => {
        stream = new StagedStream();
        stream.give({ toJSON: () => assert.fail('secret of in writing') });
        return stream;
      },
    };
    for (const [when, open] of Object.entries(fails)) {
      const client = await connect();
      app.open = open;
      client.start('1', '{a}');
      assert.deepEqual(await client.closed(), { code: 4500, reason: 'Internal server error' }, when);
      assert.deepEqual(client.unread, []);
      assert.ok(app.logLines.some((line) => line.includes(`secret of ${when}`)));
      assert.notEqual(stream?.isOver, false, 'nothing is left running');
    }
  });

  test('a viewer who is refused in the middle of an operation is closed with 4403', async () => {
    const client = await connect();
    const stream = new StagedStream();
    app.open = () => stream;
    client.start('1', 'subscription{a}');
    stream.fail(new Refusal('INVALID_AUTH_TOKEN'));
    assert.deepEqual(await client.closed(), { code: 4403, reason: 'INVALID_AUTH_TOKEN' });
    assert.deepEqual(client.unread, []);
  });

  test('a subscription before the acknowledgement closes with 4401, even while init is being handled', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    app.admit = () => promise;
    const client = await SocketClient.open(app.url);
    client.init(app.token('ann'));
    client.start('1', '{a}');
    assert.deepEqual(await client.closed(), { code: 4401, reason: 'Unauthorized: wait for connection_ack' });
    resolve();
  });

  test('operations of the older protocol that come before the acknowledgement wait for it, in order', async () => {
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
    const answers = [await client.next(), await client.next(), await client.next(), await client.next()];
    const data = answers.filter(({ type }) => type === 'data').map(({ payload }) => payload!['data']);
    assert.deepEqual(data, ['two', 'three']);
    await client.close();
  });

  test('more than a socket may have open does not wait for the acknowledgement', async () => {
    app.admit = () => new Promise(() => undefined);
    const client = await SocketClient.open(app.url, legacy);
    client.init(app.token('ann'));
    for (let id = 0; id < 10; id++) client.start(String(id), '{a}');
    assert.equal((await client.closed()).code, 4401);
  });

  test('an id in use closes with 4409 and names the id, unless that is too long to be named', async () => {
    app.open = () => new StagedStream();
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

  test('an id in use in the older protocol ends the former operation and starts the new one', async () => {
    const client = await connect(legacy);
    const [first, second] = [new StagedStream(), new StagedStream()];
    app.open = () => first;
    client.start('1', 'subscription{a}');
    first.give('first');
    assert.deepEqual((await client.next()).payload, { data: 'first' });
    app.open = () => second;
    client.start('1', 'subscription{a}');
    await eventually(() => first.isOver, 'the first one ends');
    second.give('second');
    assert.deepEqual(await client.next(), { id: '1', type: 'data', payload: { data: 'second' } });
    await client.close();
  });

  test('closes with 4403 if the viewer is not admitted; the older protocol gets the reason first', async () => {
    app.admit = () => Promise.reject(new Refusal('FORBIDDEN', 'You are disabled.'));
    const client = await SocketClient.open(app.url);
    client.init(app.token('ann'));
    assert.deepEqual(await client.closed(), { code: 4403, reason: 'INVALID_AUTH_TOKEN' });
    assert.deepEqual(client.unread, []);
    const older = await SocketClient.open(app.url, legacy);
    older.init(app.token('ann'));
    const payload = { message: 'You are disabled.', extensions: { code: 'INVALID_AUTH_TOKEN' } };
    assert.deepEqual(await older.next(), { type: 'connection_error', payload });
    assert.equal((await older.closed()).code, 4403);
  });

  test('a service that can admit nobody right now closes with 1013, so that clients come back', async () => {
    app.admit = () => Promise.reject(new Refusal('UNAVAILABLE'));
    const client = await SocketClient.open(app.url);
    client.init(app.token('ann'));
    assert.equal((await client.closed()).code, 1013);
  });

  test('a token that cannot be checked right now closes with 1013, in init, ping and pong', async () => {
    for (const type of ['connection_init', 'ping', 'pong']) {
      const client = type === 'connection_init' ? await SocketClient.open(app.url) : await connect();
      app.knowsKeys = false;
      client.send({ type, payload: { authorization: `Bearer ${app.token('ann')}` } });
      assert.deepEqual(await client.closed(), { code: 1013, reason: 'Not now.' }, type);
      app.knowsKeys = true;
    }
  });

  test('both protocols offered, the newer one is spoken', async () => {
    const client = await connect({ protocols: ['graphql-ws', 'graphql-transport-ws'] });
    assert.equal(client.socket.protocol, 'graphql-transport-ws');
    await client.close();
  });

  test('neither protocol offered, the socket opens and closes with 4406', async () => {
    for (const protocols of [[], ['mqtt']]) {
      const socket = SocketClient.open(app.url, { protocols });
      if (protocols.length > 0) await assert.rejects(socket, /no subprotocol/);
      else assert.equal((await (await socket).closed()).code, 4406);
    }
  });
});

describe('random messages', () => {
  let app: StagedApp;
  before(async () => (app = await StagedApp.start()));
  after(() => app.stop());

  test('whatever is said in whatever order, the socket stays open or closes with a code of the list', async () => {
    const codes = new Set<number>(Object.values(closeCodes).map(({ code }) => code));
    const id = fc.constantFrom('1', '2', '', 3, null, undefined);
    const payload = fc.constantFrom(
      undefined,
      null,
      {},
      'x',
      { query: 'stream' },
      { query: '{a}', variables: {} },
      { authorization: `Bearer ${app.token('ann')}` },
      { authorization: 'Bearer x' },
      { authorization: `Bearer ${app.token('bob')}` },
    );
    const types = [legacyDialect, transportDialect].flatMap(({ kinds }) => Object.keys(kinds));
    const message = fc.record({ type: fc.constantFrom(...types, 'next', ''), id, payload });
    const acknowledged = {
      type: 'connection_init',
      payload: { authorization: `Bearer ${app.token('ann')}` },
    };
    app.open = ({ query }) => (query === 'stream' ? new StagedStream() : dataOf({}));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('graphql-ws', 'graphql-transport-ws'),
        fc.boolean(),
        fc.array(fc.oneof({ weight: 9, arbitrary: message }, fc.string(), fc.json()), { maxLength: 12 }),
        async (protocol, isInitiated, messages) => {
          const client = await SocketClient.open(app.url, { protocols: [protocol] });
          if (isInitiated) client.send(acknowledged);
          for (const each of messages)
            client.socket.send(typeof each === 'string' ? each : JSON.stringify(each));
          client.socket.close(3000);
          const { code } = await client.closed();
          assert.ok(code === 3000 || codes.has(code), String(code));
        },
      ),
      { numRuns: 300 },
    );
    assert.ok(!app.logLines.some((line) => line.includes('a socket failed')));
  });
});
