/** The client's session on a real server: the client refreshes tokens in time and only once, and loses no session by accident. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { EspalierError, memoryStorage } from '@espalier/client';
import { databaseKinds, sqlite } from '../support/databases.ts';
import { ClientTestbed, assertRejectsWith } from './client-testbed.ts';

const refreshPath = '/login/refresh';
const tokenSeconds = 600;

for (const kind of databaseKinds) {
  describe(`client sessions on ${kind.name}`, { timeout: 60_000 }, () => {
    let testbed: ClientTestbed;
    before(async () => {
      testbed = await ClientTestbed.start(kind);
    });
    after(() => testbed.stop());

    test('refresh a token a minute before it expires, and not earlier', async (context) => {
      const client = await testbed.loggedIn(context);
      await testbed.elapse(tokenSeconds - 61);
      assert.deepEqual(await client.query('{folder{name}}'), { folder: { name: 'Root' } });
      assert.equal(client.wire.count(refreshPath), 0);
      await testbed.elapse(2);
      await client.query('{folder{name}}');
      assert.equal(client.wire.count(refreshPath), 1);
      assert.equal(client.wire.count('/graphql'), 2);
      assert.deepEqual(client.events, ['login', 'refresh']);
    });

    test('view the tree as another user in a second client, until the view ends', async (context) => {
      const storage = memoryStorage();
      const client = await testbed.loggedIn(context, { storage });
      const viewed = await testbed.createUser();
      const place = await client.folders.create({ name: `Place of ${viewed.username}` });
      await testbed.mutate('grantAccess', { folderId: place.id, userId: viewed.id, level: 'READ' });
      const { viewToken, expiresAt } = await client.startViewAs(viewed.id);
      assert.equal(Date.parse(expiresAt), testbed.server.clock.now() + 900_000);
      const view = testbed.client(context, { storage, viewAs: viewToken });
      const shared = await view.folders.shared().next();
      assert.equal((shared.value as { id: string }).id, place.id);
      await assertRejectsWith(view.folders.create({ name: 'Never' }), 'FORBIDDEN');
      const viewer = await view.query('{viewer{user{id} viewedBy{id}}}');
      assert.deepEqual(viewer, { viewer: { user: { id: viewed.id }, viewedBy: { id: client.person.id } } });
      const { cursor } = await view.query<{ cursor: string }>('{cursor}');
      const subscription = view.subscribe<{ folderChanges: { folderId: string } }>(
        'subscription($after: String){folderChanges(after: $after){folderId}}',
        { after: cursor },
      );
      await client.folders.update(place.id, { title: 'Changed' });
      const received = (await subscription.next()).value;
      assert.equal(received!.folderChanges.folderId, place.id);
      await testbed.mutate('updateUser', { id: client.person.id, isAdministrator: false });
      await assertRejectsWith(subscription.next(), 'INVALID_VIEW_TOKEN');
      await assertRejectsWith(view.query('{folder{name}}'), 'INVALID_VIEW_TOKEN');
      assert.deepEqual(await client.query('{folder{name}}'), { folder: { name: 'Root' } });
      assert.deepEqual(client.events, ['login']);
    });

    test('refresh once for twenty concurrent calls with an expired token', async (context) => {
      const client = await testbed.loggedIn(context);
      await testbed.elapse(tokenSeconds + 1);
      const names = await Promise.all(Array.from({ length: 20 }, () => client.query('{folder{name}}')));
      assert.equal(names.length, 20);
      assert.equal(client.wire.count(refreshPath), 1);
    });

    test('refresh after a 401 with token-expired and repeat the call', async (context) => {
      // The clock is stopped, so the client does not notice the expiry.
      const now = testbed.server.clock.now();
      const client = await testbed.loggedIn(context, { clock: { now: () => now } });
      await testbed.elapse(tokenSeconds + 1);
      await Promise.all(Array.from({ length: 5 }, () => client.query('{folder{name}}')));
      assert.equal(client.wire.count(refreshPath), 1);
      assert.equal(client.wire.count('/graphql'), 10);
    });

    test('end once when the server ends them, with one event', async (context) => {
      const client = await testbed.loggedIn(context);
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

    test('survive two clients that share a storage without a lock', async (context) => {
      const storage = memoryStorage();
      const one = await testbed.loggedIn(context, { storage });
      const other = testbed.client(context, { storage });
      for (let round = 0; round < 5; round++) {
        await testbed.elapse(tokenSeconds + 1);
        await Promise.all([one, other, one, other].map((client) => client.query('{folder{name}}')));
      }
      assert.equal(await one.verify(), true);
    });

    test('do not start with a wrong password', async (context) => {
      const client = testbed.client(context);
      const { username } = await testbed.createUser();
      await assertRejectsWith(client.login({ username, password: 'another walnut' }), 'INVALID_CREDENTIALS');
      assert.equal(await client.isLoggedIn(), false);
      assert.equal(client.wire.requests.length, 1);
      await assertRejectsWith(client.query('{folder{name}}'), 'LOGGED_OUT');
    });

    test('end on logout by the auth token, or by the refresh token if the auth token has expired', async (context) => {
      for (const seconds of [0, tokenSeconds + 1]) {
        const storage = memoryStorage();
        const client = await testbed.loggedIn(context, { storage });
        const tokens = (await storage.read())!;
        await testbed.elapse(seconds);
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

    test('report with verify whether the server accepts the auth token', async (context) => {
      const client = await testbed.loggedIn(context);
      assert.equal(await client.verify(), true);
      await testbed.elapse(tokenSeconds + 1);
      assert.equal(await client.verify(), false);
      await client.query('{folder{name}}');
      assert.equal(await client.verify(), true);
    });
  });

  describe(`lost replies to refreshes on ${kind.name}`, { timeout: 60_000 }, () => {
    let testbed: ClientTestbed;
    before(async () => {
      testbed = await ClientTestbed.start(kind, { settings: { REFRESH_RETRY_SECONDS: '30' } });
    });
    after(() => testbed.stop());

    for (const [what, lose] of [
      ['lost', 'loseReplies'],
      ['cut', 'cutReplies'],
    ] as const) {
      test(`cause a retry with the same tokens if a reply is ${what}`, async (context) => {
        const client = await testbed.loggedIn(context);
        await testbed.elapse(tokenSeconds + 1);
        client.wire[lose](refreshPath, 2);
        await Promise.all([1, 2, 3].map(() => client.query('{folder{name}}')));
        const refreshes = client.wire.requests.filter(({ path }) => path === refreshPath);
        assert.equal(refreshes.length, 3);
        assert.equal(new Set(refreshes.map(({ body }) => body)).size, 1);
        assert.deepEqual(client.events, ['login', 'refresh']);
      });
    }

    test('do not end the session if the server is overloaded', async (context) => {
      const client = await testbed.loggedIn(context);
      await testbed.elapse(tokenSeconds + 1);
      for (const status of [500, 502, 503, 504, 429]) {
        client.wire.answer(refreshPath, 1, () => new Response('<html>', { status }));
        await client.query('{folder{name}}');
        assert.equal(await client.isLoggedIn(), true);
        await testbed.elapse(tokenSeconds + 1);
      }
      assert.ok(!client.events.includes('ended'));
    });
  });
}

describe('client session failures', { timeout: 60_000 }, () => {
  let testbed: ClientTestbed;
  before(async () => {
    testbed = await ClientTestbed.start(sqlite);
  });
  after(() => testbed.stop());

  test('report the pause of a throttled login', async (context) => {
    const client = testbed.client(context);
    const { username, password } = await testbed.createUser();
    let refused: unknown;
    for (
      let tries = 0;
      tries < 60 && !(refused instanceof EspalierError && refused.status === 429);
      tries++
    ) {
      refused = await client.login({ username, password: `${password}!` }).catch((error: unknown) => error);
    }
    assert.ok(refused instanceof EspalierError);
    assert.equal(refused.code, 'TOO_MANY_ATTEMPTS');
    assert.ok(refused.retryAfterSeconds! >= 1);
    assert.ok(refused.requestId);
  });

  test('clear the tokens on a logout that does not reach the server, and report the failure', async (context) => {
    const client = await testbed.loggedIn(context, { retrySeconds: 0 });
    client.wire.onRequest = () => Promise.reject(new TypeError('fetch failed'));
    await assertRejectsWith(client.logout(), 'UNREACHABLE');
    assert.equal(await client.isLoggedIn(), false);
    assert.deepEqual(client.events, ['login', 'logout']);
  });

  test('do not restore the session if a refresh is pending during a logout', async (context) => {
    const storage = memoryStorage();
    const client = await testbed.loggedIn(context, { storage });
    await testbed.elapse(tokenSeconds + 1);
    const reached = Promise.withResolvers<void>();
    client.wire.onRequest = ({ path }, send) => {
      if (path !== refreshPath) return undefined;
      reached.resolve();
      return send().then(() => new Promise(() => undefined));
    };
    const query = assertRejectsWith(client.query('{folder{name}}'), 'LOGGED_OUT');
    await reached.promise;
    await client.logout();
    await query;
    assert.equal(await storage.read(), undefined);
  });

  test('keep a new login that starts while the old tokens are refreshed', async (context) => {
    const client = await testbed.loggedIn(context);
    const ben = await testbed.createUser();
    await testbed.elapse(tokenSeconds + 1);
    const reached = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    client.wire.onRequest = ({ path }, send) => {
      if (path !== refreshPath) return undefined;
      reached.resolve();
      return released.promise.then(send);
    };
    const query = client.query('{viewer{user{username}}}');
    await reached.promise;
    await client.login(ben);
    released.resolve();
    const expected = { viewer: { user: { username: ben.username } } };
    assert.deepEqual(await query, expected);
    assert.deepEqual(await client.query('{viewer{user{username}}}'), expected);
  });

  test('are not caused by a listener that throws', async (context) => {
    const client = testbed.client(context);
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

  test('keep the session if the storage fails after a refresh', async (context) => {
    const storage = memoryStorage();
    let isFull = false;
    const write: typeof storage.write = (tokens) => {
      if (isFull) throw new Error('The disk is full.');
      return storage.write(tokens);
    };
    const client = await testbed.loggedIn(context, { storage: { ...storage, write } });
    isFull = true;
    for (let expired = 0; expired < 2; expired++) {
      await testbed.elapse(tokenSeconds + 1);
      await client.query('{folder{name}}');
    }
    isFull = false;
    await testbed.elapse(tokenSeconds + 1);
    await client.query('{folder{name}}');
    assert.equal((await storage.read())?.authToken, await client.authToken());
    assert.equal(client.wire.count(refreshPath), 3);
    await client.logout();
    assert.equal(await client.isLoggedIn(), false);
  });
});
