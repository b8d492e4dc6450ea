/** A client with an API key instead of a session. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { inspect } from 'node:util';
import { after, before, describe, test, type TestContext } from 'node:test';
import {
  authorizedFetch,
  createClient,
  EspalierError,
  memoryStorage,
  type ClientOptions,
  type TreeChange,
} from '@espalier/client';
import { WebSocket as WsWebSocket } from 'ws';
import { databaseKinds } from '../support/databases.ts';
import { ClientTestbed, assertRejectsWith } from './client-testbed.ts';
import { followChanges, ReceivedChanges } from './received-changes.ts';
import { Wire } from './wire.ts';

/** A key with a right form that no server knows. */
const unknownKey = `esp_${'0'.repeat(54)}`;

const isInvalidKey = (error: unknown) => error instanceof EspalierError && error.code === 'INVALID_API_KEY';

const options = { url: 'http://localhost', apiKey: unknownKey };
/** `@ts-expect-error` fails to compile if the types allow a key together with a session. */
// @ts-expect-error A key, and a storage for a session.
void ({ ...options, storage: memoryStorage() } satisfies ClientOptions);
// @ts-expect-error A key, and a view, which needs a session.
void ({ ...options, viewAs: 'token' } satisfies ClientOptions);

for (const kind of databaseKinds) {
  describe(`a client with an API key on ${kind.name}`, { timeout: 90_000 }, () => {
    let testbed: ClientTestbed;
    let place: string;
    before(async () => {
      testbed = await ClientTestbed.start(kind);
      place = await createFolder('Place');
      await createFolder('Room', place);
      await createFolder('Secret');
    });
    after(() => testbed.stop());

    const createFolder = async (name: string, parentId?: string) =>
      (await testbed.mutate<{ folder: { id: string } }>('createFolder', { name, parentId }, 'folder{id}'))
        .folder.id;

    const createKey = async (input: object = {}) => {
      const { key, apiKey } = await testbed.mutate<{ key: string; apiKey: { id: string } }>(
        'createApiKey',
        { name: 'program', level: 'MANAGE', ...input },
        'key apiKey{id}',
      );
      return { key, revoke: () => testbed.mutate('revokeApiKey', { id: apiKey.id }, '__typename') };
    };

    const connect = (test: TestContext, apiKey: string) => {
      const wire = new Wire();
      const sockets: WsWebSocket[] = [];
      class TrackedSocket extends WsWebSocket {
        constructor(...args: ConstructorParameters<typeof WsWebSocket>) {
          super(...args);
          sockets.push(this);
        }
      }
      const { url, clock } = testbed.server;
      const webSocket = TrackedSocket as unknown as typeof WebSocket;
      const client = createClient({ url, clock, fetch: wire.fetch, webSocket, apiKey });
      test.after(() => client.close());
      return { client, wire, sockets };
    };

    test('sends the key in headers and in the first message of a socket, never in a URL', async (context) => {
      const { key } = await createKey();
      const { client, wire, sockets } = connect(context, `${key}\n`);
      assert.equal((await client.folders.root()).name, 'Root');
      const tree = await client.watch();
      const change = tree[Symbol.asyncIterator]().next();
      await client.folders.create({ name: 'By a program' });
      assert.equal(((await change).value as TreeChange).path, '/By a program');
      assert.deepEqual(
        new Set(wire.requests.map(({ headers }) => headers.get('authorization'))),
        new Set([`Bearer ${key}`]),
      );
      assert.deepEqual(new Set(wire.requests.map(({ path }) => path)), new Set(['/graphql']));
      assert.ok(wire.requests.every(({ body }) => !body.includes(key)));
      assert.ok(sockets.length > 0 && sockets.every(({ url }) => !url.includes('esp_')));
      assert.ok(!inspect(client, { depth: 9, showHidden: true }).includes(key));
    });

    test('watches only the folder of a confined key', async (context) => {
      const { key } = await createKey({ level: 'READ', folderId: place });
      const { client } = connect(context, key);
      const tree = await client.watch({ under: place });
      assert.deepEqual(
        tree.children(place).map(({ name }) => name),
        ['Room'],
      );
      const changes: (string | null)[] = [];
      const changed = new Promise<void>((resolve) => {
        tree.onChange(({ path }) => {
          changes.push(path);
          resolve();
        });
      });
      await createFolder(`Hidden ${Math.random()}`);
      await createFolder('Desk', place);
      await changed;
      assert.deepEqual(changes, ['/Desk']);
      const whole = await client.watch();
      assert.deepEqual(
        whole.children(whole.root!.id).map(({ name }) => name),
        ['Place'],
      );
      await assertRejectsWith(client.folders.create({ name: 'x', parentId: place }), 'FORBIDDEN');
    });

    test('ends subscriptions and watched trees when the key is revoked, without another attempt', async (context) => {
      const { key, revoke } = await createKey();
      const { client, wire, sockets } = connect(context, key);
      const tree = await client.watch();
      const received = await ReceivedChanges.follow(testbed, client);
      const applied = new Promise<void>((resolve) => tree.onChange(() => resolve()));
      await createFolder(`Change ${Math.random()}`);
      await received.waitUntil(() => received.changes.length === 1 || received.endReason !== undefined);
      await applied;
      const requests = wire.requests.length;
      const closed = once(sockets[0]!, 'close');
      await revoke();
      await assertRejectsWith(tree.closed, 'INVALID_API_KEY');
      await received.waitUntil(() => received.endReason !== undefined);
      assert.ok(isInvalidKey(received.endReason));
      assert.ok(!inspect(received.endReason, { depth: 9 }).includes(key));
      await closed;
      assert.equal(wire.requests.length, requests);
      assert.equal(sockets.length, 1);
      assert.equal(client.connectionState, 'idle');
    });

    test('rejects with the reason of the server, after one request', async (context) => {
      const { clock } = testbed.server;
      const expiresAt = new Date(clock.now() + 1_000).toISOString();
      const expired = await createKey({ expiresAt });
      const revoked = await createKey();
      await revoked.revoke();
      clock.advanceSeconds(1);
      const elsewhere = await createKey({ networks: ['192.0.2.0/24'] });
      for (const [{ key }, message] of [
        [expired, /^This API key has expired/],
        [revoked, /^This API key was revoked/],
        [elsewhere, /^This API key may not be used from the network/],
        [{ key: unknownKey }, /^This API key has a wrong form or checksum/],
      ] as const) {
        const { client, wire, sockets } = connect(context, key);
        await assert.rejects(client.query('{folder{name}}'), { code: 'INVALID_API_KEY', message });
        assert.equal(wire.requests.length, 1);
        await assertRejectsWith(client.subscribe(followChanges).next(), 'INVALID_API_KEY');
        assert.equal(sockets.length, 1);
        await assertRejectsWith(authorizedFetch(client)(`${client.url}/graphql`), 'INVALID_API_KEY');
      }
    });

    test('works again after its user was disabled and enabled', async (context) => {
      const { user } = await testbed.mutate<{ user: { id: string } }>(
        'createUser',
        { kind: 'SERVICE', username: `robot ${Math.random()}` },
        'user{id}',
      );
      const { key } = await createKey({ userId: user.id });
      const { client } = connect(context, key);
      await client.query('{folder{name}}');
      await testbed.mutate('updateUser', { id: user.id, isDisabled: true });
      await assertRejectsWith(client.subscribe(followChanges).next(), 'INVALID_API_KEY');
      await testbed.mutate('updateUser', { id: user.id, isDisabled: false });
      await client.query('{folder{name}}');
      const tree = await client.watch();
      tree.close();
    });

    test('keeps its socket when the server warns that the key expires', async (context) => {
      const { clock } = testbed.server;
      const { key } = await createKey({ expiresAt: new Date(clock.now() + 120_000).toISOString() });
      const { client, wire, sockets } = connect(context, key);
      const received = await ReceivedChanges.follow(testbed, client);
      const receiveNext = async () => {
        const count = received.changes.length;
        await createFolder(`Warned ${Math.random()}`);
        await received.waitUntil(() => received.changes.length > count || received.endReason !== undefined);
      };
      await receiveNext();
      await testbed.advanceSeconds(90);
      await receiveNext();
      assert.equal(received.endReason, undefined);
      assert.equal(sockets.length, 1);
      await testbed.advanceSeconds(31);
      await received.waitUntil(() => received.endReason !== undefined);
      assert.ok(isInvalidKey(received.endReason));
      assert.equal(sockets.length, 1);
      assert.equal(wire.requests.length, 0);
    });

    test('has no session', async (context) => {
      const { key } = await createKey();
      const { client, wire } = connect(context, key);
      const calls: (() => Promise<unknown>)[] = [
        () => client.login({ username: 'admin', password: 'walnut cabin' }),
        () => client.logout(),
        () => client.verify(),
        () => client.startSingleSignOn(),
        () => client.startPasskeyLogin(),
        () => client.startViewAs('x'),
      ];
      for (const call of calls) {
        await assert.rejects(call(), { code: 'FORBIDDEN', message: /needs a session/ });
      }
      assert.equal(await client.isLoggedIn(), false);
      assert.equal(await client.authToken(), key);
      assert.equal(wire.requests.length, 0);
    });
  });
}

describe('createClient() with an API key', () => {
  test('refuses a text that is not an API key, without repeating it', () => {
    const secret = 'walnut-cabin-of-mine';
    for (const apiKey of ['', 'esp_', secret, `esp_${secret}`, null as never, 7 as never]) {
      assert.throws(
        () => createClient({ url: 'http://localhost', apiKey }),
        (error: Error & { code?: string }) => error.code === 'BAD_INPUT' && !error.message.includes(secret),
      );
    }
  });
});
