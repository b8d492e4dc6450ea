/** Subscriptions of the client on a real server: they outlive tokens, sockets and servers, and miss nothing. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test, type TestContext } from 'node:test';
import { EspalierError, type ClientOptions } from '@espalier/client';
import { WebSocket as WsWebSocket, WebSocketServer } from 'ws';
import { databaseKinds, sqlite } from '../support/databases.ts';
import { findFreePort } from '../support/free-port.ts';
import { Testbed } from '../support/testbed.ts';
import { ClientBed, rejectsWith, type BedClient } from './client-bed.ts';
import { followChanges, ToldChanges } from './told-changes.ts';

const tokenSeconds = 600;
const warningSeconds = 60;

/** The sockets that a client has opened, with how to kill them. */
function trackedSockets(): { sockets: WsWebSocket[]; webSocket: ClientOptions['webSocket'] } {
  const sockets: WsWebSocket[] = [];
  class TrackedSocket extends WsWebSocket {
    constructor(...given: ConstructorParameters<typeof WsWebSocket>) {
      super(...given);
      sockets.push(this);
    }
  }
  return { sockets, webSocket: TrackedSocket as unknown as NonNullable<ClientOptions['webSocket']> };
}

for (const kind of databaseKinds) {
  describe(`subscriptions of the client on ${kind.name}`, { timeout: 90_000 }, () => {
    let bed: ClientBed;
    let folders = 0;
    before(async () => {
      bed = await ClientBed.start(kind);
    });
    after(() => bed.stop());
    const write = () => bed.mutate('createFolder', { name: `folder ${++folders}` });
    const writeTold = async (told: ToldChanges) => {
      const count = told.changes.length;
      await write();
      await told.until(() => told.changes.length > count || told.ended !== undefined);
    };

    test('a socket is prolonged in band by one refresh at each warning, and nothing is interrupted', async (context) => {
      const { sockets, webSocket } = trackedSockets();
      const client = await bed.loggedIn(context, { webSocket });
      const told = await ToldChanges.follow(bed, client);
      await writeTold(told);
      for (let tokens = 1; tokens <= 3; tokens++) {
        const prolonged = new Promise<void>((resolve) => {
          const stop = client.onSession(() => (stop(), resolve()));
        });
        await bed.elapse(tokenSeconds - warningSeconds);
        await prolonged;
        // Each token is over long before the warning of the next.
        await writeTold(told);
      }
      assert.equal(sockets.length, 1);
      assert.equal(client.wire.count('/login/refresh'), 3);
      await told.assertMissedNothing();
    });

    test('a socket that was closed because its token ended comes back with a fresh one', async (context) => {
      const { sockets, webSocket } = trackedSockets();
      const client = await bed.loggedIn(context, { webSocket });
      const told = await ToldChanges.follow(bed, client);
      await writeTold(told);
      const closed = once(sockets[0]!, 'close') as Promise<[code: number]>;
      await bed.elapse(tokenSeconds + 1);
      assert.equal((await closed)[0], 4403);
      await writeTold(told);
      await writeTold(told);
      assert.equal(sockets.length, 2);
      assert.equal(client.wire.count('/login/refresh'), 1);
      await told.assertMissedNothing();
    });

    test('a socket that is killed again and again amid changes misses nothing', async (context) => {
      const { sockets, webSocket } = trackedSockets();
      const client = await bed.loggedIn(context, { webSocket });
      const [one, other] = [await ToldChanges.follow(bed, client), await ToldChanges.follow(bed, client)];
      for (let kills = 0; kills < 5; kills++) {
        await writeTold(one);
        // Good for a while, it is not suspected of being a bad one.
        await bed.elapse(2);
        sockets.at(-1)!.terminate();
        await write();
      }
      await one.assertMissedNothing();
      await other.assertMissedNothing();
      assert.equal(sockets.length, 6);
    });

    test('a session that is ended ends its subscriptions with LOGGED_OUT', async (context) => {
      const client = await bed.loggedIn(context);
      const told = await ToldChanges.follow(bed, client);
      await writeTold(told);
      await bed.mutate('revokeSessions', { userId: client.person.id });
      await told.until(() => told.ended !== undefined);
      assert.ok(told.ended instanceof EspalierError && told.ended.code === 'LOGGED_OUT');
      assert.deepEqual(client.events, ['login', 'ended']);
    });
  });
}

describe('subscriptions of the client while a server restarts', { timeout: 90_000 }, () => {
  const start = async (context: TestContext, options: Partial<ClientOptions> = {}) => {
    const database = await sqlite.create();
    const settings = { PORT: String(await findFreePort()) };
    const bed = await Testbed.start(sqlite, { database, settings });
    const clients = new ClientBed(bed, (await bed.logIn()).authToken);
    const client = await clients.loggedIn(context, options);
    context.after(() => database.remove());
    const again = () => Testbed.start(sqlite, { database, settings, clock: bed.clock });
    return { bed, clients, client, again };
  };

  test('a query waits for it, and a subscription goes on where the server has ended', async (context) => {
    const { bed, clients, client, again } = await start(context);
    const told = await ToldChanges.follow(clients, client);
    await clients.mutate('createFolder', { name: 'one' });
    await told.until(() => told.changes.length === 1);
    await bed.stop();
    const query = client.query('{folder{name}}');
    const next = await again();
    assert.deepEqual(await query, { folder: { name: 'Root' } });
    const { authToken } = await next.logIn();
    const input = { name: 'two' };
    await next.query('mutation($input: CreateFolderInput!){createFolder(input: $input){cursor}}', authToken, {
      input,
    });
    await told.until(() => told.changes.length === 2 || told.ended !== undefined);
    assert.equal(told.ended, undefined);
    assert.deepEqual(told.farewells, [told.changes[0]!.cursor]);
    await next.stop();
  });

  test('a call gives up when its time is over, and a subscription does not', async (context) => {
    const { bed, clients, client, again } = await start(context, { retrySeconds: 0 });
    const told = await ToldChanges.follow(clients, client);
    await bed.stop();
    await rejectsWith(client.query('{folder{name}}'), 'UNREACHABLE');
    const next = await again();
    const { authToken } = await next.logIn();
    await next.query('mutation{createFolder(input: {name: "one"}){cursor}}', authToken);
    await told.until(() => told.changes.length === 1 || told.ended !== undefined);
    assert.equal(told.ended, undefined);
    await next.stop();
  });
});

describe('subscriptions of the client', { timeout: 60_000 }, () => {
  let bed: ClientBed;
  before(async () => {
    bed = await ClientBed.start(sqlite);
  });
  after(() => bed.stop());

  test('what is refused ends with the error of the server', async (context) => {
    const client = await bed.loggedIn(context);
    const first = (text: string, variables?: Record<string, unknown>) =>
      client.subscribe(text, variables).next();
    await rejectsWith(first('subscription{nothing}'), 'GRAPHQL_VALIDATION_FAILED');
    await rejectsWith(first('subscription{folderChanges(under: "gone"){folderId}}'), 'NOT_FOUND');
    await rejectsWith(first(followChanges, { after: 'x'.repeat(70_000) }), 'TOO_LARGE');
    await client.logout();
    await rejectsWith(first('subscription{folderChanges{folderId}}'), 'LOGGED_OUT');
  });

  test('a signal ends it with its reason, return and close without one', async (context) => {
    const { sockets, webSocket } = trackedSockets();
    const client = await bed.loggedIn(context, { webSocket });
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

  test('one that is left before it has begun does not keep the socket of the one before open', async (context) => {
    const { sockets, webSocket } = trackedSockets();
    const client = await bed.loggedIn(context, { webSocket });
    const { cursor } = await client.query<{ cursor: string }>('{cursor}');
    await bed.mutate('createFolder', { name: 'left' });
    for await (const { folderChanges } of client.subscribe(followChanges, { after: cursor })) {
      assert.ok(folderChanges);
      break;
    }
    await client.subscribe(followChanges).return!();
    const closed = once(sockets[0]!, 'close');
    client.close();
    await closed;
  });

  test('a subscription of another library ends with the client, and with the session', async (context) => {
    const { sockets, webSocket } = trackedSockets();
    const follow = async (client: BedClient) => {
      const { cursor } = await client.query<{ cursor: string }>('{cursor}');
      await bed.mutate('createFolder', { name: `shared ${sockets.length}` });
      const told = client.socket.iterate({ query: followChanges, variables: { after: cursor } });
      assert.equal((await told.next()).done, false);
      return { next: told.next() };
    };
    const leaving = await bed.loggedIn(context, { webSocket });
    const refused = rejectsWith((await follow(leaving)).next, 'LOGGED_OUT');
    await leaving.logout();
    await refused;
    const closing = await bed.loggedIn(context, { webSocket });
    const { next } = await follow(closing);
    const closed = once(sockets.at(-1)!, 'close');
    closing.close();
    assert.equal((await next).done, true);
    await closed;
  });

  test('a socket that is closed as if all was done comes back after a pause, longer each time', async (context) => {
    const server = new WebSocketServer({ port: 0, handleProtocols: () => 'graphql-transport-ws' });
    context.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const client = bed.client(context, { url: `http://127.0.0.1:${port}`, storage: await storedPair(bed) });
    const begunAt = performance.now();
    const told = client.subscribe(followChanges).next();
    for (let connections = 0; connections < 4; connections++) {
      const [socket] = (await once(server, 'connection')) as [WsWebSocket];
      socket.close(1000);
    }
    // At least 50 ms, 100 ms and 200 ms; less a little, as timers have it.
    assert.ok(performance.now() - begunAt > 340);
    client.close();
    assert.deepEqual(await told, { value: undefined, done: true });
  });

  test('a program that closes its client ends, also while the server is away', async (context) => {
    const client = bed.client(context, { url: 'http://127.0.0.1:9', storage: await storedPair(bed) });
    const told = client.subscribe(followChanges).next();
    client.close();
    assert.deepEqual(await told, { value: undefined, done: true });
  });

  test('what is told between two calls of next is kept in order', async (context) => {
    const client = await bed.loggedIn(context);
    const { cursor } = await client.query<{ cursor: string }>('{cursor}');
    for (const name of ['one', 'two', 'three']) await bed.mutate('createFolder', { name });
    const text = 'subscription($after: String){folderChanges(after: $after){folder{name}}}';
    const told = client.subscribe<{ folderChanges: { folder: { name: string } } }>(text, { after: cursor });
    const asked = await Promise.all([told.next(), told.next(), told.next()]);
    assert.deepEqual(
      asked.map(({ value }) => value!.folderChanges.folder.name),
      ['one', 'two', 'three'],
    );
    await told.return!();
    assert.equal((await told.next()).done, true);
  });
});

async function storedPair(bed: ClientBed) {
  const { authToken, refreshToken } = await bed.logIn(await bed.createUser());
  const tokens = {
    authToken,
    refreshToken,
    expiresAt: bed.testbed.clock.now() + 600_000,
    lifetimeSeconds: 600,
  };
  return { read: () => tokens, write: () => undefined };
}
