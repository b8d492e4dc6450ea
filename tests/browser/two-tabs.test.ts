/** Two tabs of a real browser share one session. Each time the auth token expires, one tab refreshes it once. */

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { sqlite } from '../support/databases.ts';
import { selectLength } from '../support/run-length.ts';
import { administrator, Testbed } from '../support/testbed.ts';
import { launchChromium, newContext } from './chromium.ts';
import { clientPage } from './client-page.ts';
import { PageServer } from './page-server.ts';

const expiryCount = selectLength({ short: 5, long: 20 });
const lifetimeSeconds = 600;
const concurrentCalls = 5;

describe('two tabs on SQLite', () => {
  let browser: Browser;
  let pages: PageServer;
  before(async () => {
    browser = await launchChromium();
    pages = await PageServer.start(clientPage);
  });
  after(async () => {
    await browser.close();
    pages.stop();
  });

  let testbed: Testbed;
  let context: BrowserContext;
  /** The statuses of all refresh responses. */
  let refreshes: number[];
  beforeEach(async () => {
    testbed = await Testbed.start(sqlite, { settings: { CORS_ORIGINS: pages.origin } });
    context = await newContext(browser);
    refreshes = [];
    context.on('response', (answer) => {
      if (new URL(answer.url()).pathname === '/login/refresh' && answer.request().method() === 'POST') {
        refreshes.push(answer.status());
      }
    });
  });
  afterEach(async () => {
    await context.close();
    await testbed.stop();
  });

  const openTab = async (storage: string): Promise<Page> => {
    const page = await context.newPage();
    page.on('pageerror', (error) => assert.fail(error));
    await page.clock.install({ time: testbed.clock.now() });
    await page.goto(pages.origin);
    await page.evaluate(`import('@espalier/client').then((espalier) => {
      window.events = [];
      window.client = espalier.createClient({
        url: ${JSON.stringify(testbed.url)}, storage: espalier.tabStorage(${storage}) });
      window.client.onSession(({ type }) => window.events.push(type));
    })`);
    return page;
  };
  const logIn = (page: Page) => page.evaluate(`client.login(${JSON.stringify(administrator)})`);
  const isLoggedIn = (page: Page) => page.evaluate<boolean>('client.isLoggedIn()');
  const query = (page: Page) =>
    page.evaluate<string[]>(`Promise.all(Array.from({ length: ${concurrentCalls} }, () =>
      client.query('{ folder { name } }').then(({ folder }) => folder.name)))`);
  const advanceSeconds = async (seconds: number, tabs: readonly Page[]) => {
    testbed.clock.advanceSeconds(seconds);
    await Promise.all(tabs.map((tab) => tab.clock.fastForward(seconds * 1000)));
  };

  for (const [area, storage] of [
    ['each with its sessionStorage', '{}'],
    ['with one localStorage', '{ area: localStorage }'],
  ] as const) {
    test(`refresh exactly once after each of ${expiryCount} expiries, ${area}`, async () => {
      const first = await openTab(storage);
      await logIn(first);
      const second = await openTab(storage);
      assert.equal(await isLoggedIn(second), true);
      const tabs = [first, second];
      for (let round = 1; round <= expiryCount; round++) {
        // Shortly before, at, or long after the expiry.
        await advanceSeconds([lifetimeSeconds - 30, lifetimeSeconds, 2 * lifetimeSeconds][round % 3]!, tabs);
        const answers = await Promise.all(tabs.map(query));
        assert.deepEqual(answers.flat(), Array(2 * concurrentCalls).fill('Root'));
        assert.deepEqual(refreshes, Array(round).fill(200));
      }
      const eventLists = await Promise.all(tabs.map((tab) => tab.evaluate<string[]>('events')));
      for (const events of eventLists) assert.ok(!events.includes('ended'), events.join());
    });
  }

  test('log out together', async () => {
    const first = await openTab('{}');
    await logIn(first);
    const second = await openTab('{}');
    await query(second);
    await second.evaluate('client.logout()');
    await first.waitForFunction("events.includes('logout')");
    assert.equal(await isLoggedIn(first), false);
    await assert.rejects(query(first), /LOGGED_OUT|logged in/);
  });

  test('stay logged in after a reload and after another tab closes', async () => {
    const first = await openTab('{}');
    await logIn(first);
    const second = await openTab('{}');
    await first.close();
    await advanceSeconds(lifetimeSeconds, [second]);
    assert.deepEqual(await query(second), Array(concurrentCalls).fill('Root'));
    await second.reload();
    await second.evaluate(`import('@espalier/client').then((espalier) => {
      window.client = espalier.createClient({ url: ${JSON.stringify(testbed.url)}, storage: espalier.tabStorage({}) }) })`);
    assert.deepEqual(await query(second), Array(concurrentCalls).fill('Root'));
    assert.deepEqual(refreshes, [200]);
  });
});
