/** Subscriptions against a scripted server: why they come back, why not, and where they go on. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { WebSocketServer, type WebSocket } from 'ws';
import { createClient } from './client.ts';
import { EspalierError } from './errors.ts';
import type { Tokens, TokenStorage } from './token-storage.ts';

interface Frame {
  readonly id: string;
  readonly type: string;
  readonly payload?: { readonly variables?: unknown; readonly authorization?: string };
}

type Answer = (socket: WebSocket, frame: Frame) => void;

/** Acknowledges, and gives all other frames to the script of the connection; the last stays for all that follow. */
async function serve(context: TestContext, ...scripts: readonly Answer[]) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const frames: (Frame & { connection: number })[] = [];
  let connections = 0;
  server.on('connection', (socket) => {
    const connection = connections++;
    socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as Frame;
      frames.push({ ...frame, connection });
      if (frame.type === 'connection_init') send(socket, { type: 'connection_ack' });
      else scripts[Math.min(connection, scripts.length - 1)]!(socket, frame);
    });
  });
  let tokens: Tokens | undefined = {
    authToken: 'auth',
    refreshToken: 'refresh',
    expiresAt: Infinity,
    lifetimeSeconds: 600,
  };
  let told: ((tokens: Tokens) => void) | undefined;
  const storage: TokenStorage = {
    read: () => tokens,
    write(given) {
      assert.equal(given, undefined, 'Nothing had to be exchanged.');
      tokens = undefined;
    },
    onChange(listener) {
      told = listener;
      return () => undefined;
    },
  };
  /** Somebody else exchanges the pair, and tells. */
  const exchange = (authToken: string, { isTold = true } = {}) => {
    tokens = { ...tokens!, authToken };
    if (isTold) told?.(tokens);
  };
  const { port } = server.address() as AddressInfo;
  const client = createClient({ url: `http://127.0.0.1:${port}`, storage });
  context.after(() => {
    client.close();
    server.close();
    for (const socket of server.clients) socket.terminate();
  });
  return { client, frames, exchange, connections: () => connections };
}

const send = (socket: WebSocket, frame: object) => socket.send(JSON.stringify(frame));
const tell = (socket: WebSocket, id: string, value: unknown) =>
  send(socket, { type: 'next', id, payload: { data: { value } } });
const tellWhenAsked: Answer = (socket, { type, id }) => type === 'subscribe' && tell(socket, id, id.length);
const onSubscribe =
  (act: (socket: WebSocket) => void): Answer =>
  (socket, { type }) =>
    type === 'subscribe' && act(socket);

describe('a socket of the client', { timeout: 30_000 }, () => {
  for (const code of [1001, 1005, 1006, 1011, 1012, 1013, 4408, 4500]) {
    test(`that is closed with ${code} comes back`, async (context) => {
      const close = onSubscribe((socket) => {
        if (code === 1006) socket.terminate();
        else if (code === 1005) socket.close();
        else socket.close(code, 'Because.');
      });
      const { client, connections } = await serve(context, close, tellWhenAsked);
      const told = client.subscribe('subscription{a}');
      assert.ok((await told.next()).value);
      assert.equal(connections(), 2);
    });
  }

  for (const code of [1009, 4400, 4406]) {
    test(`that is closed with ${code} does not: it would be the same again`, async (context) => {
      const { client, connections } = await serve(
        context,
        onSubscribe((socket) => socket.close(code, 'Because.')),
      );
      await assert.rejects(
        client.subscribe('subscription{a}').next(),
        (error) =>
          error instanceof EspalierError && error.code === (code === 1009 ? 'TOO_LARGE' : 'NOT_ESPALIER'),
      );
      assert.equal(connections(), 1);
    });
  }

  test('that tells nonsense comes back', async (context) => {
    const { client, connections } = await serve(
      context,
      onSubscribe((socket) => socket.send('<html>')),
      tellWhenAsked,
    );
    assert.ok((await client.subscribe('subscription{a}').next()).value);
    assert.equal(connections(), 2);
  });

  test('answers a ping without a token', async (context) => {
    const { client, frames } = await serve(context, (socket, { type }) => {
      if (type === 'subscribe') send(socket, { type: 'ping', payload: { reason: 'HELLO' } });
      else if (type === 'pong') send(socket, { type: 'complete', id: frames.at(-2)!.id });
    });
    assert.equal((await client.subscribe('subscription{a}').next()).done, true);
    assert.deepEqual(
      frames.filter(({ type }) => type === 'pong'),
      [{ type: 'pong', connection: 0 }],
    );
  });

  test('is given the new token when somebody else has exchanged the pair', async (context) => {
    const { client, frames, exchange } = await serve(context, (socket, { type, payload }) => {
      if (type === 'subscribe') exchange('newer');
      else if (payload?.authorization === 'Bearer newer') tell(socket, frames.at(-2)!.id, 1);
    });
    assert.ok((await client.subscribe('subscription{a}').next()).value);
    assert.deepEqual(
      frames.map(({ type, payload }) => [type, payload?.authorization]),
      [
        ['connection_init', 'Bearer auth'],
        ['subscribe', undefined],
        ['pong', 'Bearer newer'],
      ],
    );
  });

  test('whose token is refused comes back with another, and does not exchange it if somebody has', async (context) => {
    const served = await serve(
      context,
      onSubscribe((socket) => {
        served.exchange('newer', { isTold: false });
        socket.close(4403, 'INVALID_AUTH_TOKEN');
      }),
      tellWhenAsked,
    );
    const { client, frames } = served;
    assert.ok((await client.subscribe('subscription{a}').next()).value);
    assert.equal(
      frames.findLast(({ type }) => type === 'connection_init')!.payload!.authorization,
      'Bearer newer',
    );
  });

  test('of which the server says how far it told: those that it had heard of go on there, others where they were', async (context) => {
    let heard: string | undefined;
    const { client, frames } = await serve(
      context,
      (socket, { type, id }) => {
        if (type !== 'subscribe') return;
        if (heard === undefined) {
          heard = id;
          tell(socket, id, 'first');
        } else socket.close(1001, 'Going away; cursor=c5');
      },
      tellWhenAsked,
    );
    const follow = (start: string) => {
      let after = start;
      const onGoingAway = (cursor: string) => (after = cursor);
      return client.subscribe('subscription{a}', () => ({ after }), { onGoingAway });
    };
    const early = follow('c1');
    await early.next();
    const late = follow('c2');
    await Promise.all([early.next(), late.next()]);
    const asked = frames
      .filter(({ type, connection }) => type === 'subscribe' && connection === 1)
      .map(({ id, payload }) => [id === heard ? 'early' : 'late', payload!.variables]);
    assert.deepEqual(Object.fromEntries(asked), { early: { after: 'c5' }, late: { after: 'c2' } });
  });

  test('stays open for a while after the last subscription, and ends at once when it is told to', async (context) => {
    const { client, connections } = await serve(context, tellWhenAsked);
    for (let page = 0; page < 3; page++) {
      for await (const told of client.subscribe('subscription{a}')) {
        assert.ok(told);
        break;
      }
    }
    assert.equal(connections(), 1);
  });

  test('variables that cannot be made, and events with errors, end a subscription with the error', async (context) => {
    const errors = [{ message: 'No.', extensions: { code: 'UNAVAILABLE' } }];
    const { client } = await serve(context, (socket, { type, id }) => {
      if (type === 'subscribe') send(socket, { type: 'next', id, payload: { data: { a: null }, errors } });
    });
    const mistake = new Error('Mistake.');
    const variables = () => {
      throw mistake;
    };
    await assert.rejects(client.subscribe('subscription{a}', variables).next(), mistake);
    await assert.rejects(
      client.subscribe('subscription{a}').next(),
      (error) => error instanceof EspalierError && error.code === 'UNAVAILABLE',
    );
  });

  test('cannot be where Node has no WebSocket: whoever follows or watches is told what is needed', async (context) => {
    const { client } = await serve(context, tellWhenAsked);
    const { WebSocket: found } = globalThis;
    Reflect.deleteProperty(globalThis, 'WebSocket');
    context.after(() => (globalThis.WebSocket = found));
    const refusal = {
      name: 'EspalierError',
      code: 'NO_WEB_SOCKET',
      message: 'There is no WebSocket here: use Node 22.13 or newer, or give createClient a `webSocket`.',
    };
    await assert.rejects(client.subscribe('subscription{a}').next(), refusal);
    await assert.rejects(client.watch(), refusal);
    assert.throws(() => client.socket, refusal);
  });

  test('whoever uses it through another library is told of a logout', async (context) => {
    const { client } = await serve(context, tellWhenAsked);
    const { socket } = client;
    const failed = new Promise<unknown>((resolve) => {
      const next = () => void client.logout().catch(() => undefined);
      socket.subscribe({ query: 'subscription{a}' }, { next, error: resolve, complete: () => undefined });
    });
    const error = await failed;
    assert.ok(error instanceof EspalierError && error.code === 'LOGGED_OUT');
  });
});
