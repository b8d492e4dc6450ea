/** The data table: keyboard, pages, and actions on several rows with progress, failures and undo. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { ConsoleTestbed } from './console-testbed.ts';

describe('a table of the console on SQLite', () => {
  let testbed: ConsoleTestbed;
  before(async () => {
    testbed = await ConsoleTestbed.start();
  });
  afterEach(() => testbed.closeBrowsers());
  after(() => testbed.stop());

  const openFolders = async (path: string) =>
    testbed.openSignedIn('admin', `/folders/${await testbed.demo.idOf(path)}?tab=folders`);
  const rowOf = (page: Page, name: string) =>
    page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });
  const select = async (page: Page, ...names: readonly string[]) => {
    for (const name of names) await rowOf(page, name).locator('.checkbox').click();
  };
  const namesIn = (page: Page) => page.getByRole('rowheader').allInnerTexts();
  const bar = (page: Page) => page.getByRole('toolbar', { name: 'Selected rows' });
  const confirm = async (page: Page, verb: RegExp | string) => {
    await page.getByRole('dialog').getByRole('button', { name: verb }).last().click();
  };
  const createFolders = async (parent: string, names: readonly string[]) => {
    const parentId = await testbed.tree.create(parent);
    for (const name of names) await testbed.tree.create(name, parentId);
    return parentId;
  };
  const waitUntilGone = (locator: Locator) => locator.waitFor({ state: 'detached' });

  test('selects rows with the keyboard, and all rows of the page with the header', async () => {
    await createFolders('Keys', ['a', 'b', 'c', 'd']);
    const page = await openFolders('/Keys');
    await rowOf(page, 'b').waitFor();
    await select(page, 'b');
    await page.getByText('1 selected').waitFor();
    await page.keyboard.press('Shift+ArrowDown');
    await page.getByText('2 selected').waitFor();
    await page.keyboard.press('Escape');
    await waitUntilGone(bar(page));
    await page.getByRole('columnheader').locator('.checkbox').click();
    await page.getByText('4 selected').waitFor();
    await bar(page).getByRole('button', { name: 'Clear selection' }).click();
    await waitUntilGone(bar(page));
  });

  test('opens the folder of a link, and does not select its row', async () => {
    await createFolders('Links', ['inside']);
    const page = await openFolders('/Links');
    await page.getByRole('rowheader').getByRole('link', { name: 'inside' }).click();
    await page.getByRole('heading', { level: 1, name: 'inside' }).waitFor();
  });

  test('turns pages, sorts and filters on the server', async () => {
    const page = await openFolders('/Correspondence');
    const pages = page.getByRole('navigation', { name: 'Pages' });
    await pages.getByText('1–50 of 3,000').waitFor();
    await pages.getByRole('button', { name: 'Next' }).click();
    await pages.getByText('51–100 of 3,000').waitFor();
    await page.getByRole('rowheader', { name: 'Letter 51', exact: true }).waitFor();
    await pages.getByRole('button', { name: 'Last' }).click();
    await pages.getByText('2,951–3,000 of 3,000').waitFor();
    await page.getByRole('columnheader', { name: 'Name' }).click();
    await pages.getByText('1–50 of 3,000').waitFor();
    await page.getByRole('rowheader', { name: 'Letter 3000', exact: true }).waitFor();
    await page.getByRole('searchbox', { name: 'Filter by name' }).fill('letter 77');
    await page.getByRole('rowheader', { name: 'Letter 770', exact: true }).waitFor();
    await waitUntilGone(page.getByRole('rowheader', { name: 'Letter 3000', exact: true }));
    assert.equal((await namesIn(page)).length, 11);
  });

  test('moves several folders, reports failures, and undoes all moves together', async () => {
    const from = await createFolders('From', ['one', 'two', 'three']);
    const to = await createFolders('To', []);
    const page = await openFolders('/From');
    await select(page, 'one', 'two', 'three');
    await bar(page).getByRole('button', { name: 'Move to…' }).click();
    await page.getByRole('dialog').getByRole('treeitem', { name: 'To', exact: true }).click();
    await page.getByRole('dialog').getByText('Moves 3 folders').waitFor();
    // After the preview, another user takes a name in the target.
    await testbed.tree.create('two', to);
    await confirm(page, 'Move');
    await page.getByRole('dialog').getByText('2 of 3 done.').waitFor();
    const failures = page.getByRole('list', { name: 'Failed' });
    assert.match(await failures.innerText(), /^two: /);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Moved 2 folders into “To”').waitFor();
    assert.deepEqual(await namesIn(page), ['two']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await rowOf(page, 'one').waitFor();
    assert.deepEqual((await namesIn(page)).toSorted(), ['one', 'three', 'two']);
    assert.ok(from);
  });

  test('lists the folders that cannot be moved in the preview of a move', async () => {
    await createFolders('Sources', ['same', 'other']);
    await createFolders('Target', ['same']);
    const page = await openFolders('/Sources');
    await select(page, 'same', 'other');
    await bar(page).getByRole('button', { name: 'Move to…' }).click();
    await page.getByRole('dialog').getByRole('treeitem', { name: 'Target', exact: true }).click();
    const refusals = page.getByRole('list', { name: 'Cannot be moved' });
    assert.match(await refusals.innerText(), /^same: /);
    await page.getByRole('dialog').getByText('Moves one folder.').waitFor();
  });

  test('copies paths, deletes several folders, and restores them from the trash', async () => {
    await createFolders('Bin', ['x', 'y', 'z']);
    const page = await openFolders('/Bin');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await select(page, 'x', 'y');
    await bar(page).getByRole('button', { name: 'Copy paths' }).click();
    await page.getByText('Copied 2 paths').waitFor();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), '/Bin/x\n/Bin/y');
    await bar(page).getByRole('button', { name: 'Delete…' }).click();
    await page.getByText('The folders are empty. 2 folders will be deleted.').waitFor();
    await confirm(page, /^Delete/);
    await page.getByText('Deleted 2 folders').waitFor();
    for (const name of ['x', 'y']) await waitUntilGone(rowOf(page, name));
    assert.deepEqual(await namesIn(page), ['z']);

    await page.goto(testbed.address('/trash'));
    await select(page, 'x', 'y');
    await bar(page).getByRole('button', { name: 'Restore…' }).click();
    await confirm(page, 'Restore');
    await page.getByText('Restored 2 folders').waitFor();
    await waitUntilGone(rowOf(page, 'x'));
    assert.ok(await testbed.demo.idOf('/Bin/x'));
  });

  test('deletes folders in the trash permanently, one or all', async () => {
    const parentId = await createFolders('Purged', []);
    await testbed.tree.import(['p1', 'p2/one/two', 'p3'], parentId);
    for (const name of ['p1', 'p2', 'p3']) {
      await testbed.tree.delete(await testbed.demo.idOf(`/Purged/${name}`));
    }
    const page = await testbed.openSignedIn('admin', '/trash');
    await page.getByRole('button', { name: 'More actions for p1' }).click();
    await page.getByRole('menuitem', { name: 'Delete permanently…' }).click();
    await confirm(page, 'Delete permanently');
    await page.getByText('Permanently deleted “p1”').waitFor();
    await waitUntilGone(rowOf(page, 'p1'));
    await page.getByRole('button', { name: 'Empty the trash…' }).click();
    const warning = page
      .getByRole('dialog')
      .getByText(/^Permanently deletes \d+ folders, with \d+ folders inside:/);
    const [count] = /\d+ folders/.exec(await warning.innerText())!;
    await confirm(page, 'Empty the trash');
    await page.getByText(`Permanently deleted ${count}`, { exact: true }).waitFor();
    await page.getByText('The trash is empty').waitFor();
  });

  test('revokes several sessions, but cannot select the current session', async () => {
    const { password } = testbed.demo;
    for (let count = 0; count < 3; count++) await testbed.tree.server.logIn({ username: 'linus', password });
    const page = await testbed.openSignedIn('admin', '/sessions');
    await page.getByRole('combobox', { name: 'Sessions of' }).fill('linus');
    await page.getByRole('option', { name: 'linus', exact: true }).click();
    await waitUntilGone(page.getByText('Current', { exact: true }));
    await page.getByRole('columnheader').locator('.checkbox').click();
    await page.getByText('3 selected').waitFor();
    await bar(page).getByRole('button', { name: 'Revoke…' }).click();
    await confirm(page, 'Revoke');
    await page.getByText('3 sessions were revoked').waitFor();
    await page.getByText('No active sessions').waitFor();

    await page.goto(testbed.address('/account'));
    await page.getByText('Current', { exact: true }).waitFor();
    assert.equal(await page.getByRole('row').filter({ hasText: 'Current' }).locator('.checkbox').count(), 0);
  });
});
