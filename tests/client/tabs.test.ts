/** Two tabs of a browser that share a session: each pair of tokens is exchanged once, whoever needs it. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test, type TestContext } from 'node:test';
import { tabStorage } from '@espalier/client';
import { sqlite } from '../support/databases.ts';
import { ClientBed, rejectsWith, type BedClient } from './client-bed.ts';
import { ToldChanges } from './told-changes.ts';

const tokenSeconds = 600;
const warningSeconds = 60;
const expiries = 10;

describe('tabs', { timeout: 60_000 }, () => {
  let bed: ClientBed;
  before(async () => {
    bed = await ClientBed.start(sqlite);
  });
  after(() => bed.stop());

  const openTabs = async (context: TestContext) => {
    const name = randomUUID();
    const areas = [createArea(), createArea()];
    const [one, other] = areas.map((area) => bed.client(context, { storage: tabStorage({ name, area }) }));
    const person = await bed.createUser({ isAdministrator: true });
    const event = nextEvent(other!);
    await one!.login(person);
    assert.equal(await event, 'login');
    assert.equal(await other!.isLoggedIn(), true);
    return { tabs: [one!, other!] as const, person };
  };
  const refreshes = (tabs: readonly BedClient[]) =>
    tabs.reduce((sum, { wire }) => sum + wire.count('/login/refresh'), 0);

  test('tabs that wake at the same instant exchange the pair once', async (context) => {
    const { tabs } = await openTabs(context);
    for (let expired = 1; expired <= expiries; expired++) {
      await bed.elapse(tokenSeconds + 1);
      await Promise.all([...tabs, ...tabs].map((tab) => tab.query('{folder{name}}')));
      assert.equal(refreshes(tabs), expired);
    }
  });

  test('tabs whose sockets are warned at the same instant exchange the pair once', async (context) => {
    const { tabs } = await openTabs(context);
    const told = await Promise.all(tabs.map((tab) => ToldChanges.follow(bed, tab)));
    const write = async (name: string) => {
      const counts = told.map(({ changes }) => changes.length);
      await bed.mutate('createFolder', { name });
      await Promise.all(told.map((each, index) => each.until(() => each.changes.length > counts[index]!)));
    };
    await write('before');
    for (let expired = 1; expired <= 3; expired++) {
      const prolonged = tabs.map(nextEvent);
      await bed.elapse(tokenSeconds - warningSeconds);
      await Promise.all(prolonged);
      await write(`after ${expired}`);
      assert.equal(refreshes(tabs), expired);
    }
    for (const each of told) await each.assertMissedNothing();
  });

  test('a session that was ended is no logout in the tab that hears of it from the other', async (context) => {
    const { tabs, person } = await openTabs(context);
    const [one, other] = tabs;
    const event = nextEvent(other);
    await bed.mutate('revokeSessions', { userId: person.id });
    await rejectsWith(one.query('{folder{name}}'), 'LOGGED_OUT');
    assert.equal(await event, 'ended');
  });

  test('a logout in one tab is one in the other, and a login, too', async (context) => {
    const { tabs, person } = await openTabs(context);
    const [one, other] = tabs;
    let event = nextEvent(other);
    await one.logout();
    assert.equal(await event, 'logout');
    await rejectsWith(other.query('{folder{name}}'), 'LOGGED_OUT');
    event = nextEvent(other);
    await one.login(person);
    assert.equal(await event, 'login');
    await other.query('{folder{name}}');
  });

  test('without locks and channels nobody is logged out by the other', async (context) => {
    const { navigator, BroadcastChannel } = globalThis;
    const hide = (given: object) =>
      Object.entries(given).forEach(([name, value]) =>
        Object.defineProperty(globalThis, name, { value: value as unknown, configurable: true }),
      );
    context.after(() => hide({ navigator, BroadcastChannel }));
    hide({ navigator: undefined, BroadcastChannel: undefined });
    // They share an area, as with localStorage.
    const area = createArea();
    const tabs = [1, 2].map(() => bed.client(context, { storage: tabStorage({ area }) }));
    await tabs[0]!.login(await bed.createUser());
    for (let expired = 0; expired < expiries; expired++) {
      await bed.elapse(tokenSeconds + 1);
      await Promise.all(tabs.map((tab) => tab.query('{folder{name}}')));
    }
    assert.deepEqual(
      tabs.flatMap(({ events }) => events).filter((type) => type === 'ended'),
      [],
    );
  });
});

function nextEvent(tab: BedClient): Promise<string> {
  return new Promise((resolve) => {
    const stop = tab.onSession(({ type }) => (stop(), resolve(type)));
  });
}

function createArea() {
  const held = new Map<string, string>();
  return {
    getItem: (key: string) => held.get(key) ?? null,
    setItem: (key: string, value: string) => void held.set(key, value),
  };
}
