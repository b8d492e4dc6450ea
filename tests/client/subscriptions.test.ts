/**
 * Subscriptions of the client miss no change if a token expires, a socket closes or the server restarts.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test, type TestContext } from 'node:test';
import { EspalierError, type SessionClientOptions } from '@espalier/client';
import { WebSocket as WsWebSocket, WebSocketServer } from 'ws';
import { databaseKinds, sqlite } from '../support/databases.ts';
import { findFreePort } from '../support/free-port.ts';
import { Testbed } from '../support/testbed.ts';
import { ClientTestbed, assertRejectsWith, type TestClient } from './client-testbed.ts';
import { followChanges, ReceivedChanges } from './received-changes.ts';

const tokenSeconds = 600;
const warningSeconds = 60;

/** Returns the sockets that a client opens, so that a test can terminate them. */
function trackSockets(): { sockets: WsWebSocket[]; webSocket: SessionClientOptions['webSocket'] } {
  const sockets: WsWebSocket[] = [];
  class TrackedSocket extends WsWebSocket {
    constructor(...args: ConstructorParameters<typeof WsWebSocket>) {
      super(...args);
      sockets.push(this);
    }
  }
  return { sockets, webSocket: TrackedSocket as unknown as NonNullable<SessionClientOptions['webSocket']> };
}

for (const kind of databaseKinds) {
  describe(`a subscribed client on ${kind.name}`, { timeout: 90_000 }, () => {
    let testbed: ClientTestbed;
    let folders = 0;
    before(async () => {
      testbed = await ClientTestbed.start(kind);
    });
    after(() => testbed.stop());
    const write = () => testbed.mutate('createFolder', { name: `folder ${++folders}` });
    const writeAndReceive = async (received: ReceivedChanges) => {
      const count = received.changes.length;
      await write();
      await received.waitUntil(() => received.changes.length > count || received.endReason !== undefined);
    };

    test('refreshes once at each expiry warning, and keeps the same socket', async (context) => {
      const { sockets, webSocket } = trackSockets();
      const client = await testbed.createLoggedInClient(context, { webSocket });
      const received = await ReceivedChanges.follow(testbed, client);
      await writeAndReceive(received);
      for (let tokens = 1; tokens <= 3; tokens++) {
        const refreshed = new Promise<void>((resolve) => {
          const stop = client.onSession(() => (stop(), resolve()));
        });
        await testbed.advanceSeconds(tokenSeconds - warningSeconds);
        await refreshed;
        // The socket now depends on the new token, because the previous one expires before the next warning.
        await writeAndReceive(received);
      }
      assert.equal(sockets.length, 1);
      assert.equal(client.wire.countRequests('/login/refresh'), 3);
      await received.assertMissedNothing();
    });

    test('reconnects with a new token if its socket is closed when the old token expires', async (context) => {
      const { sockets, webSocket } = trackSockets();
      const client = await testbed.createLoggedInClient(context, { webSocket });
      const received = await ReceivedChanges.follow(testbed, client);
      await writeAndReceive(received);
      const closed = once(sockets[0]!, 'close') as Promise<[code: number]>;
      await testbed.advanceSeconds(tokenSeconds + 1);
      assert.equal((await closed)[0], 4403);
      await writeAndReceive(received);
      await writeAndReceive(received);
      assert.equal(sockets.length, 2);
      assert.equal(client.wire.countRequests('/login/refresh'), 1);
      await received.assertMissedNothing();
    });

    test('misses no change when its socket is terminated repeatedly', async (context) => {
      const { sockets, webSocket } = trackSockets();
      const client = await testbed.createLoggedInClient(context, { webSocket });
      const [one, other] = [
        await ReceivedChanges.follow(testbed, client),
        await ReceivedChanges.follow(testbed, client),
      ];
      for (let terminations = 0; terminations < 5; terminations++) {
        await writeAndReceive(one);
        // The connection has lasted long enough to reset the backoff.
        await testbed.advanceSeconds(2);
        sockets.at(-1)!.terminate();
        await write();
      }
      await one.assertMissedNothing();
      await other.assertMissedNothing();
      assert.equal(sockets.length, 6);
    });

    test('ends its subscription with LOGGED_OUT when its session is revoked', async (context) => {
      const client = await testbed.createLoggedInClient(context);
      const received = await ReceivedChanges.follow(testbed, client);
      await writeAndReceive(received);
      await testbed.mutate('revokeSessions', { userId: client.person.id });
      await received.waitUntil(() => received.endReason !== undefined);
      assert.ok(received.endReason instanceof EspalierError && received.endReason.code === 'LOGGED_OUT');
      assert.deepEqual(client.events, ['login', 'ended']);
    });
  });
}

describe('a subscribed client during a server restart', { timeout: 90_000 }, () => {
  const start = async (context: TestContext, options: Partial<SessionClientOptions> = {}) => {
    const database = await sqlite.create();
    const settings = { PORT: String(await findFreePort()) };
    const server = await Testbed.start(sqlite, { database, settings });
    const testbed = new ClientTestbed(server, (await server.logIn()).authToken);
    const client = await testbed.createLoggedInClient(context, options);
    context.after(() => database.remove());
    const restart = () => Testbed.start(sqlite, { database, settings, clock: server.clock });
    return { testbed, client, restart };
  };

  test('continues at the last cursor of the server, while a query waits for the restart', async (context) => {
    const { testbed, client, restart } = await start(context);
    const received = await ReceivedChanges.follow(testbed, client);
    await testbed.mutate('createFolder', { name: 'one' });
    await received.waitUntil(() => received.changes.length === 1);
    await testbed.stop();
    const query = client.query('{folder{name}}');
    const restarted = await restart();
    assert.deepEqual(await query, { folder: { name: 'Root' } });
    const { authToken } = await restarted.logIn();
    const input = { name: 'two' };
    await restarted.query(
      'mutation($input: CreateFolderInput!){createFolder(input: $input){cursor}}',
      authToken,
      {
        input,
      },
    );
    await received.waitUntil(() => received.changes.length === 2 || received.endReason !== undefined);
    assert.equal(received.endReason, undefined);
    assert.deepEqual(received.shutdownCursors, [received.changes[0]!.cursor]);
    await restarted.stop();
  });

  test('keeps its subscription even if a query fails because the server is down', async (context) => {
    const { testbed, client, restart } = await start(context, { retrySeconds: 0 });
    const received = await ReceivedChanges.follow(testbed, client);
    await testbed.stop();
    await assertRejectsWith(client.query('{folder{name}}'), 'UNREACHABLE');
    const restarted = await restart();
    const { authToken } = await restarted.logIn();
    await restarted.query('mutation{createFolder(input: {name: "one"}){cursor}}', authToken);
    await received.waitUntil(() => received.changes.length === 1 || received.endReason !== undefined);
    assert.equal(received.endReason, undefined);
    await restarted.stop();
  });
});

describe('a client subscription', { timeout: 60_000 }, () => {
  let testbed: ClientTestbed;
  before(async () => {
    testbed = await ClientTestbed.start(sqlite);
  });
  after(() => testbed.stop());

  test('ends with the error of the server if the server rejects it', async (context) => {
    const client = await testbed.createLoggedInClient(context);
    const first = (text: string, variables?: Record<string, unknown>) =>
      client.subscribe(text, variables).next();
    await assertRejectsWith(first('subscription{nothing}'), 'GRAPHQL_VALIDATION_FAILED');
    await assertRejectsWith(first('subscription{folderChanges(under: "gone"){folderId}}'), 'NOT_FOUND');
    await assertRejectsWith(first(followChanges, { after: 'x'.repeat(70_000) }), 'TOO_LARGE');
    await client.logout();
    await assertRejectsWith(first('subscription{folderChanges{folderId}}'), 'LOGGED_OUT');
  });

  test('ends with the reason of an aborted signal, but without an error on return() and close()', async (context) => {
    const { sockets, webSocket } = trackSockets();
    const client = await testbed.createLoggedInClient(context, { webSocket });
    const controller = new AbortController();
    const reason = new Error('Enough.');
    const aborted = client.subscribe(followChanges, undefined, { signal: controller.signal });
    const returned = client.subscribe(followChanges);
    const closed = client.subscribe(followChanges);
    const [first, second, third] = [aborted.next(), returned.next(), closed.next()];
    controller.abort(reason);
    await assert.rejects(first, reason);
    assert.deepEqual(await aborted.next(), { value: undefined, done: true });
    await returned.return!();
    assert.deepEqual(await second, { value: undefined, done: true });
    client.close();
    assert.deepEqual(await third, { value: undefined, done: true });
    await assert.rejects(client.subscribe(followChanges, {}, { signal: controller.signal }).next(), reason);
    assert.ok(sockets.length <= 1);
  });

  test('leaves no open socket after close(), even if return() was called before it started', async (context) => {
    const { sockets, webSocket } = trackSockets();
    const client = await testbed.createLoggedInClient(context, { webSocket });
    const { cursor } = await client.query<{ cursor: string }>('{cursor}');
    await testbed.mutate('createFolder', { name: 'left' });
    for await (const { folderChanges } of client.subscribe(followChanges, { after: cursor })) {
      assert.ok(folderChanges);
      break;
    }
    await client.subscribe(followChanges).return!();
    const closed = once(sockets[0]!, 'close');
    client.close();
    await closed;
  });

  test('ends on logout and on close(), even if another library started it', async (context) => {
    const { sockets, webSocket } = trackSockets();
    const follow = async (client: TestClient) => {
      const { cursor } = await client.query<{ cursor: string }>('{cursor}');
      await testbed.mutate('createFolder', { name: `shared ${sockets.length}` });
      const changes = client.socket.iterate({ query: followChanges, variables: { after: cursor } });
      assert.equal((await changes.next()).done, false);
      return { next: changes.next() };
    };
    const loggedOut = await testbed.createLoggedInClient(context, { webSocket });
    const rejected = assertRejectsWith((await follow(loggedOut)).next, 'LOGGED_OUT');
    await loggedOut.logout();
    await rejected;
    const closedClient = await testbed.createLoggedInClient(context, { webSocket });
    const { next } = await follow(closedClient);
    const closed = once(sockets.at(-1)!, 'close');
    closedClient.close();
    assert.equal((await next).done, true);
    await closed;
  });

  test('reconnects with backoff if the server closes the socket with 1000', async (context) => {
    const server = new WebSocketServer({ port: 0, handleProtocols: () => 'graphql-transport-ws' });
    context.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const client = testbed.createClient(context, {
      url: `http://127.0.0.1:${port}`,
      storage: await createStoredTokens(testbed),
    });
    const startedAt = performance.now();
    const change = client.subscribe(followChanges).next();
    for (let connections = 0; connections < 4; connections++) {
      const [socket] = (await once(server, 'connection')) as [WsWebSocket];
      socket.close(1000);
    }
    // At least 50 ms, 100 ms and 200 ms, minus the inaccuracy of timers.
    assert.ok(performance.now() - startedAt > 340);
    client.close();
    assert.deepEqual(await change, { value: undefined, done: true });
  });

  test('ends on close(), even while the server is down', async (context) => {
    const client = testbed.createClient(context, {
      url: 'http://127.0.0.1:9',
      storage: await createStoredTokens(testbed),
    });
    const change = client.subscribe(followChanges).next();
    client.close();
    assert.deepEqual(await change, { value: undefined, done: true });
  });

  test('returns changes in order to concurrent calls of next()', async (context) => {
    const client = await testbed.createLoggedInClient(context);
    const { cursor } = await client.query<{ cursor: string }>('{cursor}');
    for (const name of ['one', 'two', 'three']) await testbed.mutate('createFolder', { name });
    const text = 'subscription($after: String){folderChanges(after: $after){folder{name}}}';
    const changes = client.subscribe<{ folderChanges: { folder: { name: string } } }>(text, {
      after: cursor,
    });
    const results = await Promise.all([changes.next(), changes.next(), changes.next()]);
    assert.deepEqual(
      results.map(({ value }) => value!.folderChanges.folder.name),
      ['one', 'two', 'three'],
    );
    await changes.return!();
    assert.equal((await changes.next()).done, true);
  });
});

async function createStoredTokens(testbed: ClientTestbed) {
  const { authToken, refreshToken } = await testbed.logIn(await testbed.createUser());
  const tokens = {
    authToken,
    refreshToken,
    expiresAt: testbed.server.clock.now() + 600_000,
    lifetimeSeconds: 600,
  };
  return { read: () => tokens, write: () => undefined };
}
