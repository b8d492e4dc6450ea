/** API keys and service accounts in the console: creation, the single display of a key, revocation, and the administrators' pages. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { ConsoleTestbed } from './console-testbed.ts';

describe('API keys in the console on SQLite', () => {
  let testbed: ConsoleTestbed;
  before(async () => {
    testbed = await ConsoleTestbed.start();
  });
  afterEach(() => testbed.closeBrowsers());
  after(() => testbed.stop());

  const dialogOf = (page: Page) => page.getByRole('dialog');
  const choose = async (page: Page, field: string, option: RegExp) => {
    await dialogOf(page)
      .getByRole('button', { name: new RegExp(`${field}$`) })
      .click();
    await page.getByRole('option', { name: option }).click();
  };
  const submit = (page: Page, verb: string) =>
    dialogOf(page).getByRole('button', { name: verb, exact: true }).click();
  const rowOf = (page: Page, name: string) =>
    page.getByRole('row').filter({ has: page.getByRole('rowheader').getByText(name, { exact: true }) });
  const visibleIn = (row: Locator, text: string) => row.getByText(text).filter({ visible: true });
  const waitUntilGone = (locator: Locator) => locator.waitFor({ state: 'detached' });

  /** Creates a key with the open dialog, and returns its text. */
  const createKey = async (page: Page, name: string) => {
    await dialogOf(page).getByLabel('Name').fill(name);
    await submit(page, 'Create API key');
    await page.getByText('You cannot see it again.').waitFor();
    return dialogOf(page).locator('code').innerText();
  };

  /** Sends a request as a program does, from the page. */
  const statusWith = (page: Page, key: string) =>
    page.evaluate<{ status: number; body: string }, [string, string]>(
      async ([url, text]) => {
        const response = await fetch(url, {
          method: 'POST',
          headers: { authorization: `Bearer ${text}`, 'content-type': 'application/json' },
          body: JSON.stringify({ query: '{ viewer { user { username } apiKey { name level } } }' }),
        });
        return { status: response.status, body: await response.text() };
      },
      [`${testbed.tree.server.url}/graphql`, key],
    );

  test('are created, shown once, copied and used, and no longer work after they are revoked', async () => {
    const page = await testbed.openSignedIn('ada', '/account');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Create API key…' }).click();
    assert.equal(await dialogOf(page).getByText('Acts as administrator').count(), 0);
    await choose(page, 'Highest level', /^Write/);
    const key = await createKey(page, 'deploy');
    assert.match(key, /^esp_[0-9A-Za-z]{54}$/);

    const server = testbed.tree.server.url;
    await dialogOf(page).getByRole('button', { name: 'Copy key' }).click();
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
    await eventually(async () => (await copied()) === key, 'the key is in the clipboard');
    await dialogOf(page).getByText(`ESPALIER_API_KEY=${key}`, { exact: true }).waitFor();
    await dialogOf(page).getByText(`curl ${server}/graphql`).waitFor();
    for (const leave of [() => page.keyboard.press('Escape'), () => page.mouse.click(5, 5)]) {
      await leave();
      assert.ok(await dialogOf(page).isVisible());
    }
    await submit(page, 'I saved the key');
    await waitUntilGone(dialogOf(page));
    assert.ok(!(await page.content()).includes(key));

    const used = await statusWith(page, key);
    assert.deepEqual(JSON.parse(used.body), {
      data: { viewer: { user: { username: 'ada' }, apiKey: { name: 'deploy', level: 'WRITE' } } },
    });
    const row = rowOf(page, 'deploy');
    await visibleIn(row, 'Active').waitFor();
    assert.match(await row.innerText(), /Write\s+All folders\s+Active/);

    await page.getByRole('button', { name: 'Revoke deploy of ada' }).click();
    await dialogOf(page).getByText('You cannot undo this.').waitFor();
    await submit(page, 'Revoke');
    await visibleIn(row, 'Revoked').waitFor();
    testbed.expectFaults(/status of 401 .*\/graphql\)$/);
    const refused = await statusWith(page, key);
    assert.equal(refused.status, 401);
    assert.match(refused.body, /revoked/);
    assert.equal(await page.getByRole('button', { name: 'Revoke deploy of ada' }).count(), 0);
  });

  test('never get into the address, the storage or the history of the browser', async () => {
    const page = await testbed.newTab();
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url(), request.postData() ?? ''));
    await page.goto(testbed.address('/account'));
    await testbed.signIn(page, 'grace');
    await page.getByRole('button', { name: 'Create API key…' }).click();
    const key = await createKey(page, 'secret keeper');
    const stored = () =>
      page.evaluate<string>(
        'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state, location.href])',
      );
    assert.ok(!(await stored()).includes('esp_'));
    await submit(page, 'I saved the key');
    await page.getByRole('link', { name: 'Explorer' }).click();
    await page.locator('.monaco-editor').first().waitFor();
    assert.ok(!(await stored()).includes(key));
    assert.deepEqual(
      requests.filter((text) => text.includes(key)),
      [],
    );
  });

  test('stay visible in their dialog if the user signs out in another tab', async () => {
    const page = await testbed.openSignedIn('margaret', '/account');
    const other = await testbed.newTab({}, page.context());
    await other.goto(testbed.address());
    await testbed.waitUntilLive(other);
    await page.getByRole('button', { name: 'Create API key…' }).click();
    const key = await createKey(page, 'unsaved');
    await other.getByRole('button', { name: 'Account of margaret' }).click();
    await other.getByRole('menuitem', { name: 'Sign out' }).click();
    const form = page.getByRole('dialog', { name: 'Sign in again' });
    await form.getByLabel('Password').fill(testbed.demo.password);
    await form.getByRole('button', { name: 'Sign in', exact: true }).click();
    await waitUntilGone(form);
    assert.equal(await dialogOf(page).locator('code').innerText(), key);
  });

  test('have to be revoked if the response with the key was lost', async () => {
    const page = await testbed.openSignedIn('ada', '/account');
    await page.getByRole('button', { name: 'Create API key…' }).click();
    await dialogOf(page).getByLabel('Name').fill('lost');
    // The server answers a repeated request without the key.
    await page.route('**/graphql', async (route) => {
      if (!route.request().postData()?.includes('createApiKey')) return route.continue();
      const response = await route.fetch();
      const { data } = (await response.json()) as { data: { createApiKey: object } };
      await route.fulfill({ json: { data: { createApiKey: { ...data.createApiKey, key: null } } } });
    });
    await submit(page, 'Create API key');
    await dialogOf(page).getByRole('alert').getByText('the response with the key was lost').waitFor();
    await dialogOf(page).getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('button', { name: 'Revoke lost of ada' }).waitFor();
  });

  test('show an error of the server at the field, and expire as chosen', async () => {
    const page = await testbed.openSignedIn('ada', '/account');
    await page.getByRole('button', { name: 'Create API key…' }).click();
    await dialogOf(page).getByLabel('Name').fill('from the office');
    const networks = dialogOf(page).getByLabel('Networks');
    await networks.fill('10.0.0.0/8\nthe office');
    await submit(page, 'Create API key');
    await dialogOf(page)
      .getByText('The network “the office” must be an IP address or a CIDR range')
      .waitFor();
    assert.equal(await networks.getAttribute('aria-invalid'), 'true');
    assert.equal(await page.locator(':focus').getAttribute('name'), 'networks');
    await networks.fill('10.0.0.0/8\n2001:db8::/32');
    await choose(page, 'Expires', /^Never/);
    await submit(page, 'Create API key');
    await submit(page, 'I saved the key');
    const row = rowOf(page, 'from the office');
    assert.match(await row.innerText(), /Active\s+Never\s+Never/);
    await row.getByRole('button', { name: 'from the office', exact: true }).click();
    await page.getByText('10.0.0.0/8, 2001:db8:').waitFor();
  });

  test('can be confined to a folder, which the dialog offers like everywhere else', async () => {
    const page = await testbed.openSignedIn('ada', '/account');
    await page.getByRole('button', { name: 'Create API key…' }).click();
    await choose(page, 'Folders', /^One folder/);
    await dialogOf(page).getByLabel('Name').fill('library');
    const create = dialogOf(page).getByRole('button', { name: 'Create API key', exact: true });
    assert.ok(await create.isDisabled());
    await dialogOf(page).getByRole('treeitem', { name: 'Projects' }).click();
    await dialogOf(page).getByText('Selected: /Projects').waitFor();
    await createKey(page, 'library');
    await submit(page, 'I saved the key');
    await rowOf(page, 'library').getByRole('link', { name: '/Projects' }).waitFor();
  });

  test('of an administrator act as administrator only if that was chosen', async () => {
    const page = await testbed.openSignedIn('admin', '/account');
    await page.getByRole('button', { name: 'Create API key…' }).click();
    await dialogOf(page).getByText('Acts as administrator').click();
    await waitUntilGone(dialogOf(page).getByRole('button', { name: /Highest level$/ }));
    await createKey(page, 'backup');
    await submit(page, 'I saved the key');
    await visibleIn(rowOf(page, 'backup'), 'Administrator').waitFor();
  });

  test('of all users are on a page for administrators, with links to the users', async () => {
    const { demo } = testbed;
    const page = await testbed.openSignedIn('admin', '/users');
    await page
      .getByRole('navigation', { name: 'Screens' })
      .getByRole('link', { name: 'API keys', exact: true })
      .click();
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    await rowOf(page, 'sensors').getByRole('link', { name: '/Places/Hill Campus' }).waitFor();
    await visibleIn(rowOf(page, 'nightly export'), 'Revoked').waitFor();
    await page.getByRole('combobox', { name: 'API keys of' }).fill('robot');
    await page.getByRole('option', { name: 'robot', exact: true }).click();
    await page.waitForURL((url) => url.searchParams.get('user') === demo.userIds.robot);
    await page.getByText('2', { exact: true }).first().waitFor();
    await rowOf(page, 'sensors').getByRole('button', { name: 'sensors', exact: true }).click();
    await page.getByText('10.20.0.0/16').waitFor();
    assert.match(page.url(), /apiKey=[0-9a-f-]{36}$/);
    await rowOf(page, 'sensors').getByRole('link', { name: 'robot' }).click();
    await page.getByRole('heading', { level: 1, name: 'robot' }).waitFor();
    const other = await testbed.openSignedIn('grace', '/api-keys');
    await other.getByText('“API keys” is only for administrators.').waitFor();
  });

  test('of a new service account work, and the journal names the key', async () => {
    const page = await testbed.openSignedIn('admin', '/users');
    await page.getByRole('button', { name: 'New user' }).click();
    await choose(page, 'Kind', /^Service account/);
    await waitUntilGone(dialogOf(page).getByLabel('Password'));
    await dialogOf(page).getByLabel('User name').fill('importer');
    await submit(page, 'Create user');
    await page.getByRole('heading', { level: 1, name: 'importer' }).waitFor();
    await page.getByText('Service account', { exact: true }).first().waitFor();
    assert.equal(await page.getByRole('button', { name: 'Reset password…' }).count(), 0);
    assert.equal(await page.getByRole('heading', { name: 'Sessions' }).count(), 0);

    const id = page.url().split('/').at(-1)!;
    const folderId = await testbed.demo.idOf('/Suppliers');
    await testbed.tree.mutate('grantAccess', { folderId, userId: id, level: 'WRITE' });
    await page.getByRole('button', { name: 'Create API key…' }).click();
    await choose(page, 'Highest level', /^Write/);
    const key = await createKey(page, 'nightly');
    await submit(page, 'I saved the key');
    await testbed.tree.mutate('updateFolder', { id: folderId, title: 'From a program' }, 'cursor', key);
    await page.goto(testbed.address('/journal'));
    const entry = page.getByRole('row').filter({ hasText: 'importer with the API key “nightly”' }).first();
    await entry.getByText('Changed the title of “Suppliers”').waitFor();
    await entry.getByRole('link', { name: '“nightly”' }).click();
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    await page.getByText(key.slice(0, 20)).waitFor();
    assert.ok(!(await page.content()).includes(key));
  });

  test('replace the password of a person who becomes a service account', async () => {
    const { demo, tree } = testbed;
    const person = await testbed.openSignedIn('linus', '/account');
    const page = await testbed.openSignedIn('admin', `/users/${demo.userIds.linus}`);
    const openMenu = () => page.getByRole('button', { name: 'More actions for linus' }).click();
    await openMenu();
    await page.getByRole('menuitem', { name: 'Convert to a service account…' }).click();
    await dialogOf(page).getByText('All sessions end immediately.').waitFor();
    await submit(page, 'Convert to a service account');
    await page.getByText('linus is now a service account').waitFor();
    await page.getByText('Service account', { exact: true }).first().waitFor();
    await openMenu();
    await page.getByRole('menuitem').first().waitFor();
    assert.equal(await page.getByRole('menuitem', { name: 'Convert to a service account…' }).count(), 0);
    await page.keyboard.press('Escape');
    testbed.expectFaults(/status of 40[01] .*\/(graphql|login\/refresh|login)\)$/, /WebSocket/);
    await person.getByRole('dialog', { name: 'Sign in again' }).waitFor();
    const { status } = await tree.server.post('/login', { username: 'linus', password: demo.password });
    assert.equal(status, 401);
    await page.goto(testbed.address('/users'));
    await rowOf(page, 'linus').getByText('Service account').waitFor();
  });
});
