/** The client refreshes its tokens in time and only once, and does not lose its session by accident. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { EspalierError, memoryStorage } from '@espalier/client';
import { databaseKinds, sqlite } from '../support/databases.ts';
import { ClientTestbed, assertRejectsWith } from './client-testbed.ts';

const refreshPath = '/login/refresh';
const tokenSeconds = 600;

for (const kind of databaseKinds) {
  describe(`the client on ${kind.name}`, { timeout: 60_000 }, () => {
    let testbed: ClientTestbed;
    before(async () => {
      testbed = await ClientTestbed.start(kind);
    });
    after(() => testbed.stop());

    test('refreshes an auth token a minute before it expires, and not earlier', async (context) => {
      const client = await testbed.createLoggedInClient(context);
      await testbed.advanceSeconds(tokenSeconds - 61);
      assert.deepEqual(await client.query('{folder{name}}'), { folder: { name: 'Root' } });
      assert.equal(client.wire.countRequests(refreshPath), 0);
      await testbed.advanceSeconds(2);
      await client.query('{folder{name}}');
      assert.equal(client.wire.countRequests(refreshPath), 1);
      assert.equal(client.wire.countRequests('/graphql'), 2);
      assert.deepEqual(client.events, ['login', 'refresh']);
    });

    test('views the tree as another user until the viewing administrator loses the role', async (context) => {
      const storage = memoryStorage();
      const client = await testbed.createLoggedInClient(context, { storage });
      const viewedUser = await testbed.createUser();
      const folder = await client.folders.create({ name: `Folder of ${viewedUser.username}` });
      await testbed.mutate('grantAccess', { folderId: folder.id, userId: viewedUser.id, level: 'READ' });
      const { viewToken, expiresAt } = await client.startViewAs(viewedUser.id);
      assert.equal(Date.parse(expiresAt), testbed.server.clock.now() + 900_000);
      const view = testbed.createClient(context, { storage, viewAs: viewToken });
      const shared = await view.folders.shared().next();
      assert.equal((shared.value as { id: string }).id, folder.id);
      await assertRejectsWith(view.folders.create({ name: 'Never' }), 'FORBIDDEN');
      const viewer = await view.query('{viewer{user{id} viewedBy{id}}}');
      assert.deepEqual(viewer, {
        viewer: { user: { id: viewedUser.id }, viewedBy: { id: client.person.id } },
      });
      const { cursor } = await view.query<{ cursor: string }>('{cursor}');
      const subscription = view.subscribe<{ folderChanges: { folderId: string } }>(
        'subscription($after: String){folderChanges(after: $after){folderId}}',
        { after: cursor },
      );
      await client.folders.update(folder.id, { title: 'Changed' });
      const received = (await subscription.next()).value;
      assert.equal(received!.folderChanges.folderId, folder.id);
      await testbed.mutate('updateUser', { id: client.person.id, isAdministrator: false });
      await assertRejectsWith(subscription.next(), 'INVALID_VIEW_TOKEN');
      await assertRejectsWith(view.query('{folder{name}}'), 'INVALID_VIEW_TOKEN');
      assert.deepEqual(await client.query('{folder{name}}'), { folder: { name: 'Root' } });
      assert.deepEqual(client.events, ['login']);
    });

    test('refreshes once for twenty concurrent calls with an expired token', async (context) => {
      const client = await testbed.createLoggedInClient(context);
      await testbed.advanceSeconds(tokenSeconds + 1);
      const names = await Promise.all(Array.from({ length: 20 }, () => client.query('{folder{name}}')));
      assert.equal(names.length, 20);
      assert.equal(client.wire.countRequests(refreshPath), 1);
    });

    test('refreshes after a 401 with `token-expired`, and repeats the call', async (context) => {
      // The clock is stopped, so the client does not notice the expiry.
      const now = testbed.server.clock.now();
      const client = await testbed.createLoggedInClient(context, { clock: { now: () => now } });
      await testbed.advanceSeconds(tokenSeconds + 1);
      await Promise.all(Array.from({ length: 5 }, () => client.query('{folder{name}}')));
      assert.equal(client.wire.countRequests(refreshPath), 1);
      assert.equal(client.wire.countRequests('/graphql'), 10);
    });

    test('reports a revoked session with one `ended` event', async (context) => {
      const client = await testbed.createLoggedInClient(context);
      await testbed.mutate('revokeSessions', { userId: client.person.id });
      await Promise.all([1, 2, 3].map(() => assertRejectsWith(client.query('{folder{name}}'), 'LOGGED_OUT')));
      assert.equal(await client.isLoggedIn(), false);
      assert.deepEqual(client.events, ['login', 'ended']);
      client.wire.clear();
      await assertRejectsWith(client.query('{folder{name}}'), 'LOGGED_OUT');
      assert.deepEqual(client.wire.requests, []);
      await client.login(client.person);
      await client.query('{folder{name}}');
    });

    test('keeps its session if it shares a storage without a lock with another client', async (context) => {
      const storage = memoryStorage();
      const one = await testbed.createLoggedInClient(context, { storage });
      const other = testbed.createClient(context, { storage });
      for (let round = 0; round < 5; round++) {
        await testbed.advanceSeconds(tokenSeconds + 1);
        await Promise.all([one, other, one, other].map((client) => client.query('{folder{name}}')));
      }
      assert.equal(await one.verify(), true);
    });

    test('has no session after a login with a wrong password', async (context) => {
      const client = testbed.createClient(context);
      const { username } = await testbed.createUser();
      await assertRejectsWith(client.login({ username, password: 'another walnut' }), 'INVALID_CREDENTIALS');
      assert.equal(await client.isLoggedIn(), false);
      assert.equal(client.wire.requests.length, 1);
      await assertRejectsWith(client.query('{folder{name}}'), 'LOGGED_OUT');
    });

    test('logs out with the auth token, or with the refresh token if the auth token has expired', async (context) => {
      for (const seconds of [0, tokenSeconds + 1]) {
        const storage = memoryStorage();
        const client = await testbed.createLoggedInClient(context, { storage });
        const tokens = (await storage.read())!;
        await testbed.advanceSeconds(seconds);
        await client.logout();
        const [sent] = client.wire.requests;
        assert.equal(sent!.headers.has('authorization'), seconds === 0);
        assert.equal(client.wire.requests.length, 1);
        assert.equal((await testbed.server.refresh(tokens)).status, 401);
        assert.deepEqual(client.events, ['login', 'logout']);
        await client.logout();
        assert.equal(client.wire.requests.length, 1);
        assert.equal(await client.verify(), false);
      }
    });

    test('reports with verify() whether the server accepts the auth token', async (context) => {
      const client = await testbed.createLoggedInClient(context);
      assert.equal(await client.verify(), true);
      await testbed.advanceSeconds(tokenSeconds + 1);
      assert.equal(await client.verify(), false);
      await client.query('{folder{name}}');
      assert.equal(await client.verify(), true);
    });
  });

  describe(`a failed refresh on ${kind.name}`, { timeout: 60_000 }, () => {
    let testbed: ClientTestbed;
    before(async () => {
      testbed = await ClientTestbed.start(kind, { settings: { REFRESH_RETRY_SECONDS: '30' } });
    });
    after(() => testbed.stop());

    for (const [fault, applyFault] of [
      ['lost', 'dropReplies'],
      ['truncated', 'truncateReplies'],
    ] as const) {
      test(`is retried with the same tokens if its reply is ${fault}`, async (context) => {
        const client = await testbed.createLoggedInClient(context);
        await testbed.advanceSeconds(tokenSeconds + 1);
        client.wire[applyFault](refreshPath, 2);
        await Promise.all([1, 2, 3].map(() => client.query('{folder{name}}')));
        const refreshes = client.wire.requests.filter(({ path }) => path === refreshPath);
        assert.equal(refreshes.length, 3);
        assert.equal(new Set(refreshes.map(({ body }) => body)).size, 1);
        assert.deepEqual(client.events, ['login', 'refresh']);
      });
    }

    test('does not end the session if the server is overloaded', async (context) => {
      const client = await testbed.createLoggedInClient(context);
      await testbed.advanceSeconds(tokenSeconds + 1);
      for (const status of [500, 502, 503, 504, 429]) {
        client.wire.answer(refreshPath, 1, () => new Response('<html>', { status }));
        await client.query('{folder{name}}');
        assert.equal(await client.isLoggedIn(), true);
        await testbed.advanceSeconds(tokenSeconds + 1);
      }
      assert.ok(!client.events.includes('ended'));
    });
  });
}

describe('the client', { timeout: 60_000 }, () => {
  let testbed: ClientTestbed;
  before(async () => {
    testbed = await ClientTestbed.start(sqlite);
  });
  after(() => testbed.stop());

  test('reports how long to wait after a throttled login', async (context) => {
    const client = testbed.createClient(context);
    const { username, password } = await testbed.createUser();
    let failure: unknown;
    for (
      let tries = 0;
      tries < 60 && !(failure instanceof EspalierError && failure.status === 429);
      tries++
    ) {
      failure = await client.login({ username, password: `${password}!` }).catch((error: unknown) => error);
    }
    assert.ok(failure instanceof EspalierError);
    assert.equal(failure.code, 'TOO_MANY_ATTEMPTS');
    assert.ok(failure.retryAfterSeconds! >= 1);
    assert.ok(failure.requestId);
  });

  test('clears the tokens even if the logout does not reach the server', async (context) => {
    const client = await testbed.createLoggedInClient(context, { retrySeconds: 0 });
    client.wire.onRequest = () => Promise.reject(new TypeError('fetch failed'));
    await assertRejectsWith(client.logout(), 'UNREACHABLE');
    assert.equal(await client.isLoggedIn(), false);
    assert.deepEqual(client.events, ['login', 'logout']);
  });

  test('does not restore the session if a refresh is pending during a logout', async (context) => {
    const storage = memoryStorage();
    const client = await testbed.createLoggedInClient(context, { storage });
    await testbed.advanceSeconds(tokenSeconds + 1);
    const refreshStarted = Promise.withResolvers<void>();
    client.wire.onRequest = ({ path }, send) => {
      if (path !== refreshPath) return undefined;
      refreshStarted.resolve();
      return send().then(() => new Promise(() => undefined));
    };
    const query = assertRejectsWith(client.query('{folder{name}}'), 'LOGGED_OUT');
    await refreshStarted.promise;
    await client.logout();
    await query;
    assert.equal(await storage.read(), undefined);
  });

  test('keeps a new login that starts during a refresh of the old tokens', async (context) => {
    const client = await testbed.createLoggedInClient(context);
    const ben = await testbed.createUser();
    await testbed.advanceSeconds(tokenSeconds + 1);
    const refreshStarted = Promise.withResolvers<void>();
    const refreshReleased = Promise.withResolvers<void>();
    client.wire.onRequest = ({ path }, send) => {
      if (path !== refreshPath) return undefined;
      refreshStarted.resolve();
      return refreshReleased.promise.then(send);
    };
    const query = client.query('{viewer{user{username}}}');
    await refreshStarted.promise;
    await client.login(ben);
    refreshReleased.resolve();
    const expected = { viewer: { user: { username: ben.username } } };
    assert.deepEqual(await query, expected);
    assert.deepEqual(await client.query('{viewer{user{username}}}'), expected);
  });

  test('is not affected by a session listener that throws', async (context) => {
    const client = testbed.createClient(context);
    client.onSession(() => {
      throw new Error('Mistake.');
    });
    const events: string[] = [];
    const stop = client.onSession(({ type }) => events.push(type));
    await client.login(await testbed.createUser());
    stop();
    await client.logout();
    assert.deepEqual(events, ['login']);
  });

  test('keeps the session if the storage fails after a refresh', async (context) => {
    const storage = memoryStorage();
    let isFull = false;
    const write: typeof storage.write = (tokens) => {
      if (isFull) throw new Error('The disk is full.');
      return storage.write(tokens);
    };
    const client = await testbed.createLoggedInClient(context, { storage: { ...storage, write } });
    isFull = true;
    for (let expiry = 0; expiry < 2; expiry++) {
      await testbed.advanceSeconds(tokenSeconds + 1);
      await client.query('{folder{name}}');
    }
    isFull = false;
    await testbed.advanceSeconds(tokenSeconds + 1);
    await client.query('{folder{name}}');
    assert.equal((await storage.read())?.authToken, await client.authToken());
    assert.equal(client.wire.countRequests(refreshPath), 3);
    await client.logout();
    assert.equal(await client.isLoggedIn(), false);
  });
});
