/** Signing in and out of the console, and its tabs after a session ends. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { BreakableConnection } from './breakable-connection.ts';
import { ConsoleTestbed } from './console-testbed.ts';
import { loadBudgets, totalOf, recordLoads } from './first-load.ts';

describe('the console on SQLite', () => {
  let testbed: ConsoleTestbed;
  before(async () => {
    testbed = await ConsoleTestbed.start();
  });
  afterEach(() => testbed.closeBrowsers());
  after(() => testbed.stop());

  test('rejects a wrong password with a message, and opens the requested page with the right one', async () => {
    const page = await testbed.newTab();
    await page.goto(testbed.address('/users'));
    testbed.expectFaults(/status of 401 .*\/login\)$/);
    await testbed.submitCredentials(page, 'admin', 'quince in brown paper');
    await page.getByRole('alert').getByText('The user name or the password is wrong.').waitFor();
    assert.equal(await page.getByLabel('Password').inputValue(), '');
    await testbed.signIn(page, 'admin');
    assert.equal(page.url(), testbed.address('/users'));
    assert.equal(await page.title(), 'Users · Espalier');
    await page.keyboard.press('Tab');
    assert.equal(await page.locator(':focus').innerText(), 'Skip to content');
  });

  test('loads less than 190 kB gzipped for the sign-in, and less than 250 kB for the tree', async (t) => {
    const page = await testbed.newTab();
    const readLoads = recordLoads(page);
    await page.goto(testbed.address());
    await page.getByLabel('User name').waitFor();
    const signInTotal = totalOf(readLoads());
    await testbed.signIn(page, 'admin');
    await page.getByRole('treeitem').first().waitFor();
    const sizes = readLoads();
    const total = totalOf(sizes);
    const format = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`;
    t.diagnostic(`${format(signInTotal)} for the sign-in, ${format(total)} in ${sizes.size} files`);
    assert.ok(signInTotal < loadBudgets.signInBytes, `${signInTotal}`);
    assert.ok([...sizes.keys()].some((name) => name.includes('folders-screen')));
    assert.ok(total < loadBudgets.treeBytes, JSON.stringify([...sizes]));
    assert.deepEqual(
      [...sizes.keys()].filter((name) => /explorer|monaco|graphiql|worker/i.test(name)),
      [],
    );
  });

  test('keeps the session after a reload, with tokens only in `sessionStorage`', async () => {
    const page = await testbed.openSignedIn('ada');
    await page.waitForURL('**/console/folders/shared');
    await page.reload();
    await testbed.waitUntilLive(page);
    const storages = await page.evaluate<[string, string, string]>(
      '[JSON.stringify(localStorage), document.cookie, JSON.stringify(sessionStorage)]',
    );
    assert.deepEqual(storages.slice(0, 2), ['{}', '']);
    assert.match(storages[2], /authToken/);
  });

  test('shares the session between tabs, and ends it in every tab on sign-out', async () => {
    const first = await testbed.openSignedIn('ada');
    const second = await testbed.newTab({}, first.context());
    await second.goto(testbed.address());
    await testbed.waitUntilLive(second);
    await second.getByRole('button', { name: 'Account of ada' }).click();
    await second.getByRole('menuitem', { name: 'Sign out' }).click();
    for (const tab of [second, first]) {
      await tab.getByRole('heading', { name: 'Sign in to Espalier' }).waitFor();
      assert.equal(await tab.getByRole('navigation').count(), 0);
    }
    await first.reload();
    await first.getByRole('heading', { name: 'Sign in to Espalier' }).waitFor();
  });

  test('shows that it is offline, and loads missed changes once online', async () => {
    const connection = await BreakableConnection.open(testbed.tree.server.url);
    const page = await testbed.newTab();
    await page.goto(`${connection.url}/console/`);
    await testbed.signIn(page, 'admin');
    testbed.expectFaults(/ERR_(INTERNET_DISCONNECTED|CONNECTION)|WebSocket/);
    connection.disconnect();
    await page.context().setOffline(true);
    await page.getByText('Offline', { exact: true }).waitFor();
    await testbed.tree.create('Made meanwhile');
    await connection.reconnect();
    await page.context().setOffline(false);
    await testbed.waitUntilLive(page);
    await page.getByRole('treeitem', { name: 'Made meanwhile' }).waitFor();
    await page.context().close();
    connection.disconnect();
  });

  test('reconnects after a connection loss that the browser does not report, and loads the missing data', async () => {
    const connection = await BreakableConnection.open(testbed.tree.server.url);
    const page = await testbed.newTab();
    await page.goto(`${connection.url}/console/`);
    await testbed.signIn(page, 'admin');
    const supplierRow = page.getByRole('treeitem', { name: 'Suppliers' });
    await supplierRow.waitFor();
    await page.getByRole('heading', { level: 1, name: 'Root' }).waitFor();
    testbed.expectFaults(/ERR_CONNECTION|WebSocket/);
    connection.disconnect();
    await page.getByText('Offline', { exact: true }).waitFor();
    await supplierRow.click();
    await page.getByText('This could not be loaded').waitFor();
    await connection.reconnect();
    await testbed.waitUntilLive(page);
    await page.getByRole('heading', { level: 1, name: 'Suppliers' }).waitFor();
    await page.context().close();
    connection.disconnect();
  });

  test("hides the administrators' screens from other users and explains why", async () => {
    const page = await testbed.openSignedIn('grace', '/users');
    await page.getByText('You do not have access to this').waitFor();
    await page.getByText('“Users” is only for administrators.').waitFor();
    const linkTexts = await page
      .getByRole('navigation', { name: 'Screens' })
      .getByRole('link')
      .allInnerTexts();
    assert.deepEqual(linkTexts, ['Folders', 'Trash', 'Explorer', 'API docs']);
    for (const part of [
      'groups',
      'sessions',
      'sign-ins',
      'api-keys',
      'overview',
      'journal',
      'keys',
      'settings',
    ]) {
      await page.goto(testbed.address(`/${part}`));
      await page.getByText('You do not have access to this').waitFor();
    }
  });

  test('shows why the overview cannot be refreshed, and no longer displays “Everything works”', async () => {
    const page = await testbed.openSignedIn('admin', '/overview', { hasServerTime: true });
    const verdict = page.getByRole('region', { name: 'Health' }).getByRole('status');
    await verdict.getByText('Everything works').waitFor();
    testbed.expectFaults(/status of 503 .*\/graphql\)$/);
    const message = 'The database cannot be used right now. Try again later.';
    await page.route('**/graphql', (route) =>
      route.request().postData()?.includes('query Overview')
        ? route.fulfill({ status: 503, json: { errors: [{ message, extensions: { code: 'UNAVAILABLE' } }] } })
        : route.continue(),
    );
    await eventually(async () => {
      await testbed.advanceSeconds(10, page);
      return (await verdict.innerText()) === 'The current health is unknown';
    }, 'the verdict changes');
    await page.getByRole('alert').getByText(`${message} The displayed data is from`).waitFor();
    assert.equal(await page.getByText('Works', { exact: true }).count(), 0);
    await page.unroute('**/graphql');
    await testbed.advanceSeconds(10, page);
    await verdict.getByText('Everything works').waitFor();
  });

  test('shows an unknown page with a link back', async () => {
    const page = await testbed.openSignedIn('ada', '/nothing/here');
    await page.getByText('There is no such page').waitFor();
    await page.getByRole('link', { name: 'Go to the folders' }).click();
    await page.waitForURL('**/console/folders');
  });

  test('shows past events and expiry times correctly if the clock of the server is ahead', async () => {
    const id = await testbed.tree.create('Ahead of the page');
    const page = await testbed.openSignedIn('admin', `/folders/${id}`, { hasServerTime: true });
    const changed = page.getByRole('region', { name: 'Facts' }).locator('time').nth(1);
    await changed.getByText('just now').waitFor();
    // The server's clock is ahead of the page by now.
    testbed.tree.server.clock.advanceSeconds(200);
    const at = new Date(testbed.tree.server.clock.now()).toISOString();
    await testbed.tree.mutate('updateFolder', { id, title: 'From the future' });
    await page
      .locator(`time[datetime^="${at.slice(0, 19)}"]`)
      .first()
      .waitFor();
    assert.equal(await changed.innerText(), 'just now');
    assert.match((await changed.getAttribute('title'))!, /^1 Mar 2026, \d\d:\d\d:\d\d$/);
    await page.goto(testbed.address('/sessions'));
    await page.getByRole('columnheader', { name: 'Expires' }).waitFor();
    const texts = await page.locator('main time').allInnerTexts();
    assert.ok(
      texts.some((text) => /^\d+ \w+ 2026$/.test(text)),
      texts.join(', '),
    );
    assert.ok(
      texts.every((text) => /^(just now|.* ago|in .*|\d+ \w+ 2026)$/.test(text)),
      texts.join(', '),
    );
    await testbed.tree.delete(id);
  });

  test('shows code and links in the descriptions of settings without Markdown characters', async () => {
    const page = await testbed.openSignedIn('admin', '/settings');
    await page.locator('.settings-item code').getByText('/console', { exact: true }).first().waitFor();
    assert.doesNotMatch(await page.locator('main').innerText(), /`|\]\(/);
  });

  test('shows the form without waiting for other tabs, and focuses the tree after signing in', async () => {
    const page = await testbed.newTab();
    // The timers of the page are stopped.
    await page.clock.install({ time: testbed.tree.server.clock.now() });
    await page.clock.pauseAt(testbed.tree.server.clock.now() + 1_000);
    await page.goto(testbed.address());
    await page.getByRole('heading', { name: 'Sign in to Espalier' }).waitFor();
    await page.clock.resume();
    await testbed.signIn(page, 'admin');
    await page.locator('[role=tree]:focus').waitFor();
    await page.keyboard.press('End');
    await page.getByRole('treeitem', { name: 'Suppliers' }).and(page.locator('[data-focused]')).waitFor();
  });
});
