/** Tests whether subscriptions reconnect, and at which cursor they continue. The server is scripted. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { WebSocketServer, type WebSocket } from 'ws';
import { createClient } from '../client.ts';
import { EspalierError } from '../errors.ts';
import type { Tokens, TokenStorage } from '../session/token-storage.ts';

interface Frame {
  readonly id: string;
  readonly type: string;
  readonly payload?: { readonly variables?: unknown; readonly authorization?: string };
}

type Script = (socket: WebSocket, frame: Frame) => void;

/** Acknowledges connections and passes all other frames to the script of the connection. The last script repeats. */
async function startScriptedServer(context: TestContext, ...scripts: readonly Script[]) {
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
  let onChange: ((tokens: Tokens) => void) | undefined;
  const storage: TokenStorage = {
    read: () => tokens,
    write(tokensToWrite) {
      assert.equal(tokensToWrite, undefined, 'The client refreshed the tokens.');
      tokens = undefined;
    },
    onChange(listener) {
      onChange = listener;
      return () => undefined;
    },
  };
  /** Acts as another tab that refreshes the tokens. */
  const replaceTokens = (authToken: string, { isPublished = true } = {}) => {
    tokens = { ...tokens!, authToken };
    if (isPublished) onChange?.(tokens);
  };
  const { port } = server.address() as AddressInfo;
  const client = createClient({ url: `http://127.0.0.1:${port}`, storage });
  context.after(() => {
    client.close();
    server.close();
    for (const socket of server.clients) socket.terminate();
  });
  return { client, frames, replaceTokens, connections: () => connections };
}

const send = (socket: WebSocket, frame: object) => socket.send(JSON.stringify(frame));
const sendValue = (socket: WebSocket, id: string, value: unknown) =>
  send(socket, { type: 'next', id, payload: { data: { value } } });
const sendOnSubscribe: Script = (socket, { type, id }) =>
  type === 'subscribe' && sendValue(socket, id, id.length);
const onSubscribe =
  (respond: (socket: WebSocket) => void): Script =>
  (socket, { type }) =>
    type === 'subscribe' && respond(socket);

describe('the client socket', { timeout: 30_000 }, () => {
  for (const code of [1001, 1005, 1006, 1011, 1012, 1013, 4408, 4500]) {
    test(`reconnects after close code ${code}`, async (context) => {
      const close = onSubscribe((socket) => {
        if (code === 1006) socket.terminate();
        else if (code === 1005) socket.close();
        else socket.close(code, 'Because.');
      });
      const { client, connections } = await startScriptedServer(context, close, sendOnSubscribe);
      const results = client.subscribe('subscription{a}');
      assert.ok((await results.next()).value);
      assert.equal(connections(), 2);
    });
  }

  for (const code of [1009, 4400, 4406]) {
    test(`does not reconnect after close code ${code}, which a retry cannot fix`, async (context) => {
      const { client, connections } = await startScriptedServer(
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

  test('reconnects after an invalid frame', async (context) => {
    const { client, connections } = await startScriptedServer(
      context,
      onSubscribe((socket) => socket.send('<html>')),
      sendOnSubscribe,
    );
    assert.ok((await client.subscribe('subscription{a}').next()).value);
    assert.equal(connections(), 2);
  });

  test('answers a ping without a token', async (context) => {
    const { client, frames } = await startScriptedServer(context, (socket, { type }) => {
      if (type === 'subscribe') send(socket, { type: 'ping', payload: { reason: 'HELLO' } });
      else if (type === 'pong') send(socket, { type: 'complete', id: frames.at(-2)!.id });
    });
    assert.equal((await client.subscribe('subscription{a}').next()).done, true);
    assert.deepEqual(
      frames.filter(({ type }) => type === 'pong'),
      [{ type: 'pong', connection: 0 }],
    );
  });

  test('sends the new token when another tab has refreshed it', async (context) => {
    const { client, frames, replaceTokens } = await startScriptedServer(
      context,
      (socket, { type, payload }) => {
        if (type === 'subscribe') replaceTokens('newer');
        else if (payload?.authorization === 'Bearer newer') sendValue(socket, frames.at(-2)!.id, 1);
      },
    );
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

  test('reconnects with the new token of another tab after the server rejects its own', async (context) => {
    const scriptedServer = await startScriptedServer(
      context,
      onSubscribe((socket) => {
        scriptedServer.replaceTokens('newer', { isPublished: false });
        socket.close(4403, 'INVALID_AUTH_TOKEN');
      }),
      sendOnSubscribe,
    );
    const { client, frames } = scriptedServer;
    assert.ok((await client.subscribe('subscription{a}').next()).value);
    assert.equal(
      frames.findLast(({ type }) => type === 'connection_init')!.payload!.authorization,
      'Bearer newer',
    );
  });

  test('uses the cursor in the close reason only for subscriptions that the server had started', async (context) => {
    let startedId: string | undefined;
    const { client, frames } = await startScriptedServer(
      context,
      (socket, { type, id }) => {
        if (type !== 'subscribe') return;
        if (startedId === undefined) {
          startedId = id;
          sendValue(socket, id, 'first');
        } else socket.close(1001, 'Going away; cursor=c5');
      },
      sendOnSubscribe,
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
    const requested = frames
      .filter(({ type, connection }) => type === 'subscribe' && connection === 1)
      .map(({ id, payload }) => [id === startedId ? 'early' : 'late', payload!.variables]);
    assert.deepEqual(Object.fromEntries(requested), { early: { after: 'c5' }, late: { after: 'c2' } });
  });

  test('stays open for a while after the last subscription', async (context) => {
    const { client, connections } = await startScriptedServer(context, sendOnSubscribe);
    for (let page = 0; page < 3; page++) {
      for await (const results of client.subscribe('subscription{a}')) {
        assert.ok(results);
        break;
      }
    }
    assert.equal(connections(), 1);
  });

  test('ends a subscription with the error of its variables function or of an event', async (context) => {
    const errors = [{ message: 'No.', extensions: { code: 'UNAVAILABLE' } }];
    const { client } = await startScriptedServer(context, (socket, { type, id }) => {
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

  test('rejects with NO_WEB_SOCKET where the runtime has no WebSocket', async (context) => {
    const { client } = await startScriptedServer(context, sendOnSubscribe);
    const { WebSocket: original } = globalThis;
    Reflect.deleteProperty(globalThis, 'WebSocket');
    context.after(() => (globalThis.WebSocket = original));
    const refusal = {
      name: 'EspalierError',
      code: 'NO_WEB_SOCKET',
      message: 'This runtime has no WebSocket. Use Node 22.13 or newer, or pass `webSocket` to createClient.',
    };
    await assert.rejects(client.subscribe('subscription{a}').next(), refusal);
    await assert.rejects(client.watch(), refusal);
    assert.throws(() => client.socket, refusal);
  });

  test('ends the subscription of another library with LOGGED_OUT after a logout', async (context) => {
    const { client } = await startScriptedServer(context, sendOnSubscribe);
    const { socket } = client;
    const failed = new Promise<unknown>((resolve) => {
      const next = () => void client.logout().catch(() => undefined);
      socket.subscribe({ query: 'subscription{a}' }, { next, error: resolve, complete: () => undefined });
    });
    const error = await failed;
    assert.ok(error instanceof EspalierError && error.code === 'LOGGED_OUT');
  });

  test('reports the state of the connection', async (context) => {
    const close = onSubscribe((socket) => socket.close(1011, 'Because.'));
    const { client } = await startScriptedServer(context, close, sendOnSubscribe);
    assert.equal(client.connectionState, 'idle');
    const states: string[] = [];
    client.onConnection(() => {
      throw new Error('A failing listener breaks nothing.');
    });
    const stop = client.onConnection((state) => {
      assert.equal(client.connectionState, state);
      states.push(state);
    });
    const results = client.subscribe('subscription{a}');
    assert.ok((await results.next()).value);
    const reconnecting = ['connecting', 'connected', 'waiting', 'connecting', 'connected'];
    assert.deepEqual(states, reconnecting);
    // The socket stays open for a while, for the next subscription.
    await results.return!();
    assert.equal(client.connectionState, 'connected');
    stop();
    client.close();
    assert.equal(client.connectionState, 'closed');
    assert.deepEqual(states, reconnecting);
    await client.subscribe('subscription{a}').next();
    assert.equal(client.connectionState, 'closed');
  });

  test('is idle again after a subscription is rejected, or aborted before the connection opens', async (context) => {
    const close = onSubscribe((socket) => socket.close(4400, 'Because.'));
    const { client } = await startScriptedServer(context, close);
    const controller = new AbortController();
    const aborted = client.subscribe('subscription{a}', {}, { signal: controller.signal });
    assert.equal(client.connectionState, 'connecting');
    controller.abort();
    await assert.rejects(aborted.next());
    assert.equal(client.connectionState, 'idle');
    await assert.rejects(client.subscribe('subscription{a}').next());
    assert.equal(client.connectionState, 'idle');
  });
});
