/** A second user logs in with the same client. The client must not show or repeat anything of the first user. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { tabStorage } from '@espalier/client';
import { sqlite } from '../support/databases.ts';
import { ClientTestbed, assertRejectsWith } from './client-testbed.ts';
import { followChanges } from './received-changes.ts';

describe('a login of another user', { timeout: 60_000 }, () => {
  let testbed: ClientTestbed;
  before(async () => {
    testbed = await ClientTestbed.start(sqlite);
  });
  after(() => testbed.stop());

  test('ends the subscriptions, unlike a new login of the same user', async (context) => {
    const client = await testbed.createLoggedInClient(context);
    const tree = await client.watch();
    await client.login(client.person);
    const change = tree[Symbol.asyncIterator]().next();
    await testbed.mutate('createFolder', { name: 'for the same' });
    assert.equal((await change).done, false);
    const changes = client.subscribe(followChanges).next();
    const rejections = [
      assertRejectsWith(tree.closed, 'LOGGED_OUT'),
      assertRejectsWith(changes, 'LOGGED_OUT'),
    ];
    await client.login(await testbed.createUser());
    await Promise.all(rejections);
    assert.deepEqual(client.events, ['login', 'login', 'logout', 'login']);
  });

  test('ends the subscriptions in another tab', async (context) => {
    const name = randomUUID();
    const open = () => testbed.createClient(context, { storage: tabStorage({ name }) });
    const [tab, other] = [open(), open()];
    const notified = new Promise<void>((resolve) => other.onSession(() => resolve()));
    await tab.login(await testbed.createUser({ isAdministrator: true }));
    await notified;
    const tree = await other.watch();
    const ended = assertRejectsWith(tree.closed, 'LOGGED_OUT');
    await tab.login(await testbed.createUser());
    await ended;
    assert.deepEqual(other.events.slice(-2), ['logout', 'login']);
    assert.equal(other.wire.countRequests('/login/refresh'), 0);
  });

  test('prevents the retry of a mutation that the first user sent', async (context) => {
    const client = await testbed.createLoggedInClient(context);
    const nextUser = await testbed.createUser({ isAdministrator: true });
    client.wire.onRequest = (request, send) => {
      if (!request.headers.has('idempotency-key')) return undefined;
      client.wire.onRequest = () => undefined;
      return send().then(async () => {
        await client.login(nextUser);
        throw new TypeError('fetch failed');
      });
    };
    const work = client.folders.importTree([{ name: 'once' }]);
    await assertRejectsWith(work, 'UNREACHABLE');
    assert.equal(client.wire.requests.filter(({ headers }) => headers.has('idempotency-key')).length, 1);
  });
});
