/** Signing in and out of the console, and what becomes of its tabs when a session ends. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { Cable } from './cable.ts';
import { ConsoleBed } from './console-bed.ts';
import { firstLoadBudgetBytes, totalOf, watchLoads } from './first-load.ts';

describe('the session of a console on SQLite', () => {
  let bed: ConsoleBed;
  before(async () => {
    bed = await ConsoleBed.start();
  });
  afterEach(() => bed.closeBrowsers());
  after(() => bed.stop());

  test('who has a wrong password is told so, and is let in with the right one, to where they wanted', async () => {
    const page = await bed.newTab();
    await page.goto(bed.address('/users'));
    bed.expectFaults(/status of 401 .*\/login\)$/);
    await bed.fillIn(page, 'admin', 'quince in brown paper');
    await page.getByRole('alert').getByText('The user name or the password is not right.').waitFor();
    assert.equal(await page.getByLabel('Password').inputValue(), '');
    await bed.signIn(page, 'admin');
    assert.equal(page.url(), bed.address('/users'));
    assert.equal(await page.title(), 'Users · Espalier');
    await page.keyboard.press('Tab');
    assert.equal(await page.locator(':focus').innerText(), 'Skip to content');
  });

  test('the first screen takes less than 250 kB, gzipped, and nothing of the explorer', async (t) => {
    const page = await bed.newTab();
    const loaded = watchLoads(page);
    await page.goto(bed.address());
    await bed.signIn(page, 'admin');
    await page.getByRole('treeitem').first().waitFor();
    const sizes = loaded();
    const total = totalOf(sizes);
    t.diagnostic(`${(total / 1000).toFixed(1)} kB in ${sizes.size} files`);
    assert.ok([...sizes.keys()].some((name) => name.includes('folders-screen')));
    assert.ok(total < firstLoadBudgetBytes, JSON.stringify([...sizes]));
    assert.deepEqual(
      [...sizes.keys()].filter((name) => /explorer|monaco|graphiql|worker/i.test(name)),
      [],
    );
  });

  test('a reload stays signed in, and the tokens are nowhere but in the tab', async () => {
    const page = await bed.signedIn('ada');
    await page.waitForURL('**/console/folders');
    await page.reload();
    await bed.isLive(page);
    const kept = await page.evaluate<[string, string, string]>(
      '[JSON.stringify(localStorage), document.cookie, JSON.stringify(sessionStorage)]',
    );
    assert.deepEqual(kept.slice(0, 2), ['{}', '']);
    assert.match(kept[2], /authToken/);
  });

  test('tabs share a session, and who signs out in one is out in all', async () => {
    const first = await bed.signedIn('ada');
    const second = await bed.newTab({}, first.context());
    await second.goto(bed.address());
    await bed.isLive(second);
    await second.getByRole('button', { name: 'Account of ada' }).click();
    await second.getByRole('menuitem', { name: 'Sign out' }).click();
    for (const tab of [second, first]) {
      await tab.getByRole('heading', { name: 'Sign in to Espalier' }).waitFor();
      assert.equal(await tab.getByRole('navigation').count(), 0);
    }
    await first.reload();
    await first.getByRole('heading', { name: 'Sign in to Espalier' }).waitFor();
  });

  test('offline it says so, and back online it catches up', async () => {
    const cable = await Cable.lay(bed.tree.testbed.url);
    const page = await bed.newTab();
    await page.goto(`${cable.url}/console/`);
    await bed.signIn(page, 'admin');
    bed.expectFaults(/ERR_(INTERNET_DISCONNECTED|CONNECTION)|WebSocket/);
    cable.pull();
    await page.context().setOffline(true);
    await page.getByText('Offline', { exact: true }).waitFor();
    await bed.tree.create('Made meanwhile');
    await cable.plugIn();
    await page.context().setOffline(false);
    await bed.isLive(page);
    await page.getByRole('treeitem', { name: 'Made meanwhile' }).waitFor();
    await page.context().close();
    cable.pull();
  });

  test('a line that drops without the browser noticing is taken up again', async () => {
    const cable = await Cable.lay(bed.tree.testbed.url);
    const page = await bed.newTab();
    await page.goto(`${cable.url}/console/`);
    await bed.signIn(page, 'admin');
    bed.expectFaults(/ERR_CONNECTION|WebSocket/);
    cable.pull();
    await page.getByText('Offline', { exact: true }).waitFor();
    await cable.plugIn();
    await bed.isLive(page);
    await page.context().close();
    cable.pull();
  });

  test('who is no administrator finds no way to their screens, and a page that says so', async () => {
    const page = await bed.signedIn('grace', '/users');
    await page.getByText('You may not see this').waitFor();
    await page.getByText('“Users” is for administrators.').waitFor();
    const shown = await page.getByRole('navigation', { name: 'Screens' }).getByRole('link').allInnerTexts();
    assert.deepEqual(shown, ['Folders', 'Trash', 'Explorer', 'API docs']);
    for (const part of ['groups', 'sessions', 'overview', 'journal', 'keys', 'settings']) {
      await page.goto(bed.address(`/${part}`));
      await page.getByText('You may not see this').waitFor();
    }
  });

  test('an overview that cannot be read again tells why, and no longer that everything works', async () => {
    const page = await bed.signedIn('admin', '/overview', { hasServerTime: true });
    const verdict = page.getByRole('region', { name: 'Health' }).getByRole('status');
    await verdict.getByText('Everything works').waitFor();
    bed.expectFaults(/status of 503 .*\/graphql\)$/);
    const message = 'The database cannot be used right now. Try again later.';
    await page.route('**/graphql', (route) =>
      route.request().postData()?.includes('query Overview')
        ? route.fulfill({ status: 503, json: { errors: [{ message, extensions: { code: 'UNAVAILABLE' } }] } })
        : route.continue(),
    );
    await eventually(async () => {
      await bed.pass(10, page);
      return (await verdict.innerText()) === 'What works is not known';
    }, 'it is told');
    await page.getByRole('alert').getByText(`${message} What is shown here is of`).waitFor();
    assert.equal(await page.getByText('Works', { exact: true }).count(), 0);
    await page.unroute('**/graphql');
    await bed.pass(10, page);
    await verdict.getByText('Everything works').waitFor();
  });

  test('an address that leads nowhere says so, and leads back', async () => {
    const page = await bed.signedIn('ada', '/nothing/here');
    await page.getByText('There is no such page').waitFor();
    await page.getByRole('link', { name: 'To the folders' }).click();
    await page.waitForURL('**/console/folders');
  });
});
