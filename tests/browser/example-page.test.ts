/** Runs examples/browser/index.html in a real browser, from its own origin. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { Browser, BrowserContext, Page, Response } from 'playwright-core';
import { sqlite } from '../support/databases.ts';
import { administrator } from '../support/testbed.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';
import { launchChromium, newContext } from './chromium.ts';
import { filesIn, PageServer } from './page-server.ts';

describe('examples/browser/index.html on SQLite', () => {
  let browser: Browser;
  let pages: PageServer;
  before(async () => {
    browser = await launchChromium();
    pages = await PageServer.start(filesIn(join(import.meta.dirname, '../../examples/browser')));
  });
  after(async () => {
    await browser.close();
    pages.stop();
  });

  let tree: TreeTestbed;
  let context: BrowserContext;
  let page: Page;
  beforeEach(async () => {
    tree = await TreeTestbed.start(sqlite, { settings: { CORS_ORIGINS: pages.origin } });
    // The size of a small phone.
    context = await newContext(browser, { viewport: { width: 380, height: 700 } });
    page = await context.newPage();
    page.on('pageerror', (error) => assert.fail(error));
    // The test controls the timers of the page.
    await page.clock.install();
    await page.goto(pages.origin);
  });
  afterEach(async () => {
    await context.close();
    await tree.stop();
  });

  const logIn = async (password = administrator.password) => {
    await page.getByLabel('Server').fill(tree.server.url);
    await page.getByLabel('User name').fill(administrator.username);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Log in' }).click();
  };
  const folders = () => page.locator('#folders li');
  const waitForResponse = (path: string, status: number) =>
    page.waitForResponse((answer) => new URL(answer.url()).pathname === path && answer.status() === status);
  const bodyOf = async (answer: Response) => (await answer.json()) as { authToken: string };

  test('logs in, lists the top-level folders and follows their changes', async () => {
    const garden = await tree.create('Garden');
    await tree.create('Beds', garden);
    await logIn();
    await page.getByText('Live').waitFor();
    assert.deepEqual(await folders().allInnerTexts(), ['Garden\n1']);
    assert.equal(await page.locator('#who').innerText(), 'admin');

    await tree.create('<b>Orchard');
    await page.getByRole('heading', { name: '2 folders' }).waitFor();
    assert.deepEqual(await folders().allInnerTexts(), ['<b>Orchard', 'Garden\n1']);
    assert.equal(await page.locator('#changes').innerText(), '/<b>Orchard\nCREATE');
  });

  test('fits on a small screen and shows more on request', async () => {
    await tree.import(Array.from({ length: 60 }, (_, number) => `Folder ${number} ${'long'.repeat(40)}`));
    await logIn();
    await page.getByRole('heading', { name: '60 folders' }).waitFor();
    assert.equal(await folders().count(), 50);
    await page.getByRole('button', { name: 'Show more' }).click();
    await folders().nth(59).waitFor();
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    assert.ok(width <= 380, `the page is ${width} pixels wide`);
  });

  test('refreshes early and extends its socket with the new token', async () => {
    const socketOpened = page.waitForEvent('websocket');
    await logIn();
    await page.getByText('Live').waitFor();
    const refreshed = waitForResponse('/login/refresh', 200);
    const acknowledged = (await socketOpened).waitForEvent('framereceived', ({ payload }) =>
      /"pong"/.test(String(payload)),
    );
    tree.server.clock.advanceSeconds(500);
    await page.clock.fastForward(500_000);
    await Promise.all([refreshed, acknowledged]);
    // The first token has expired, and the socket is still open.
    tree.server.clock.advanceSeconds(200);
    ({ authToken: tree.authToken } = await tree.server.logIn());
    await tree.create('Garden');
    await folders().first().waitFor();
    assert.equal(await page.locator('#live').innerText(), 'Live');
  });

  test('refreshes when a response says that the token has expired, and repeats the request', async () => {
    // Without a socket, which would warn earlier.
    await page.routeWebSocket('**/graphql', () => undefined);
    await tree.import(Array.from({ length: 51 }, (_, number) => `Folder ${number}`));
    await logIn();
    await page.getByRole('button', { name: 'Show more' }).waitFor();
    tree.server.clock.advanceSeconds(601);
    const [refused, refreshed] = await Promise.all([
      waitForResponse('/graphql', 401),
      waitForResponse('/login/refresh', 200),
      page.getByRole('button', { name: 'Show more' }).click(),
    ]);
    assert.equal(refused.headers()['token-expired'], 'true');
    await folders().nth(50).waitFor();
    assert.ok((await bodyOf(refreshed)).authToken);
  });

  test('reconnects when its socket is closed', async () => {
    await logIn();
    await page.getByText('Live').waitFor();
    // Long after the expiry, because the timers of the page were suspended.
    tree.server.clock.advanceSeconds(700);
    await page.getByText('Connecting…').waitFor();
    ({ authToken: tree.authToken } = await tree.server.logIn());
    await tree.create('Garden');
    await page.clock.runFor(1_100);
    await folders().first().waitFor();
    assert.deepEqual(await folders().allInnerTexts(), ['Garden']);
  });

  test('logs out and leaves no data of the session', async () => {
    const tokens = waitForResponse('/login', 200).then(bodyOf);
    await tree.create('Garden');
    await logIn();
    await page.getByText('Live').waitFor();
    await Promise.all([
      waitForResponse('/logout', 204),
      page.getByRole('button', { name: 'Log out' }).click(),
    ]);
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    assert.equal(await page.getByLabel('Password').inputValue(), '');
    assert.equal(await folders().count(), 0);
    assert.equal((await context.storageState()).origins.length, 0);
    const endedSession = (await tokens) as { authToken: string; refreshToken: string };
    assert.equal((await tree.server.refresh(endedSession)).status, 401);
  });

  test('shows the reason of a failure: a wrong password, an ended session, an unreachable server', async () => {
    const alert = page.getByRole('alert');
    await logIn('walnut cabin wrong');
    await alert.getByText('The user name or the password is wrong').waitFor();

    await logIn();
    await page.getByText('Live').waitFor();
    await tree.mutate('revokeSessions', {});
    await alert.getByText('Your session has ended').waitFor();

    await page.getByLabel('Server').fill('http://127.0.0.1:9');
    await page.getByRole('button', { name: 'Log in' }).click();
    await alert
      .getByText(`Cannot reach http://127.0.0.1:9. Start it with ESPALIER_CORS_ORIGINS=${pages.origin}`)
      .waitFor();
  });
});
