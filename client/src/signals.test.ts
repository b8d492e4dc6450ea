/** Tests that a signal aborts every call: before it, during its request, during the wait for a retry, and during a shared refresh. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createClient, type CallOptions, type Client } from './client.ts';
import type { Clock } from './clock.ts';
import { memoryStorage } from './session/token-storage.ts';

const reason = new Error('The user has left the page.');
const json = (value: unknown, init?: ResponseInit) => Response.json(value, init);
const success = () => json({ data: { a: 1 } });
const busy = () =>
  json({ code: 'UNAVAILABLE', detail: 'Busy.' }, { status: 503, headers: { 'retry-after': '20' } });

/** Creates a logged-in client whose server answers with `reply`. */
function createScriptedClient(
  reply: (path: string) => Response | Promise<Response>,
  { expiresAt = Infinity, clock }: { expiresAt?: number; clock?: Clock } = {},
) {
  const url = 'http://server.test';
  const sent: string[] = [];
  const storage = memoryStorage();
  void storage.write({ authToken: 'auth', refreshToken: 'refresh', expiresAt, lifetimeSeconds: 600 });
  const send: typeof fetch = (input) => {
    const path = (input as string).slice(url.length);
    sent.push(path);
    return Promise.resolve(reply(path));
  };
  return { client: createClient({ url, storage, fetch: send, clock }), sent, storage };
}

const folderCalls: { [Name in keyof Client['folders']]: (client: Client, options: CallOptions) => unknown } =
  {
    root: ({ folders }, options) => folders.root(options),
    byId: ({ folders }, options) => folders.byId('1', options),
    byPath: ({ folders }, options) => folders.byPath('/a', options),
    children: ({ folders }, options) => folders.children('1', options).next(),
    descendants: ({ folders }, options) => folders.descendants('1', options).next(),
    search: ({ folders }, options) => folders.search('a', options).next(),
    create: ({ folders }, options) => folders.create({ name: 'a' }, options),
    update: ({ folders }, options) => folders.update('1', { title: 'a' }, options),
    move: ({ folders }, options) => folders.move('1', '2', options),
    delete: ({ folders }, options) => folders.delete('1', options),
    trash: ({ folders }, options) => folders.trash(options).next(),
    restore: ({ folders }, options) => folders.restore('1', options),
    purge: ({ folders }, options) => folders.purge('1', options),
    emptyTrash: ({ folders }, options) => folders.emptyTrash(options),
    duplicate: ({ folders }, options) => folders.duplicate('1', options),
    importTree: ({ folders }, options) => folders.importTree([], options),
    importList: ({ folders }, options) => folders.importList([], options),
    export: ({ folders }, options) => folders.export('1', options),
    effectiveAccess: ({ folders }, options) => folders.effectiveAccess('1', options).next(),
    shared: ({ folders }, options) => folders.shared(options).next(),
    favorites: ({ folders }, options) => folders.favorites(options).next(),
    recent: ({ folders }, options) => folders.recent(options),
    setFavorite: ({ folders }, options) => folders.setFavorite('1', true, options),
    visit: ({ folders }, options) => folders.visit('1', options),
  };
const sendingCalls: Record<string, (client: Client, options: CallOptions) => unknown> = {
  ...folderCalls,
  query: (client, options) => client.query('{a}', {}, options),
  mutate: (client, options) => client.mutate('mutation{a}', {}, options),
  startViewAs: (client, options) => client.startViewAs('1', options),
  watch: (client, options) => client.watch(options),
  login: (client, options) => client.login({ username: 'a', password: 'a wooden spoon' }, options),
  loginMethods: (client, options) => client.loginMethods(options),
  startEnrolment: (client, options) => client.startEnrolment('token', options),
  confirmEnrolment: (client, options) =>
    client.confirmEnrolment({ enrolmentToken: 'token', code: '123456' }, options),
  startPasskeyLogin: (client, options) => client.startPasskeyLogin(options),
  loginWithPasskey: (client, options) => client.loginWithPasskey({ challengeId: '1', response: {} }, options),
  logout: (client, options) => client.logout(options),
  verify: (client, options) => client.verify(options),
};
const calls: typeof sendingCalls = {
  ...sendingCalls,
  isLoggedIn: (client, options) => client.isLoggedIn(options),
  authToken: (client, options) => client.authToken(options),
  subscribe: (client, options) => client.subscribe('subscription{a}', {}, options).next(),
};

const assertAborted = (work: unknown, name: string) =>
  assert.rejects(
    Promise.resolve(work),
    (error) => error === reason,
    `${name} does not reject with the reason of the signal`,
  );

describe('a signal', { timeout: 30_000 }, () => {
  test('that is already aborted rejects a call before it sends anything', async () => {
    for (const [name, call] of Object.entries(calls)) {
      const { client, sent } = createScriptedClient(success);
      await assertAborted(call(client, { signal: AbortSignal.abort(reason) }), name);
      assert.deepEqual(sent, [], name);
      assert.ok(await client.isLoggedIn(), name);
    }
  });

  test('aborts the request of a call', async () => {
    for (const [name, call] of Object.entries(sendingCalls)) {
      const controller = new AbortController();
      const { client, sent } = createScriptedClient(() => {
        setImmediate(() => controller.abort(reason));
        return new Promise(() => undefined);
      });
      await assertAborted(call(client, { signal: controller.signal }), name);
      assert.equal(sent.length, 1, name);
    }
  });

  test('aborts the wait for a retry', async () => {
    for (const [name, call] of Object.entries(sendingCalls)) {
      const controller = new AbortController();
      let isAnswered = false;
      // The client reads the clock when it starts to wait.
      const now = () => {
        if (isAnswered) setImmediate(() => controller.abort(reason));
        return 0;
      };
      const answer = () => {
        isAnswered = true;
        return busy();
      };
      const { client, sent } = createScriptedClient(answer, { clock: { now } });
      // A logout does not wait that long.
      if (name === 'logout') continue;
      await assertAborted(call(client, { signal: controller.signal }), name);
      assert.equal(sent.length, 1, name);
    }
  });

  test('ends the wait of its call for a shared refresh, which continues for other calls', async () => {
    let answer: (() => void) | undefined;
    const refreshed = { authToken: 'new', refreshToken: 'new', expires_in: 600 };
    const { client, sent } = createScriptedClient(
      (path) => {
        if (path !== '/login/refresh') return success();
        return new Promise((resolve) => (answer = () => resolve(json(refreshed))));
      },
      { expiresAt: 0 },
    );
    const controller = new AbortController();
    const { signal } = controller;
    const aborted = [
      client.query('{a}', {}, { signal }),
      client.authToken({ signal }),
      client.subscribe('subscription{a}', {}, { signal }).next(),
    ];
    const other = client.query('{a}');
    while (!answer) await new Promise(setImmediate);
    controller.abort(reason);
    for (const work of aborted) await assertAborted(work, 'a call that waits for the refresh');
    answer();
    assert.deepEqual(await other, { a: 1 });
    assert.deepEqual(sent, ['/login/refresh', '/graphql']);
    assert.equal(await client.authToken(), 'new');
  });

  test('stops a login from storing tokens, but not a logout from deleting them', async () => {
    for (const name of ['login', 'logout']) {
      const controller = new AbortController();
      const { client, storage } = createScriptedClient(() => {
        controller.abort(reason);
        return new Promise(() => undefined);
      });
      await assertAborted(sendingCalls[name]!(client, { signal: controller.signal }), name);
      const tokens = await storage.read();
      assert.equal(tokens?.authToken, name === 'login' ? 'auth' : undefined);
    }
  });
});
