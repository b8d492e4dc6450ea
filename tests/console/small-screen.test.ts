/** The console on a phone, and at a zoom of 200 %. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { ConsoleTestbed } from './console-testbed.ts';
import { TreePage } from './tree-page.ts';

/** A window of 1280 × 800 pixels at a zoom of 200 %. */
const zoomed = { width: 640, height: 400 };
const phone = { width: 375, height: 720, isTouch: true };

describe('a small screen of the console on SQLite', () => {
  let testbed: ConsoleTestbed;
  before(async () => {
    testbed = await ConsoleTestbed.start();
  });
  afterEach(() => testbed.closeBrowsers());
  after(() => testbed.stop());

  test('has a “More” menu for the screens that do not fit', async () => {
    const page = await testbed.openSignedIn('admin', '/folders', phone);
    const navigation = page.getByRole('navigation', { name: 'Screens' });
    assert.deepEqual(await navigation.getByRole('link').allInnerTexts(), [
      'Folders',
      'Trash',
      'Users',
      'Groups',
    ]);
    const more = navigation.getByRole('button', { name: 'More' });
    assert.equal(await more.getAttribute('aria-current'), null);
    await more.click();
    await page.getByRole('menuitemradio', { name: 'Journal', checked: false }).click();
    await page.getByRole('heading', { level: 1, name: 'Journal' }).waitFor();
    assert.equal(await more.getAttribute('aria-current'), 'true');
    assert.equal(await navigation.locator('[aria-current=page]').filter({ visible: true }).count(), 0);
    await more.click();
    await page.getByRole('menuitemradio', { name: 'Journal', checked: true }).waitFor();
  });

  test('has no “More” menu if all screens of the user fit', async () => {
    const page = await testbed.openSignedIn('grace', '/trash', phone);
    const navigation = page.getByRole('navigation', { name: 'Screens' });
    assert.deepEqual(await navigation.getByRole('link').allInnerTexts(), [
      'Folders',
      'Trash',
      'Explorer',
      'API docs',
    ]);
    assert.equal(await navigation.getByRole('button').count(), 0);
    assert.equal(await navigation.getByRole('link', { name: 'Trash' }).getAttribute('aria-current'), 'page');
  });

  test('marks no folder as current while it displays the tree alone', async () => {
    const page = await testbed.openSignedIn('admin', '/folders', phone);
    const tree = new TreePage(page);
    await tree.waitUntilVisible('Root', 'Places');
    assert.equal(await tree.tree.locator('[aria-current]').count(), 0);
    await page.setViewportSize({ width: 1280, height: 800 });
    await tree.tree.locator('[aria-current=true]').filter({ hasText: 'Root' }).waitFor();
  });

  test('keeps the buttons of a long dialog in view', async () => {
    const id = await testbed.demo.idOf('/Projects/Roof 2027');
    const page = await testbed.openSignedIn('admin', `/folders/${id}`, zoomed);
    await page.getByRole('button', { name: 'Move to…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('treeitem', { name: 'Archive' }).click();
    await dialog.getByText('Selected: /Archive').waitFor();
    const button = dialog.getByRole('button', { name: 'Move', exact: true });
    for (const top of [0, 10_000]) {
      await dialog.locator('.dialog-form').evaluate(`(form) => form.scrollTo(0, ${top})`);
      const { y, height } = (await button.boundingBox())!;
      assert.ok(y + height <= zoomed.height, `at scroll position ${top}, the button is at ${y}`);
    }
  });

  test('keeps a menu near the edge inside the window', async () => {
    const page = await testbed.openSignedIn('admin', `/users/${testbed.demo.userIds.ada}`, zoomed);
    const button = page.getByRole('button', { name: 'More actions for ada' });
    await button.click();
    const menu = (await page.getByRole('menu').boundingBox())!;
    const opener = (await button.boundingBox())!;
    assert.ok(menu.x + menu.width <= opener.x + opener.width, `the menu ends at ${menu.x + menu.width}`);
  });

  test('shows how long a deleted folder is kept', async () => {
    const page = await testbed.openSignedIn('admin', '/trash', phone);
    const row = page.getByRole('row').filter({ hasText: 'Boathouse' });
    await row.getByText(/^Kept until \d+ \w+ \d{4}$/).waitFor();
  });
});
