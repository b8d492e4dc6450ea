/** Work in the tree of the console: creating, renaming, moving, deleting and undoing. */

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { ConsoleTestbed } from './console-testbed.ts';
import { TreePage } from './tree-page.ts';

describe('the console tree on SQLite', () => {
  let testbed: ConsoleTestbed;
  let tree: TreePage;
  let workFolderId: string;
  let workFolderCount = 0;
  before(async () => {
    testbed = await ConsoleTestbed.start();
    tree = new TreePage(await testbed.openSignedIn('admin', '/folders'));
  });
  after(async () => {
    await testbed.closeBrowsers();
    await testbed.stop();
  });
  /** Creates a folder for each test to work in. Its row names are unique on the screen. */
  beforeEach(async () => {
    workFolderId = await testbed.tree.create(`Bench ${++workFolderCount}`);
    await testbed.tree.import(['Shed', 'Shed/Rakes', 'Shed/Spades', 'Pots', 'Seeds'], workFolderId);
    await tree.page.goto(
      testbed.address(`/folders/${await testbed.demo.idOf(`/Bench ${workFolderCount}/Pots`)}`),
    );
    await tree.waitUntilVisible('Shed', 'Pots', 'Seeds');
  });
  afterEach(async () => {
    testbed.assertNoFaults();
    await testbed.tree.delete(workFolderId);
  });

  const waitForPaths = async (...paths: readonly string[]) => {
    let read: string[] = [];
    await eventually(
      async () => {
        read = (await testbed.tree.paths(workFolderId)).toSorted();
        return JSON.stringify(read) === JSON.stringify(paths.toSorted());
      },
      `the folders are ${paths.join(', ')}`,
    ).catch(() => assert.deepEqual(read, paths.toSorted()));
  };
  const initialPaths = ['Shed', 'Shed/Rakes', 'Shed/Spades', 'Pots', 'Seeds'];

  test('creates a folder inside the focused folder, and undoes the creation', async () => {
    await tree.row('Shed').click();
    await tree.press('Insert');
    const dialog = tree.page.getByRole('dialog', { name: 'New folder in “Shed”' });
    await dialog.getByLabel('Name').fill('Hoes');
    await tree.page.keyboard.press('Enter');
    await tree.waitUntilVisible('Hoes');
    await waitForPaths(...initialPaths, 'Shed/Hoes');
    await tree.undo('Created “Hoes”');
    await tree.waitUntilGone('Hoes');
    await waitForPaths(...initialPaths);
  });

  test('renames a folder in place, and keeps the field open if the name is already in use', async () => {
    await tree.row('Pots').click();
    await tree.press('F2');
    const field = tree.page.getByLabel('New name');
    assert.equal(await field.inputValue(), 'Pots');
    await field.fill('Shed');
    await field.press('Enter');
    await tree.page.getByRole('alert').first().waitFor();
    assert.equal(await field.inputValue(), 'Shed');
    await field.fill('Jars');
    await field.press('Enter');
    await tree.waitUntilVisible('Jars');
    await waitForPaths(...initialPaths.map((path) => path.replace('Pots', 'Jars')));
    await tree.waitForFocus('Jars');
    await tree.message('Renamed to “Jars”').waitFor();
    await tree.press('Control+z');
    await tree.waitUntilVisible('Pots');
    await waitForPaths(...initialPaths);
  });

  test('keeps a name that the user is typing when the rename of another folder is rejected', async () => {
    const { page } = tree;
    const field = page.getByLabel('New name');
    const requestStarted = Promise.withResolvers<void>();
    const requestReleased = Promise.withResolvers<void>();
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('updateFolder')) {
        requestStarted.resolve();
        await requestReleased.promise;
      }
      await route.continue();
    });
    await tree.row('Pots').click();
    await tree.press('F2');
    await field.fill('Shed');
    await field.press('Enter');
    await requestStarted.promise;
    await tree.row('Seeds').click();
    await tree.press('F2');
    await field.fill('See');
    // An input method is composing, so the name is not complete.
    await field.dispatchEvent('keydown', { key: 'Enter', isComposing: true });
    await field.pressSequentially('dlings');
    requestReleased.resolve();
    await tree.message('Cannot rename “Pots” to “Shed”').waitFor();
    assert.equal(await field.inputValue(), 'Seedlings');
    await field.press('Enter');
    await waitForPaths('Shed', 'Shed/Rakes', 'Shed/Spades', 'Pots', 'Seedlings');
    await page.unroute('**/graphql');
  });

  test('moves a folder with the mouse, and back with undo', async () => {
    await tree.drag('Seeds', 'Shed');
    await waitForPaths('Shed', 'Shed/Rakes', 'Shed/Spades', 'Shed/Seeds', 'Pots');
    await tree.waitUntilGone('Seeds');
    await tree.toggle('Shed');
    await tree.waitUntilVisible('Seeds');
    await tree.undo('Moved “Seeds” into “Shed”');
    await waitForPaths(...initialPaths);
    assert.equal((await tree.readAttributes('Seeds'))['level'], '3');
  });

  test('moves nothing if a drag is canceled or a folder is dragged into itself', async () => {
    const { page } = tree;
    await tree.toggle('Shed');
    await tree.waitUntilVisible('Rakes');
    await tree.drag('Shed', 'Rakes');
    const [from, to] = await Promise.all(['Pots', 'Shed'].map((name) => tree.row(name).boundingBox()));
    await page.mouse.move(from!.x + 60, from!.y + 8);
    await page.mouse.down();
    await page.mouse.move(to!.x + 60, to!.y + 8, { steps: 3 });
    await page.keyboard.press('Escape');
    await page.mouse.up();
    await waitForPaths(...initialPaths);
  });

  test('moves a folder with the keyboard, by “Move to…” or by cut and paste', async () => {
    const { page } = tree;
    await tree.row('Pots').click();
    await tree.press('Shift+F10');
    await page.getByRole('menuitem', { name: 'Move to…' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Move “Pots”' });
    await dialog.getByRole('combobox', { name: 'Find a folder' }).fill('Spades');
    await dialog.getByRole('option').first().waitFor();
    await page.keyboard.press('Enter');
    await dialog.getByText(`Selected: /Bench ${workFolderCount}/Shed/Spades`).waitFor();
    // The button is disabled until the preview of the move is loaded.
    await dialog.getByText('Moves one folder.').waitFor();
    await dialog.getByRole('button', { name: 'Move', exact: true }).press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await waitForPaths('Shed', 'Shed/Rakes', 'Shed/Spades', 'Shed/Spades/Pots', 'Seeds');

    await tree.row('Seeds').click();
    await tree.press('Control+x');
    await tree.page.keyboard.type('shed');
    await tree.waitForFocus('Shed');
    await tree.press('Control+v');
    await waitForPaths('Shed', 'Shed/Rakes', 'Shed/Spades', 'Shed/Spades/Pots', 'Shed/Seeds');
  });

  test('moves and renames a folder in one change, and marks a name that is already in use', async () => {
    const { page } = tree;
    await testbed.tree.import(['Pots'], await testbed.demo.idOf(`/Bench ${workFolderCount}/Shed`));
    await tree.choose('Pots', 'Move to…');
    const dialog = page.getByRole('dialog', { name: 'Move “Pots”' });
    const name = dialog.getByLabel('Name', { exact: true });
    const move = dialog.getByRole('button', { name: 'Move', exact: true });
    await dialog.getByRole('combobox', { name: 'Find a folder' }).fill(`bench ${workFolderCount} shed`);
    await dialog.getByRole('option').first().click();
    await dialog.getByRole('alert').getByText('The name “Pots” is already in use in that folder.').waitFor();
    assert.equal(await name.getAttribute('aria-invalid'), 'true');
    const problemId = (await name.getAttribute('aria-describedby'))!.split(' ');
    const texts = await Promise.all(problemId.map((id) => page.locator(`[id="${id}"]`).innerText()));
    assert.match(texts.join(' '), /The name “Pots” is already in use/);
    assert.ok(await move.isDisabled());
    await name.fill('');
    await dialog.getByText('A folder needs a name.').waitFor();
    await name.fill('Jars');
    await dialog.getByText('Moves one folder.').waitFor();
    assert.equal(await name.getAttribute('aria-invalid'), null);
    await move.click();
    await dialog.waitFor({ state: 'detached' });
    await waitForPaths('Shed', 'Shed/Rakes', 'Shed/Spades', 'Shed/Pots', 'Shed/Jars', 'Seeds');
    await tree.undo('Moved “Pots” into “Shed” as “Jars”');
    await waitForPaths(...initialPaths, 'Shed/Pots');
  });

  test('lists the same actions in the tree, the table of folders, the page and the palette', async () => {
    const { page } = tree;
    const items = page.getByRole('menuitem');
    const closeMenu = async () => {
      const texts = await items.allInnerTexts();
      await page.keyboard.press('Escape');
      await items.first().waitFor({ state: 'detached' });
      return texts;
    };
    await tree.row('Shed').click({ button: 'right' });
    await items.first().waitFor();
    const actions = await closeMenu();
    assert.deepEqual(actions, [
      ...['Open', 'New folder…', 'Rename…', 'Duplicate', 'Move to…', 'Delete…', 'Import…', 'Export…'],
      ...['Who has access', 'Add to favorites', 'Copy link', 'Copy path', 'Copy id'],
    ]);
    await page.goto(testbed.address(`/folders/${workFolderId}?tab=folders`));
    const openMenu = () =>
      page
        .getByRole('grid', { name: 'Folders' })
        .getByRole('button', { name: 'Actions for Shed', exact: true })
        .click();
    await openMenu();
    await items.first().waitFor();
    assert.deepEqual(await closeMenu(), actions);
    await openMenu();
    await page.getByRole('menuitem', { name: 'Duplicate' }).click();
    await tree.message('Duplicated “Shed” as “Shed (copy)” with 2 folders inside').waitFor();
    await openMenu();
    await page.getByRole('menuitem', { name: 'Open' }).click();
    await page.getByRole('heading', { level: 1, name: 'Shed', exact: true }).waitFor();
    const folder = page.getByRole('region', { name: 'Folder', exact: true });
    await folder.getByRole('button', { name: 'More actions' }).click();
    await items.first().waitFor();
    const onPage = new Set(['New folder…', 'Rename…', 'Move to…', 'Delete…', 'Open']);
    assert.deepEqual(
      await closeMenu(),
      actions.filter((label) => !onPage.has(label)),
    );
    for (const label of ['New folder', 'Rename…', 'Move to…', 'Delete…']) {
      await folder.getByRole('button', { name: label, exact: true }).waitFor();
    }
    await page.keyboard.press('Control+k');
    await page.keyboard.type('duplicate shed');
    await page.getByRole('option', { name: 'Duplicate “Shed”' }).waitFor();
    await page.keyboard.press('Escape');
  });

  test('deletes a folder after showing the count, and restores it with undo', async () => {
    await tree.row('Shed').click();
    await tree.press('Delete');
    const dialog = tree.page.getByRole('dialog', { name: 'Delete “Shed”?' });
    await dialog.getByText('3 folders will be deleted').waitFor();
    await dialog.getByRole('button', { name: 'Delete 3 folders' }).click();
    await tree.waitUntilGone('Shed');
    await waitForPaths('Pots', 'Seeds');
    await tree.undo('Deleted “Shed” with 2 folders inside');
    await tree.waitUntilVisible('Shed');
    await waitForPaths(...initialPaths);
  });

  test('deletes several selected folders together', async () => {
    await tree.row('Pots').click();
    await tree.row('Seeds').click({ modifiers: ['Control'] });
    assert.equal((await tree.readAttributes('Pots'))['selected'], 'true');
    assert.equal((await tree.readAttributes('Seeds'))['selected'], 'true');
    await tree.press('Delete');
    const dialog = tree.page.getByRole('dialog', { name: 'Delete 2 folders?' });
    await dialog.getByRole('button', { name: 'Delete 2 folders' }).click();
    await waitForPaths('Shed', 'Shed/Rakes', 'Shed/Spades');
    await tree.waitUntilGone('Pots');
  });

  test('selects siblings and ranges with keys, including folders that are not loaded, but never the root', async () => {
    const { page } = tree;
    const bar = page.getByRole('toolbar', { name: 'Selected folders' });
    await tree.row('Pots').click();
    await tree.press('Control+a');
    await bar.getByText('3 selected').waitFor();
    for (const name of ['Shed', 'Pots', 'Seeds']) {
      assert.equal((await tree.readAttributes(name))['selected'], 'true', name);
    }
    await tree.press('Escape');
    await bar.waitFor({ state: 'detached' });
    await tree.waitForFocus('Pots');
    await tree.press('Shift+Home');
    await bar.getByRole('button', { name: 'Delete' }).and(page.locator(':not([disabled])')).waitFor();
    assert.equal(await tree.tree.locator('[aria-level="1"][aria-selected=true]').count(), 0);
    await tree.press('Escape', 'End', 'Shift+ArrowUp');
    await bar.getByText('2 selected').waitFor();

    await page.goto(testbed.address(`/folders/${await testbed.demo.idOf('/Correspondence/Letter 1')}`));
    await tree.row('Letter 1').click();
    await tree.press('Control+a');
    await bar.getByText('500 selected, the maximum').waitFor();
    await tree.row('Letter 1').click();
    await bar.waitFor({ state: 'detached' });
    await tree.press('Shift+End');
    await bar.getByText('500 selected, the maximum').waitFor();
    await bar.getByRole('button', { name: 'Clear selection' }).click();
    await bar.waitFor({ state: 'detached' });
    assert.equal(await tree.hasFocus(), true);
  });

  test('shows selected folders in another color than the current folder', async () => {
    const { page } = tree;
    const colorOf = async (name: string) => {
      const id = await tree.row(name).getAttribute('id');
      return page.evaluate<string>(`getComputedStyle(document.getElementById('${id}')).backgroundColor`);
    };
    await tree.row('Shed').click();
    await page.getByRole('heading', { level: 1, name: 'Shed' }).waitFor();
    await tree.row('Pots').click({ modifiers: ['Control'] });
    await tree.row('Seeds').click({ modifiers: ['Control'] });
    await tree.row('Shed').click({ modifiers: ['Control'] });
    await page.mouse.move(0, 0);
    const [shed, pots, seeds] = await Promise.all(['Shed', 'Pots', 'Seeds'].map(colorOf));
    assert.equal(pots, seeds);
    assert.notEqual(shed, pots);
    const bar = page.getByRole('toolbar', { name: 'Selected folders' });
    await bar.getByText('2 selected').waitFor();
    await bar.getByRole('button', { name: 'Move to…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Move 2 folders' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    await bar.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 2 folders' }).click();
    await waitForPaths('Shed', 'Shed/Rakes', 'Shed/Spades');
    await bar.waitFor({ state: 'detached' });
  });

  test('asks before a drag or a paste that changes the access of users', async () => {
    const { page } = tree;
    const shedId = await testbed.demo.idOf(`/Bench ${workFolderCount}/Shed`);
    const userId = testbed.demo.userIds.margaret;
    await testbed.tree.mutate('grantAccess', { folderId: shedId, userId, level: 'READ' });
    await tree.drag('Seeds', 'Shed');
    const dialog = page.getByRole('dialog', { name: 'Move “Seeds” into “Shed”?' });
    await dialog.getByText('margaret No access → Read').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    await waitForPaths(...initialPaths);

    await tree.row('Seeds').click();
    await tree.press('Control+x');
    await tree.page.keyboard.type('shed');
    await tree.waitForFocus('Shed');
    await tree.press('Control+v');
    await dialog.getByText('The access of one user changes:').waitFor();
    await dialog.getByRole('button', { name: 'Move', exact: true }).click();
    await waitForPaths('Shed', 'Shed/Rakes', 'Shed/Spades', 'Shed/Seeds', 'Pots');
  });
});
