/** The tree of the console: browsed by mouse and keys, reached by addresses, and alive. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { ConsoleBed, type Who } from './console-bed.ts';
import { letterCount } from './demo-estate.ts';
import { TreePage } from './tree-page.ts';

describe('the tree of a console on SQLite', () => {
  let bed: ConsoleBed;
  before(async () => {
    bed = await ConsoleBed.start();
  });
  afterEach(() => bed.closeBrowsers());
  after(() => bed.stop());

  const open = async (path: string | null, who: Who = 'admin') => {
    const place = path === null ? '/folders' : `/folders/${await bed.demo.idOf(path)}`;
    return new TreePage(await bed.signedIn(who, place));
  };

  test('is browsed by the mouse, and the address follows', async () => {
    const tree = await open(null);
    await tree.isShown('Archive', 'Correspondence', 'Places', 'Projects', 'Suppliers');
    await tree.toggle('Projects');
    await tree.row('Roof 2027').click();
    const { page } = tree;
    await page.getByRole('heading', { level: 1, name: 'Roof 2027' }).waitFor();
    assert.equal(page.url(), bed.address(`/folders/${await bed.demo.idOf('/Projects/Roof 2027')}`));
    await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByText('Projects').click();
    await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Roof 2027' }).waitFor();
    await tree.toggle('Projects');
    await tree.isGone('Zero waste');
  });

  test('an address leads to its folder, deep and far down a long level, also after a reload', async () => {
    const place = 2_900;
    const name = `Letter ${place}`;
    const tree = await open(`/Correspondence/${name}`);
    const { page } = tree;
    for (const isAgain of [false, true]) {
      if (isAgain) await page.reload();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      await tree.isShown(name, `Letter ${place + 1}`);
      assert.deepEqual(await tree.hasFocus(name), {
        level: '3',
        posinset: `${place}`,
        setsize: `${letterCount}`,
        expanded: null,
        selected: 'true',
      });
      assert.ok((await tree.tree.getByRole('treeitem').count()) < 100, 'only what is seen is drawn');
    }
  });

  test('is used by keys alone, and tells screen readers where they are', async () => {
    const tree = await open(null);
    const { page } = tree;
    await tree.isShown('Archive');
    // From the top of the page to the tree, by nothing but Tab.
    for (let tabs = 0; tabs < 40; tabs++) {
      await page.keyboard.press('Tab');
      if (await tree.hasKeyboard()) break;
    }
    await tree.press('Home', 'ArrowDown');
    assert.deepEqual(await tree.hasFocus('Archive'), {
      level: '2',
      posinset: '1',
      setsize: '5',
      expanded: 'false',
      selected: 'false',
    });
    await tree.press('ArrowRight', 'ArrowRight');
    assert.equal((await tree.toldOf('Archive'))['expanded'], 'true');
    assert.equal((await tree.hasFocus('1987'))['level'], '3');
    await tree.press('ArrowDown');
    assert.equal((await tree.hasFocus('1988'))['posinset'], '2');
    await tree.press('ArrowLeft');
    await tree.hasFocus('Archive');
    await tree.press('ArrowLeft');
    await tree.isGone('1987');
    await page.keyboard.type('proj');
    await tree.hasFocus('Projects');
    await tree.press('End');
    await tree.hasFocus('Suppliers');
    await tree.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Suppliers' }).waitFor();
  });

  test('finds folders with the way to them, and opens one in its place', async () => {
    const tree = await open(null);
    const { page } = tree;
    await tree.isShown('Archive');
    await page.keyboard.press('/');
    await page.keyboard.type('inspec');
    const found = page.getByRole('listbox', { name: 'Folders found' });
    await found.getByRole('option', { name: 'Inspections' }).first().waitFor();
    assert.match(await found.getByRole('option').first().innerText(), /Inspections[^]*Places/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Inspections' }).waitFor();
    assert.equal((await tree.hasFocus('Inspections'))['level'], '6');
  });

  test('who types and presses Enter at once gets what was typed, not what was found before', async () => {
    const tree = await open(null);
    const { page } = tree;
    await tree.isShown('Archive');
    await page.keyboard.press('/');
    await page.keyboard.type('letter 29');
    await page.getByRole('option', { name: 'Letter 29' }).first().waitFor();
    await page.keyboard.type('1');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Letter 291' }).waitFor();
    await tree.hasFocus('Letter 291');
  });

  test('what others do is there as it happens, with who did it', async () => {
    const id = await bed.demo.idOf('/Projects');
    const tree = await open('/Projects');
    const other = await open('/Projects', 'ada');
    await tree.toggle('Projects');
    await tree.isShown('Zero waste');

    // It is shown for some seconds.
    const marked = tree.row('Winter garden').getByText('by ada, just now').waitFor();
    const page = other.page.getByRole('region', { name: 'Folder', exact: true });
    await page.getByRole('button', { name: 'New folder' }).click();
    const dialog = other.page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Winter garden');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await marked;

    const madeId = await bed.demo.idOf('/Projects/Winter garden');
    await bed.tree.mutate('updateFolder', { id: madeId, name: 'Orangery' });
    await other.isShown('Orangery');
    await tree.isShown('Orangery');
    await tree.isGone('Winter garden');
    const names = (await bed.tree.paths(id)).filter((path) => !path.includes('/', 1));
    const shown = await tree.tree.locator('[aria-level="3"]').allInnerTexts();
    assert.equal(shown.length, names.length);
  });

  test('shows people what was shared with them, and the way there', async () => {
    const tree = await open(null, 'ada');
    await tree.isShown('Places', 'Projects');
    assert.equal(await tree.row('Archive').count(), 0);
    await tree.toggle('Places');
    await tree.isShown('Harbour Campus');
    assert.equal(await tree.row('Hill Campus').count(), 0);
    await tree.row('Places').click();
    await tree.page.getByText('You may only pass through this folder').waitFor();
  });

  test('with nothing to show it says why', async () => {
    const tree = await open(null, 'margaret');
    await tree.page.getByText('No folder was shared with you.').waitFor();
  });
});
