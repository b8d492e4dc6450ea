/**
 * Client subscriptions on a real server survive expired tokens, lost sockets and server restarts without missing a
 * change.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test, type TestContext } from 'node:test';
import { EspalierError, type ClientOptions } from '@espalier/client';
import { WebSocket as WsWebSocket, WebSocketServer } from 'ws';
import { databaseKinds, sqlite } from '../support/databases.ts';
import { findFreePort } from '../support/free-port.ts';
import { Testbed } from '../support/testbed.ts';
import { ClientTestbed, assertRejectsWith, type TestClient } from './client-testbed.ts';
import { followChanges, ReceivedChanges } from './received-changes.ts';

const tokenSeconds = 600;
const warningSeconds = 60;

/** Returns the sockets that a client opens, so that a test can terminate them. */
function trackSockets(): { sockets: WsWebSocket[]; webSocket: ClientOptions['webSocket'] } {
  const sockets: WsWebSocket[] = [];
  class TrackedSocket extends WsWebSocket {
    constructor(...args: ConstructorParameters<typeof WsWebSocket>) {
      super(...args);
      sockets.push(this);
    }
  }
  return { sockets, webSocket: TrackedSocket as unknown as NonNullable<ClientOptions['webSocket']> };
}

for (const kind of databaseKinds) {
  describe(`client subscriptions on ${kind.name}`, { timeout: 90_000 }, () => {
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
      await received.until(() => received.changes.length > count || received.ended !== undefined);
    };

    test('refresh once at each expiry warning, and keep the same socket', async (context) => {
      const { sockets, webSocket } = trackSockets();
      const client = await testbed.loggedIn(context, { webSocket });
      const received = await ReceivedChanges.follow(testbed, client);
      await writeAndReceive(received);
      for (let tokens = 1; tokens <= 3; tokens++) {
        const prolonged = new Promise<void>((resolve) => {
          const stop = client.onSession(() => (stop(), resolve()));
        });
        await testbed.elapse(tokenSeconds - warningSeconds);
        await prolonged;
        // Each token expires long before the warning of the next one.
        await writeAndReceive(received);
      }
      assert.equal(sockets.length, 1);
      assert.equal(client.wire.count('/login/refresh'), 3);
      await received.assertMissedNothing();
    });

    test('reconnect with a new token after the server has closed the socket of an expired token', async (context) => {
      const { sockets, webSocket } = trackSockets();
      const client = await testbed.loggedIn(context, { webSocket });
      const received = await ReceivedChanges.follow(testbed, client);
      await writeAndReceive(received);
      const closed = once(sockets[0]!, 'close') as Promise<[code: number]>;
      await testbed.elapse(tokenSeconds + 1);
      assert.equal((await closed)[0], 4403);
      await writeAndReceive(received);
      await writeAndReceive(received);
      assert.equal(sockets.length, 2);
      assert.equal(client.wire.count('/login/refresh'), 1);
      await received.assertMissedNothing();
    });

    test('miss no change when the socket is terminated repeatedly', async (context) => {
      const { sockets, webSocket } = trackSockets();
      const client = await testbed.loggedIn(context, { webSocket });
      const [one, other] = [
        await ReceivedChanges.follow(testbed, client),
        await ReceivedChanges.follow(testbed, client),
      ];
      for (let kills = 0; kills < 5; kills++) {
        await writeAndReceive(one);
        // The connection has lasted long enough to reset the backoff.
        await testbed.elapse(2);
        sockets.at(-1)!.terminate();
        await write();
      }
      await one.assertMissedNothing();
      await other.assertMissedNothing();
      assert.equal(sockets.length, 6);
    });

    test('end with LOGGED_OUT when the server ends the session', async (context) => {
      const client = await testbed.loggedIn(context);
      const received = await ReceivedChanges.follow(testbed, client);
      await writeAndReceive(received);
      await testbed.mutate('revokeSessions', { userId: client.person.id });
      await received.until(() => received.ended !== undefined);
      assert.ok(received.ended instanceof EspalierError && received.ended.code === 'LOGGED_OUT');
      assert.deepEqual(client.events, ['login', 'ended']);
    });
  });
}

describe('client subscriptions during a server restart', { timeout: 90_000 }, () => {
  const start = async (context: TestContext, options: Partial<ClientOptions> = {}) => {
    const database = await sqlite.create();
    const settings = { PORT: String(await findFreePort()) };
    const testbed = await Testbed.start(sqlite, { database, settings });
    const clients = new ClientTestbed(testbed, (await testbed.logIn()).authToken);
    const client = await clients.loggedIn(context, options);
    context.after(() => database.remove());
    const again = () => Testbed.start(sqlite, { database, settings, clock: testbed.clock });
    return { testbed, clients, client, again };
  };

  test('continue at the last cursor of the server, and a query waits for the server', async (context) => {
    const { testbed, clients, client, again } = await start(context);
    const received = await ReceivedChanges.follow(clients, client);
    await clients.mutate('createFolder', { name: 'one' });
    await received.until(() => received.changes.length === 1);
    await testbed.stop();
    const query = client.query('{folder{name}}');
    const next = await again();
    assert.deepEqual(await query, { folder: { name: 'Root' } });
    const { authToken } = await next.logIn();
    const input = { name: 'two' };
    await next.query('mutation($input: CreateFolderInput!){createFolder(input: $input){cursor}}', authToken, {
      input,
    });
    await received.until(() => received.changes.length === 2 || received.ended !== undefined);
    assert.equal(received.ended, undefined);
    assert.deepEqual(received.lastCursors, [received.changes[0]!.cursor]);
    await next.stop();
  });

  test('continue while a call gives up after its timeout', async (context) => {
    const { testbed, clients, client, again } = await start(context, { retrySeconds: 0 });
    const received = await ReceivedChanges.follow(clients, client);
    await testbed.stop();
    await assertRejectsWith(client.query('{folder{name}}'), 'UNREACHABLE');
    const next = await again();
    const { authToken } = await next.logIn();
    await next.query('mutation{createFolder(input: {name: "one"}){cursor}}', authToken);
    await received.until(() => received.changes.length === 1 || received.ended !== undefined);
    assert.equal(received.ended, undefined);
    await next.stop();
  });
});

describe('client subscriptions', { timeout: 60_000 }, () => {
  let testbed: ClientTestbed;
  before(async () => {
    testbed = await ClientTestbed.start(sqlite);
  });
  after(() => testbed.stop());

  test('end with the error of the server if they are rejected', async (context) => {
    const client = await testbed.loggedIn(context);
    const first = (text: string, variables?: Record<string, unknown>) =>
      client.subscribe(text, variables).next();
    await assertRejectsWith(first('subscription{nothing}'), 'GRAPHQL_VALIDATION_FAILED');
    await assertRejectsWith(first('subscription{folderChanges(under: "gone"){folderId}}'), 'NOT_FOUND');
    await assertRejectsWith(first(followChanges, { after: 'x'.repeat(70_000) }), 'TOO_LARGE');
    await client.logout();
    await assertRejectsWith(first('subscription{folderChanges{folderId}}'), 'LOGGED_OUT');
  });

  test('end with the reason of a signal, and without an error on return and close', async (context) => {
    const { sockets, webSocket } = trackSockets();
    const client = await testbed.loggedIn(context, { webSocket });
    const leaving = new AbortController();
    const reason = new Error('Enough.');
    const aborted = client.subscribe(followChanges, undefined, { signal: leaving.signal });
    const returned = client.subscribe(followChanges);
    const closed = client.subscribe(followChanges);
    const [first, second, third] = [aborted.next(), returned.next(), closed.next()];
    leaving.abort(reason);
    await assert.rejects(first, reason);
    assert.deepEqual(await aborted.next(), { value: undefined, done: true });
    await returned.return!();
    assert.deepEqual(await second, { value: undefined, done: true });
    client.close();
    assert.deepEqual(await third, { value: undefined, done: true });
    await assert.rejects(client.subscribe(followChanges, {}, { signal: leaving.signal }).next(), reason);
    assert.ok(sockets.length <= 1);
  });

  test('do not keep a socket open after the client is closed if they ended before they started', async (context) => {
    const { sockets, webSocket } = trackSockets();
    const client = await testbed.loggedIn(context, { webSocket });
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

  test('end with the client and with the session, even if another library started them', async (context) => {
    const { sockets, webSocket } = trackSockets();
    const follow = async (client: TestClient) => {
      const { cursor } = await client.query<{ cursor: string }>('{cursor}');
      await testbed.mutate('createFolder', { name: `shared ${sockets.length}` });
      const changes = client.socket.iterate({ query: followChanges, variables: { after: cursor } });
      assert.equal((await changes.next()).done, false);
      return { next: changes.next() };
    };
    const leaving = await testbed.loggedIn(context, { webSocket });
    const refused = assertRejectsWith((await follow(leaving)).next, 'LOGGED_OUT');
    await leaving.logout();
    await refused;
    const closing = await testbed.loggedIn(context, { webSocket });
    const { next } = await follow(closing);
    const closed = once(sockets.at(-1)!, 'close');
    closing.close();
    assert.equal((await next).done, true);
    await closed;
  });

  test('reconnect after growing pauses if the socket is closed normally', async (context) => {
    const server = new WebSocketServer({ port: 0, handleProtocols: () => 'graphql-transport-ws' });
    context.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const client = testbed.client(context, {
      url: `http://127.0.0.1:${port}`,
      storage: await createStoredTokens(testbed),
    });
    const begunAt = performance.now();
    const change = client.subscribe(followChanges).next();
    for (let connections = 0; connections < 4; connections++) {
      const [socket] = (await once(server, 'connection')) as [WsWebSocket];
      socket.close(1000);
    }
    // At least 50 ms, 100 ms and 200 ms, minus the inaccuracy of timers.
    assert.ok(performance.now() - begunAt > 340);
    client.close();
    assert.deepEqual(await change, { value: undefined, done: true });
  });

  test('end when the program closes the client, even while the server is down', async (context) => {
    const client = testbed.client(context, {
      url: 'http://127.0.0.1:9',
      storage: await createStoredTokens(testbed),
    });
    const change = client.subscribe(followChanges).next();
    client.close();
    assert.deepEqual(await change, { value: undefined, done: true });
  });

  test('buffer changes in order between two calls of next', async (context) => {
    const client = await testbed.loggedIn(context);
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
