/** Somebody else logs in where somebody was: nothing of the one is shown to, or done by, the other. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { tabStorage } from '@espalier/client';
import { sqlite } from '../support/databases.ts';
import { ClientBed, rejectsWith } from './client-bed.ts';
import { followChanges } from './told-changes.ts';

describe('another user', { timeout: 60_000 }, () => {
  let bed: ClientBed;
  before(async () => {
    bed = await ClientBed.start(sqlite);
  });
  after(() => bed.stop());

  test('ends what was followed; the same user, who logs in again, does not', async (context) => {
    const client = await bed.loggedIn(context);
    const tree = await client.watch();
    await client.login(client.person);
    const told = tree[Symbol.asyncIterator]().next();
    await bed.mutate('createFolder', { name: 'for the same' });
    assert.equal((await told).done, false);
    const changes = client.subscribe(followChanges).next();
    const ends = [rejectsWith(tree.closed, 'LOGGED_OUT'), rejectsWith(changes, 'LOGGED_OUT')];
    await client.login(await bed.createUser());
    await Promise.all(ends);
    assert.deepEqual(client.events, ['login', 'login', 'logout', 'login']);
  });

  test('who logs in in another tab ends what was followed in this one', async (context) => {
    const name = randomUUID();
    const open = () => bed.client(context, { storage: tabStorage({ name }) });
    const [tab, other] = [open(), open()];
    const heard = new Promise<void>((resolve) => other.onSession(() => resolve()));
    await tab.login(await bed.createUser({ isAdministrator: true }));
    await heard;
    const tree = await other.watch();
    const ended = rejectsWith(tree.closed, 'LOGGED_OUT');
    await tab.login(await bed.createUser());
    await ended;
    assert.deepEqual(other.events.slice(-2), ['logout', 'login']);
    assert.equal(other.wire.count('/login/refresh'), 0);
  });

  test('does not do again what was done before a reply was lost', async (context) => {
    const client = await bed.loggedIn(context);
    const next = await bed.createUser({ isAdministrator: true });
    client.wire.onRequest = (noted, send) => {
      if (!noted.headers.has('idempotency-key')) return undefined;
      client.wire.onRequest = () => undefined;
      return send().then(async () => {
        await client.login(next);
        throw new TypeError('fetch failed');
      });
    };
    const work = client.folders.importTree([{ name: 'once' }]);
    await rejectsWith(work, 'UNREACHABLE');
    assert.equal(client.wire.noted.filter(({ headers }) => headers.has('idempotency-key')).length, 1);
  });
});
