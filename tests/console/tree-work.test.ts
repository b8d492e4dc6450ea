/** What people do in the tree of the console: made, renamed, moved, deleted, and taken back. */

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { ConsoleBed } from './console-bed.ts';
import { TreePage } from './tree-page.ts';

describe('work in the tree of a console on SQLite', () => {
  let bed: ConsoleBed;
  let tree: TreePage;
  let benchId: string;
  let benches = 0;
  before(async () => {
    bed = await ConsoleBed.start();
    tree = new TreePage(await bed.signedIn('admin', '/folders'));
  });
  after(async () => {
    await bed.closeBrowsers();
    await bed.stop();
  });
  /** A place of its own for each test; its rows are the only ones of their names on the screen. */
  beforeEach(async () => {
    benchId = await bed.tree.create(`Bench ${++benches}`);
    await bed.tree.import(['Shed', 'Shed/Rakes', 'Shed/Spades', 'Pots', 'Seeds'], benchId);
    await tree.page.goto(bed.address(`/folders/${await bed.demo.idOf(`/Bench ${benches}/Pots`)}`));
    await tree.isShown('Shed', 'Pots', 'Seeds');
  });
  afterEach(async () => {
    bed.assertNoFaults();
    await bed.tree.delete(benchId);
  });

  const hasPaths = async (...paths: readonly string[]) => {
    let read: string[] = [];
    await eventually(
      async () => {
        read = (await bed.tree.paths(benchId)).toSorted();
        return JSON.stringify(read) === JSON.stringify(paths.toSorted());
      },
      `the folders are ${paths.join(', ')}`,
    ).catch(() => assert.deepEqual(read, paths.toSorted()));
  };
  const asPlanted = ['Shed', 'Shed/Rakes', 'Shed/Spades', 'Pots', 'Seeds'];

  test('a new folder is made inside the one that has the focus, and is taken back', async () => {
    await tree.row('Shed').click();
    await tree.press('Insert');
    const dialog = tree.page.getByRole('dialog', { name: 'New folder in “Shed”' });
    await dialog.getByLabel('Name').fill('Hoes');
    await tree.page.keyboard.press('Enter');
    await tree.isShown('Hoes');
    await hasPaths(...asPlanted, 'Shed/Hoes');
    await tree.undo('Created “Hoes”');
    await tree.isGone('Hoes');
    await hasPaths(...asPlanted);
  });

  test('a folder is renamed in place, and a name that is taken is refused there', async () => {
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
    await tree.isShown('Jars');
    await hasPaths(...asPlanted.map((path) => path.replace('Pots', 'Jars')));
    await tree.hasFocus('Jars');
    await tree.said('Renamed to “Jars”').waitFor();
    await tree.press('Control+z');
    await tree.isShown('Pots');
    await hasPaths(...asPlanted);
  });

  test('a refused name leaves another alone that is being typed', async () => {
    const { page } = tree;
    const field = page.getByLabel('New name');
    const asked = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('updateFolder')) {
        asked.resolve();
        await held.promise;
      }
      await route.continue();
    });
    await tree.row('Pots').click();
    await tree.press('F2');
    await field.fill('Shed');
    await field.press('Enter');
    await asked.promise;
    await tree.row('Seeds').click();
    await tree.press('F2');
    await field.fill('See');
    // As an input method has it: the name is not complete.
    await field.dispatchEvent('keydown', { key: 'Enter', isComposing: true });
    await field.pressSequentially('dlings');
    held.resolve();
    await tree.said('“Pots” was not renamed to “Shed”').waitFor();
    assert.equal(await field.inputValue(), 'Seedlings');
    await field.press('Enter');
    await hasPaths('Shed', 'Shed/Rakes', 'Shed/Spades', 'Pots', 'Seedlings');
    await page.unroute('**/graphql');
  });

  test('a folder is moved by the mouse, and back by Undo', async () => {
    await tree.drag('Seeds', 'Shed');
    await hasPaths('Shed', 'Shed/Rakes', 'Shed/Spades', 'Shed/Seeds', 'Pots');
    await tree.isGone('Seeds');
    await tree.toggle('Shed');
    await tree.isShown('Seeds');
    await tree.undo('Moved “Seeds” into “Shed”');
    await hasPaths(...asPlanted);
    assert.equal((await tree.toldOf('Seeds'))['level'], '3');
  });

  test('a drag that is given up moves nothing, and a folder cannot go into itself', async () => {
    const { page } = tree;
    await tree.toggle('Shed');
    await tree.isShown('Rakes');
    await tree.drag('Shed', 'Rakes');
    const [from, to] = await Promise.all(['Pots', 'Shed'].map((name) => tree.row(name).boundingBox()));
    await page.mouse.move(from!.x + 60, from!.y + 8);
    await page.mouse.down();
    await page.mouse.move(to!.x + 60, to!.y + 8, { steps: 3 });
    await page.keyboard.press('Escape');
    await page.mouse.up();
    await hasPaths(...asPlanted);
  });

  test('a folder is moved by keys: with “Move to…”, and by cutting and pasting', async () => {
    const { page } = tree;
    await tree.row('Pots').click();
    await tree.press('Shift+F10');
    await page.getByRole('menuitem', { name: 'Move to…' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Move “Pots”' });
    await dialog.getByRole('combobox', { name: 'Find a folder' }).fill('Spades');
    await dialog.getByRole('option').first().waitFor();
    await page.keyboard.press('Enter');
    await dialog.getByText(`Chosen: /Bench ${benches}/Shed/Spades`).waitFor();
    // Until it is known what the move would do, there is nothing to press.
    await dialog.getByText('One folder moves.').waitFor();
    await dialog.getByRole('button', { name: 'Move', exact: true }).press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await hasPaths('Shed', 'Shed/Rakes', 'Shed/Spades', 'Shed/Spades/Pots', 'Seeds');

    await tree.row('Seeds').click();
    await tree.press('Control+x');
    await tree.page.keyboard.type('shed');
    await tree.hasFocus('Shed');
    await tree.press('Control+v');
    await hasPaths('Shed', 'Shed/Rakes', 'Shed/Spades', 'Shed/Spades/Pots', 'Shed/Seeds');
  });

  test('a folder is deleted with the number that goes, and comes back by Undo', async () => {
    await tree.row('Shed').click();
    await tree.press('Delete');
    const dialog = tree.page.getByRole('dialog', { name: 'Delete “Shed”?' });
    await dialog.getByText('3 folders go').waitFor();
    await dialog.getByRole('button', { name: 'Delete 3 folders' }).click();
    await tree.isGone('Shed');
    await hasPaths('Pots', 'Seeds');
    await tree.undo('Deleted “Shed” with 2 inside');
    await tree.isShown('Shed');
    await hasPaths(...asPlanted);
  });

  test('several are selected, and go together', async () => {
    await tree.row('Pots').click();
    await tree.row('Seeds').click({ modifiers: ['Control'] });
    assert.equal((await tree.toldOf('Pots'))['selected'], 'true');
    assert.equal((await tree.toldOf('Seeds'))['selected'], 'true');
    await tree.press('Delete');
    const dialog = tree.page.getByRole('dialog', { name: 'Delete 2 folders?' });
    await dialog.getByRole('button', { name: 'Delete 2 folders' }).click();
    await hasPaths('Shed', 'Shed/Rakes', 'Shed/Spades');
    await tree.isGone('Pots');
  });
});
