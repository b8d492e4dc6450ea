/** Checks that a closed client leaves no socket and no timer, and does not reconnect. */

import assert from 'node:assert/strict';
import { describe, mock, test, type TestContext } from 'node:test';
import { createClient } from './client.ts';
import { memoryStorage } from './session/token-storage.ts';

/** Runs all pending callbacks that need no timer. */
const runCallbacks = async () => {
  for (let round = 0; round < 5; round++) await new Promise(setImmediate);
};

/** A socket that the test controls. */
class ScriptedSocket extends EventTarget {
  static readonly CONNECTING = 0;
  static readonly OPEN = 1;
  static readonly CLOSING = 2;
  static readonly CLOSED = 3;
  static opened: ScriptedSocket[] = [];
  readyState = 0;
  onopen: (() => void) | undefined;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | undefined;
  onmessage: ((event: { readonly data: string }) => void) | undefined;
  readonly closeCodes: (number | undefined)[] = [];

  constructor() {
    super();
    ScriptedSocket.opened.push(this);
  }

  send(): void {
    // The tests do not read frames.
  }

  /** The server never answers the close frame. */
  close(code?: number): void {
    if (this.readyState === 2) return;
    this.readyState = 2;
    this.closeCodes.push(code);
  }

  async acknowledge(): Promise<void> {
    this.readyState = 1;
    this.onopen!();
    await runCallbacks();
    this.onmessage!({ data: '{"type":"connection_ack"}' });
    await runCallbacks();
  }

  disconnect(code: number): void {
    this.readyState = 3;
    this.onclose!({ code, reason: '' });
  }
}

/** Replaces the timer functions. Returns the timers that are still pending. */
function trackTimers(context: TestContext): Set<number> {
  const pending = new Set<number>();
  let count = 0;
  mock.method(globalThis, 'setTimeout', (call: () => void, ms: number) => {
    const id = ++count;
    pending.add(id);
    if (!ms) setImmediate(() => pending.delete(id) && call());
    return id;
  });
  mock.method(globalThis, 'clearTimeout', (id: number) => void pending.delete(id));
  context.after(() => mock.restoreAll());
  return pending;
}

async function start(context: TestContext) {
  const timers = trackTimers(context);
  ScriptedSocket.opened = [];
  const storage = memoryStorage();
  await storage.write({ authToken: 'a.b.c', refreshToken: 'r', expiresAt: Infinity, lifetimeSeconds: 600 });
  const client = createClient({
    url: 'http://127.0.0.1:9',
    storage,
    webSocket: ScriptedSocket as unknown as typeof WebSocket,
  });
  return { client, timers };
}

const states: Readonly<Record<string, (socket: ScriptedSocket) => Promise<void> | void>> = {
  'is opening': () => undefined,
  'is open': (socket) => socket.acknowledge(),
  'is lost and the backoff runs': (socket) => socket.disconnect(1006),
  'was closed by the server with 1000': async (socket) => {
    await socket.acknowledge();
    socket.disconnect(1000);
  },
  'was closed by a server that shuts down': async (socket) => {
    await socket.acknowledge();
    socket.disconnect(1001);
  },
};

describe('a closed client', () => {
  for (const [state, prepare] of Object.entries(states)) {
    for (const whose of ['its own', "another library's"]) {
      test(`ends ${whose} subscription and leaves no socket or timer if the socket ${state}`, async (context) => {
        const { client, timers } = await start(context);
        const subscribe = () => client.subscribe('subscription{a}').next();
        const subscribeWithLibrary = () => client.socket.iterate({ query: 'subscription{a}' }).next();
        const next = whose === 'its own' ? subscribe() : subscribeWithLibrary();
        await runCallbacks();
        await prepare(ScriptedSocket.opened[0]!);
        await runCallbacks();
        client.close();
        assert.equal((await next).done, true);
        await runCallbacks();
        assert.equal(ScriptedSocket.opened.length, 1);
        assert.deepEqual([...timers], []);
      });
    }
  }

  test("sends a close frame, and does not wait for the server's close frame", async (context) => {
    const { client } = await start(context);
    const next = client.subscribe('subscription{a}').next();
    await runCallbacks();
    await ScriptedSocket.opened[0]!.acknowledge();
    client.close();
    assert.equal((await next).done, true);
    await runCallbacks();
    assert.deepEqual(ScriptedSocket.opened[0]!.closeCodes, [1000]);
  });

  test('opens no socket for a new subscription', async (context) => {
    const { client, timers } = await start(context);
    client.close();
    assert.equal((await client.subscribe('subscription{a}').next()).done, true);
    assert.equal((await client.socket.iterate({ query: 'subscription{a}' }).next()).done, true);
    await assert.rejects(client.watch(), { name: 'AbortError' });
    await runCallbacks();
    assert.equal(ScriptedSocket.opened.length, 0);
    assert.deepEqual([...timers], []);
  });
});
