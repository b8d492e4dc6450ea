/** Access in the console: how administrators grant, explain and revoke it, and how they end sessions. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { ConsoleTestbed } from './console-testbed.ts';

describe('the access screens of the console on SQLite', () => {
  let testbed: ConsoleTestbed;
  before(async () => {
    testbed = await ConsoleTestbed.start();
  });
  afterEach(() => testbed.closeBrowsers());
  after(() => testbed.stop());

  const choose = async (page: Page, field: string, name: string) => {
    await page.getByRole('combobox', { name: field }).fill(name);
    await page.getByRole('option', { name, exact: true }).click();
  };

  test('apply a grant to another user immediately, and explain it', async () => {
    const id = await testbed.demo.idOf('/Places/Hill Campus');
    const other = await testbed.openSignedIn('margaret', `/folders/${id}`);
    await other.getByText('There is no such folder').waitFor();

    const page = await testbed.openSignedIn('admin', `/folders/${id}?tab=access`);
    await page.getByRole('button', { name: 'Grant access…' }).click();
    const dialog = page.getByRole('dialog');
    await choose(page, 'User or group', 'margaret');
    await dialog.getByRole('button', { name: /Level/ }).click();
    await page.getByRole('option', { name: /^Write/ }).click();
    await dialog.getByRole('button', { name: 'Grant access', exact: true }).click();
    await page.getByRole('grid', { name: 'Granted here' }).getByText('margaret').waitFor();

    await other.getByRole('heading', { level: 1, name: 'Hill Campus' }).waitFor();
    const folder = other.getByRole('region', { name: 'Folder', exact: true });
    await folder.getByRole('button', { name: 'New folder' }).waitFor();

    await choose(page, 'Explain the access of', 'margaret');
    const path = page.getByRole('list', { name: 'Path from the root' });
    await path.getByText('Write for margaret').waitFor();
    assert.match(await path.innerText(), /Write for margaret\s*decides/);

    await page.getByRole('button', { name: 'Remove the grant to margaret' }).click();
    await other.getByText('There is no such folder').waitFor();
  });

  test('update the actions of an open page when the access of its user changes', async () => {
    const id = await testbed.demo.idOf('/Places/Harbour Campus');
    const page = await testbed.openSignedIn('ada', `/folders/${id}?tab=access`);
    await page.getByRole('button', { name: 'Grant access…' }).waitFor();
    await testbed.tree.mutate('grantAccess', {
      folderId: id,
      userId: testbed.demo.userIds.ada,
      level: 'READ',
    });
    await page.getByRole('button', { name: 'Grant access…' }).waitFor({ state: 'detached' });
    await testbed.tree.mutate('grantAccess', {
      folderId: id,
      userId: testbed.demo.userIds.ada,
      level: 'MANAGE',
    });
    await page.getByRole('button', { name: 'Grant access…' }).waitFor();
  });

  test('accept a complete user name on Enter, but not an incomplete one', async () => {
    const page = await testbed.openSignedIn(
      'admin',
      `/folders/${await testbed.demo.idOf('/Places')}?tab=access`,
    );
    const field = page.getByRole('combobox', { name: 'Explain the access of' });
    await field.fill('mar');
    await page.getByRole('option', { name: 'margaret' }).waitFor();
    await field.press('Escape');
    await page.getByRole('option', { name: 'margaret' }).waitFor({ state: 'detached' });
    await field.fill('a');
    await page.getByRole('option', { name: 'margaret' }).waitFor();
    await field.press('Enter');
    assert.equal(await field.inputValue(), 'a');
    await field.fill('linus');
    await page.getByRole('option', { name: 'linus' }).waitFor();
    await field.press('Enter');
    await page.getByRole('option', { name: 'linus' }).waitFor({ state: 'detached' });
    assert.equal(await field.inputValue(), 'linus');
    await page.getByRole('list', { name: 'Path from the root' }).waitFor();
  });

  test('list the first of many grants by name, and find any grant', async () => {
    const folderId = await testbed.demo.idOf('/Suppliers');
    for (let number = 60; number > 0; number--) {
      const fields = { name: `Team ${number}` };
      const { group } = await testbed.tree.mutate<{ group: { id: string } }>(
        'createGroup',
        fields,
        'group{id}',
      );
      await testbed.tree.mutate('grantAccess', { folderId, groupId: group.id, level: 'READ' });
    }
    const page = await testbed.openSignedIn('admin', `/folders/${folderId}?tab=access`);
    const table = page.getByRole('grid', { name: 'Granted here' });
    await page.getByText('1–50 of 60').waitFor();
    const names = await table.getByRole('rowheader').allInnerTexts();
    assert.deepEqual([names.length, names[1], names[9]], [50, 'Team 2', 'Team 10']);
    await page.getByRole('searchbox', { name: 'Search: granted here' }).fill('team 60');
    await page.getByText('1 of 60').waitFor();
    assert.deepEqual(await table.getByRole('rowheader').allInnerTexts(), ['Team 60']);
  });

  test('focus Cancel in a confirmation, with the destructive button one Tab away', async () => {
    const id = await testbed.demo.idOf('/Suppliers');
    const page = await testbed.openSignedIn('admin', `/folders/${id}`);
    const opener = page
      .getByRole('region', { name: 'Folder', exact: true })
      .getByRole('button', { name: 'Delete…' });
    await opener.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('folders will be deleted').waitFor();
    const focused = page.locator(':focus');
    assert.equal(await focused.innerText(), 'Cancel');
    await page.keyboard.press('Tab');
    assert.match(await focused.innerText(), /^Delete/);
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
  });

  test('explain the access of a user on the page of the user', async () => {
    const folderId = await testbed.demo.idOf('/Places/Harbour Campus/Floor 2');
    const page = await testbed.openSignedIn(
      'admin',
      `/users/${testbed.demo.userIds.linus}?folder=${folderId}`,
    );
    const explanation = page.getByRole('status').filter({ hasText: 'Decided by' });
    await explanation.waitFor();
    assert.match(await explanation.innerText(), /No access .*\/Places\/Harbour Campus\/Floor 2/);

    const { tree, demo } = testbed;
    const userId = demo.userIds.linus;
    const [vaultId, safeId] = await tree.createChain(['Vault', 'Safe']);
    await tree.mutate('grantAccess', { folderId: vaultId, userId, level: 'NONE' });
    await tree.mutate('grantAccess', { folderId: safeId, userId, level: 'READ' });
    await page.goto(testbed.address(`/users/${userId}?folder=${vaultId}`));
    await page.getByText('this folder gives no access. The user sees its name, because').waitFor();
  });

  test('end the session in an open tab after an administrator revokes it', async () => {
    const other = await testbed.openSignedIn('grace', '/folders');
    testbed.expectFaults(/status of 401/);
    const page = await testbed.openSignedIn('admin', '/sessions');
    await page
      .getByRole('button', { name: /^Revoke .* of grace$/ })
      .first()
      .click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByText(/^Revoked .* of grace$/).waitFor();
    await other.getByRole('dialog', { name: 'Sign in again' }).waitFor();
    await other.getByRole('button', { name: 'Leave this page' }).click();
    await other.getByRole('heading', { name: 'Sign in to Espalier' }).waitFor();
  });

  test('create a user who can log in', async () => {
    const page = await testbed.openSignedIn('admin', '/users');
    await page.getByRole('button', { name: 'New user' }).click();
    const dialog = page.getByRole('dialog', { name: 'New user' });
    await dialog.getByLabel('User name').fill('hedy');
    await dialog.getByLabel('Password', { exact: true }).fill('espaliered pear tree');
    await dialog.getByRole('button', { name: 'Create user' }).click();
    await page.getByRole('link', { name: 'hedy' }).first().waitFor();
    const { status } = await testbed.tree.server.post('/login', {
      username: 'hedy',
      password: 'espaliered pear tree',
    });
    assert.equal(status, 200);
  });

  test('list all users with access and their deciding grants, page by page', async () => {
    const { tree, demo } = testbed;
    const id = await demo.idOf('/Places/Harbour Campus/Floor 2');
    const page = await testbed.openSignedIn('ada', `/folders/${id}?tab=access`);
    const table = page.getByRole('grid', { name: 'Who has access' });
    const row = (name: string) => table.getByRole('row').filter({ hasText: name });
    await row('grace').getByText('The group Caretakers on Places').waitFor();
    assert.match(await row('ada').innerText(), /Manage\s+A grant to the user on Harbour Campus/);
    assert.match(await row('admin').innerText(), /Manage\s+Administrator/);
    assert.equal(await row('linus').count(), 0);
    const explain = row('grace').getByRole('button', { name: 'Explain the access of grace' });
    await explain.click();
    const dialog = page.getByRole('dialog', { name: 'Access of grace to “Floor 2”' });
    await dialog
      .getByRole('list', { name: 'Path from the root' })
      .getByText('Read for the group Caretakers')
      .waitFor();
    await dialog.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await explain.and(page.locator(':focus')).waitFor();

    // The administrator's page follows grants.
    const open = await testbed.openSignedIn('admin', `/folders/${id}?tab=access`);
    await open.getByRole('grid', { name: 'Who has access' }).getByText('grace').waitFor();
    const { group } = await tree.mutate<{ group: { id: string } }>(
      'createGroup',
      { name: 'Guests' },
      'group{id}',
    );
    const userIds = [];
    for (let number = 10; number < 70; number++) {
      const fields = { username: `guest ${number}`, password: demo.password };
      const { user } = await tree.mutate<{ user: { id: string } }>('createUser', fields, 'user{id}');
      userIds.push(user.id);
    }
    await tree.mutate('addToGroup', { groupId: group.id, userIds }, 'added');
    await tree.mutate('grantAccess', { folderId: id, groupId: group.id, level: 'READ' });
    const guests = open
      .getByRole('grid', { name: 'Who has access' })
      .getByRole('row')
      .filter({ hasText: 'guest' });
    await guests.filter({ hasText: 'guest 40' }).waitFor();
    assert.match(await guests.first().innerText(), /The group Guests here/);
    const next = open.getByRole('navigation', { name: 'Pages' }).getByRole('button', { name: 'Next' });
    await next.click();
    await guests.filter({ hasText: 'guest 69' }).waitFor();
    assert.ok(await next.isDisabled());
  });
});
