/** What is left of a client that was closed: no socket, no timer, and nothing that is tried again. */

import assert from 'node:assert/strict';
import { describe, mock, test, type TestContext } from 'node:test';
import { createClient } from './client.ts';
import { memoryStorage } from './token-storage.ts';

/** Lets everything go on that waits for nothing but its turn. */
const settle = async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
};

/** Does what a test says, and nothing by itself. */
class StagedSocket extends EventTarget {
  static readonly CONNECTING = 0;
  static readonly OPEN = 1;
  static readonly CLOSING = 2;
  static readonly CLOSED = 3;
  static opened: StagedSocket[] = [];
  readyState = 0;
  onopen: (() => void) | undefined;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | undefined;
  onmessage: ((event: { readonly data: string }) => void) | undefined;
  readonly closedWith: (number | undefined)[] = [];

  constructor() {
    super();
    StagedSocket.opened.push(this);
  }

  send(): void {
    // Nobody reads it.
  }

  /** The other side never says that it has heard it. */
  close(code?: number): void {
    if (this.readyState === 2) return;
    this.readyState = 2;
    this.closedWith.push(code);
  }

  async acknowledge(): Promise<void> {
    this.readyState = 1;
    this.onopen!();
    await settle();
    this.onmessage!({ data: '{"type":"connection_ack"}' });
    await settle();
  }

  lose(code: number): void {
    this.readyState = 3;
    this.onclose!({ code, reason: '' });
  }
}

/** Those that were set and have neither been cancelled nor called. */
function pendingTimers(context: TestContext): Set<number> {
  const pending = new Set<number>();
  let count = 0;
  mock.method(globalThis, 'setTimeout', (call: () => void, ms: number) => {
    const own = ++count;
    pending.add(own);
    if (!ms) setImmediate(() => pending.delete(own) && call());
    return own;
  });
  mock.method(globalThis, 'clearTimeout', (own: number) => void pending.delete(own));
  context.after(() => mock.restoreAll());
  return pending;
}

async function start(context: TestContext) {
  const timers = pendingTimers(context);
  StagedSocket.opened = [];
  const storage = memoryStorage();
  await storage.write({ authToken: 'a.b.c', refreshToken: 'r', expiresAt: Infinity, lifetimeSeconds: 600 });
  const client = createClient({
    url: 'http://127.0.0.1:9',
    storage,
    webSocket: StagedSocket as unknown as typeof WebSocket,
  });
  return { client, timers };
}

const states: Readonly<Record<string, (socket: StagedSocket) => Promise<void> | void>> = {
  'is being opened': () => undefined,
  'is open': (socket) => socket.acknowledge(),
  'was lost, and is waited with': (socket) => socket.lose(1006),
  'was closed by the server as if all was done': async (socket) => {
    await socket.acknowledge();
    socket.lose(1000);
  },
  'was closed by a server that stops': async (socket) => {
    await socket.acknowledge();
    socket.lose(1001);
  },
};

describe('a client that is closed', () => {
  for (const [state, bring] of Object.entries(states)) {
    for (const whose of ['its own', "another library's"]) {
      test(`while the socket ${state} leaves nothing behind, and ends ${whose} subscription`, async (context) => {
        const { client, timers } = await start(context);
        const own = () => client.subscribe('subscription{a}').next();
        const others = () => client.socket.iterate({ query: 'subscription{a}' }).next();
        const next = whose === 'its own' ? own() : others();
        await settle();
        await bring(StagedSocket.opened[0]!);
        await settle();
        client.close();
        assert.equal((await next).done, true);
        await settle();
        assert.equal(StagedSocket.opened.length, 1);
        assert.deepEqual([...timers], []);
      });
    }
  }

  test('says so to the server, and does not wait for its answer', async (context) => {
    const { client } = await start(context);
    const next = client.subscribe('subscription{a}').next();
    await settle();
    await StagedSocket.opened[0]!.acknowledge();
    client.close();
    assert.equal((await next).done, true);
    await settle();
    assert.deepEqual(StagedSocket.opened[0]!.closedWith, [1000]);
  });

  test('opens nothing any more, whoever asks', async (context) => {
    const { client, timers } = await start(context);
    client.close();
    assert.equal((await client.subscribe('subscription{a}').next()).done, true);
    assert.equal((await client.socket.iterate({ query: 'subscription{a}' }).next()).done, true);
    await assert.rejects(client.watch(), { name: 'AbortError' });
    await settle();
    assert.equal(StagedSocket.opened.length, 0);
    assert.deepEqual([...timers], []);
  });
});
