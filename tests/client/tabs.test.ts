/** Two browser tabs that share a session: only one tab refreshes the tokens, even if both need new ones. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test, type TestContext } from 'node:test';
import { tabStorage } from '@espalier/client';
import { sqlite } from '../support/databases.ts';
import { ClientTestbed, assertRejectsWith, type TestClient } from './client-testbed.ts';
import { ReceivedChanges } from './received-changes.ts';

const tokenSeconds = 600;
const warningSeconds = 60;
const expiryCount = 10;

describe('two tabs', { timeout: 60_000 }, () => {
  let testbed: ClientTestbed;
  before(async () => {
    testbed = await ClientTestbed.start(sqlite);
  });
  after(() => testbed.stop());

  const openTabs = async (context: TestContext) => {
    const name = randomUUID();
    const areas = [createArea(), createArea()];
    const [one, other] = areas.map((area) =>
      testbed.createClient(context, { storage: tabStorage({ name, area }) }),
    );
    const person = await testbed.createUser({ isAdministrator: true });
    const event = nextEvent(other!);
    await one!.login(person);
    assert.equal(await event, 'login');
    assert.equal(await other!.isLoggedIn(), true);
    return { tabs: [one!, other!] as const, person };
  };
  const countRefreshes = (tabs: readonly TestClient[]) =>
    tabs.reduce((sum, { wire }) => sum + wire.countRequests('/login/refresh'), 0);

  test('refresh once when they wake at the same instant', async (context) => {
    const { tabs } = await openTabs(context);
    for (let expiry = 1; expiry <= expiryCount; expiry++) {
      await testbed.advanceSeconds(tokenSeconds + 1);
      await Promise.all([...tabs, ...tabs].map((tab) => tab.query('{folder{name}}')));
      assert.equal(countRefreshes(tabs), expiry);
    }
  });

  test('refresh once when both sockets get an expiry warning at the same instant', async (context) => {
    const { tabs } = await openTabs(context);
    const received = await Promise.all(tabs.map((tab) => ReceivedChanges.follow(testbed, tab)));
    const write = async (name: string) => {
      const counts = received.map(({ changes }) => changes.length);
      await testbed.mutate('createFolder', { name });
      await Promise.all(
        received.map((each, index) => each.waitUntil(() => each.changes.length > counts[index]!)),
      );
    };
    await write('before');
    for (let expiry = 1; expiry <= 3; expiry++) {
      const refreshed = tabs.map(nextEvent);
      await testbed.advanceSeconds(tokenSeconds - warningSeconds);
      await Promise.all(refreshed);
      await write(`after ${expiry}`);
      assert.equal(countRefreshes(tabs), expiry);
    }
    for (const each of received) await each.assertMissedNothing();
  });

  test('report a revoked session to the other tab as `ended`, not as a logout', async (context) => {
    const { tabs, person } = await openTabs(context);
    const [one, other] = tabs;
    const event = nextEvent(other);
    await testbed.mutate('revokeSessions', { userId: person.id });
    await assertRejectsWith(one.query('{folder{name}}'), 'LOGGED_OUT');
    assert.equal(await event, 'ended');
  });

  test('log out and log in together', async (context) => {
    const { tabs, person } = await openTabs(context);
    const [one, other] = tabs;
    let event = nextEvent(other);
    await one.logout();
    assert.equal(await event, 'logout');
    await assertRejectsWith(other.query('{folder{name}}'), 'LOGGED_OUT');
    event = nextEvent(other);
    await one.login(person);
    assert.equal(await event, 'login');
    await other.query('{folder{name}}');
  });

  test('keep the session even without Web Locks and BroadcastChannel', async (context) => {
    const { navigator, BroadcastChannel } = globalThis;
    const setGlobals = (values: object) =>
      Object.entries(values).forEach(([name, value]) =>
        Object.defineProperty(globalThis, name, { value: value as unknown, configurable: true }),
      );
    context.after(() => setGlobals({ navigator, BroadcastChannel }));
    setGlobals({ navigator: undefined, BroadcastChannel: undefined });
    // The tabs share one area, like localStorage.
    const area = createArea();
    const tabs = [1, 2].map(() => testbed.createClient(context, { storage: tabStorage({ area }) }));
    await tabs[0]!.login(await testbed.createUser());
    for (let expiry = 0; expiry < expiryCount; expiry++) {
      await testbed.advanceSeconds(tokenSeconds + 1);
      await Promise.all(tabs.map((tab) => tab.query('{folder{name}}')));
    }
    assert.deepEqual(
      tabs.flatMap(({ events }) => events).filter((type) => type === 'ended'),
      [],
    );
  });
});

function nextEvent(tab: TestClient): Promise<string> {
  return new Promise((resolve) => {
    const stop = tab.onSession(({ type }) => (stop(), resolve(type)));
  });
}

function createArea() {
  const items = new Map<string, string>();
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
  };
}
