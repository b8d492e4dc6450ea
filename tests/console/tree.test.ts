/** The tree of the console: navigation with mouse and keys, links, and live updates. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { ConsoleTestbed, type Who } from './console-testbed.ts';
import { letterCount } from './demo-data.ts';
import { TreePage } from './tree-page.ts';

describe('the console tree on SQLite', () => {
  let testbed: ConsoleTestbed;
  before(async () => {
    testbed = await ConsoleTestbed.start();
  });
  afterEach(() => testbed.closeBrowsers());
  after(() => testbed.stop());

  const open = async (path: string | null, who: Who = 'admin') => {
    const index = path === null ? '/folders' : `/folders/${await testbed.demo.idOf(path)}`;
    return new TreePage(await testbed.openSignedIn(who, index));
  };

  test('updates the URL when the user navigates with the mouse', async () => {
    const tree = await open(null);
    await tree.waitUntilVisible('Archive', 'Correspondence', 'Places', 'Projects', 'Suppliers');
    await tree.toggle('Projects');
    await tree.row('Roof 2027').click();
    const { page } = tree;
    await page.getByRole('heading', { level: 1, name: 'Roof 2027' }).waitFor();
    assert.equal(page.url(), testbed.address(`/folders/${await testbed.demo.idOf('/Projects/Roof 2027')}`));
    await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByText('Projects').click();
    await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Roof 2027' }).waitFor();
    await tree.toggle('Projects');
    await tree.waitUntilGone('Zero waste');
  });

  test('opens the folder of a URL, even far down a long level and after a reload', async () => {
    const number = 2_900;
    const name = `Letter ${number}`;
    const tree = await open(`/Correspondence/${name}`);
    const { page } = tree;
    for (const isReloaded of [false, true]) {
      if (isReloaded) {
        await page.evaluate(`document.querySelector('[role=tree]').scrollTo(0, 0)`);
        await tree.waitUntilVisible('Archive');
        await page.reload();
      }
      await page.getByRole('heading', { level: 1, name }).waitFor();
      await tree.waitUntilVisible(name, `Letter ${number + 1}`);
      assert.deepEqual(await tree.waitForFocus(name), {
        level: '3',
        posinset: `${number}`,
        setsize: `${letterCount}`,
        expanded: null,
        selected: 'true',
      });
      assert.ok((await tree.tree.getByRole('treeitem').count()) < 100, 'only visible rows are rendered');
      await tree.waitUntilInView(name);
    }
  });

  test('scrolls to the current folder on a small screen', async () => {
    const id = await testbed.demo.idOf('/Correspondence/Letter 2900');
    const page = await testbed.openSignedIn('admin', `/folders/${id}`, { width: 375, height: 667 });
    const tree = new TreePage(page);
    await page.getByRole('heading', { level: 1, name: 'Letter 2900' }).waitFor();
    for (let times = 0; times < 2; times++) {
      await page.getByRole('link', { name: 'Back to the tree' }).click();
      await tree.waitUntilInView('Letter 2900');
      await tree.row('Letter 2900').click();
    }
  });

  test('is usable with keys alone and informs screen readers', async () => {
    const tree = await open(null);
    const { page } = tree;
    // A reload leaves the focus at the top of the page.
    await page.reload();
    await tree.waitUntilVisible('Archive');
    // Reaches the tree from the top of the page with Tab only.
    for (let tabs = 0; tabs < 40; tabs++) {
      await page.keyboard.press('Tab');
      if (await tree.hasFocus()) break;
    }
    await tree.press('Home', 'ArrowDown');
    assert.deepEqual(await tree.waitForFocus('Archive'), {
      level: '2',
      posinset: '1',
      setsize: '5',
      expanded: 'false',
      selected: 'false',
    });
    await tree.press('ArrowRight', 'ArrowRight');
    assert.equal((await tree.readAttributes('Archive'))['expanded'], 'true');
    assert.equal((await tree.waitForFocus('1987'))['level'], '3');
    await tree.press('ArrowDown');
    assert.equal((await tree.waitForFocus('1988'))['posinset'], '2');
    await tree.press('ArrowLeft');
    await tree.waitForFocus('Archive');
    await tree.press('ArrowLeft');
    await tree.waitUntilGone('1987');
    await page.keyboard.type('proj');
    await tree.waitForFocus('Projects');
    await tree.press('End');
    await tree.waitForFocus('Suppliers');
    await tree.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Suppliers' }).waitFor();
  });

  test('finds folders with their paths and opens one in the tree', async () => {
    const tree = await open(null);
    const { page } = tree;
    await tree.waitUntilVisible('Archive');
    await page.keyboard.press('/');
    await page.keyboard.type('inspec');
    const results = page.getByRole('listbox', { name: 'Folders found' });
    await results.getByRole('option', { name: 'Inspections' }).first().waitFor();
    assert.match(await results.getByRole('option').first().innerText(), /Inspections[^]*Places/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Inspections' }).waitFor();
    assert.equal((await tree.waitForFocus('Inspections'))['level'], '6');
  });

  test('searches for the current text if the user presses Enter immediately', async () => {
    const tree = await open(null);
    const { page } = tree;
    await tree.waitUntilVisible('Archive');
    await page.keyboard.press('/');
    await page.keyboard.type('letter 29');
    await page.getByRole('option', { name: 'Letter 29' }).first().waitFor();
    await page.keyboard.type('1');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Letter 291' }).waitFor();
    await tree.waitForFocus('Letter 291');
  });

  test('shows changes by other users immediately, with the name of the user', async () => {
    const id = await testbed.demo.idOf('/Projects');
    const tree = await open('/Projects');
    const other = await open('/Projects', 'ada');
    await tree.toggle('Projects');
    await tree.waitUntilVisible('Zero waste');

    // The mark disappears after some seconds.
    const markAppeared = tree.row('Winter garden').getByText('by ada, just now').waitFor();
    const page = other.page.getByRole('region', { name: 'Folder', exact: true });
    await page.getByRole('button', { name: 'New folder' }).click();
    const dialog = other.page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Winter garden');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await markAppeared;

    const createdId = await testbed.demo.idOf('/Projects/Winter garden');
    await testbed.tree.mutate('updateFolder', { id: createdId, name: 'Orangery' });
    await other.waitUntilVisible('Orangery');
    await tree.waitUntilVisible('Orangery');
    await tree.waitUntilGone('Winter garden');
    const names = (await testbed.tree.paths(id)).filter((path) => !path.includes('/', 1));
    const rowTexts = await tree.tree.locator('[aria-level="3"]').allInnerTexts();
    assert.equal(rowTexts.length, names.length);
  });

  test('shows shared folders with their ancestors', async () => {
    const tree = await open(null, 'ada');
    await tree.waitUntilVisible('Places', 'Projects');
    assert.equal(await tree.row('Archive').count(), 0);
    await tree.toggle('Places');
    await tree.waitUntilVisible('Harbour Campus');
    assert.equal(await tree.row('Hill Campus').count(), 0);
    await tree.row('Places').click();
    await tree.page.getByText('You see only the name of this folder').waitFor();
  });

  test('explains why it is empty', async () => {
    const tree = await open(null, 'margaret');
    await tree.page.getByText('You do not have access to any folder').waitFor();
  });

  test('marks invisible characters in deceptive names, but not in scripts and emoji', async () => {
    const deceptiveNames = {
      'pay\u200Bpal': 'zero width space (U+200B)',
      'gpj\u202Eexe': 'right-to-left override (U+202E)',
    };
    const honestNames = [
      'می\u200Cخواهم',
      'क्\u200Dष',
      '👩🏽\u200D🚀',
      '❤\uFE0F\u200D🔥',
      '🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}',
      'עברית',
    ];
    const parentId = await testbed.tree.create('Names');
    await testbed.tree.import([...Object.keys(deceptiveNames), ...honestNames], parentId);
    const tree = await open('/Names');
    const { page } = tree;
    await tree.toggle('Names');
    await tree.waitUntilVisible(...honestNames);
    const titles = Object.values(deceptiveNames).toSorted();
    const titlesIn = async (where: string) => {
      const markers = `${where} .hidden-character`;
      await page.locator(markers).first().waitFor();
      const read = `[...document.querySelectorAll('${markers}')].map(({ title }) => title).sort()`;
      return page.evaluate<string[]>(read);
    };
    assert.deepEqual(await titlesIn('[role=tree]'), titles);
    await page.goto(`${page.url()}?tab=folders`);
    assert.deepEqual(await titlesIn('.children'), titles);
    await page.getByRole('row', { name: /exe/ }).getByRole('link').click();
    assert.deepEqual(await titlesIn('h1'), titles.slice(0, 1));
    assert.deepEqual(await titlesIn('.breadcrumbs'), titles.slice(0, 1));
    await page
      .getByRole('region', { name: 'Folder', exact: true })
      .getByRole('button', { name: 'Delete…' })
      .click();
    assert.deepEqual(await titlesIn('[role=dialog]'), titles.slice(0, 1));
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    assert.deepEqual(await titlesIn('.toasts'), titles.slice(0, 1));
    await testbed.tree.delete(parentId);
  });

  test('shows the name of a folder before its title everywhere', async () => {
    const name = 'Harbour Campus';
    const tree = await open(`/Places/${name}`);
    const { page } = tree;
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    assert.match(await page.title(), /^Harbour Campus ·/);
    const inOrder = /Harbour Campus\s+Harbour Campus \(Rotterdam\)/;
    assert.match(await page.locator('.folder-heading').innerText(), inOrder);
    assert.match(await tree.row(name).innerText(), inOrder);
    assert.match(await page.getByRole('navigation', { name: 'Breadcrumbs' }).innerText(), /Harbour Campus$/);
    await page.keyboard.press('/');
    await page.keyboard.type('rotterdam');
    assert.match(await page.getByRole('option').first().innerText(), inOrder);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /^Search or run/ }).click();
    await page.keyboard.type('harbour');
    assert.match(await page.getByRole('option', { name: /Rotterdam/ }).innerText(), inOrder);
  });

  test('opens the menu of a folder on a long press, with rows large enough for touch', async () => {
    const id = await testbed.demo.idOf('/Archive/2000');
    const tree = new TreePage(await testbed.openSignedIn('admin', '/folders', { isTouch: true, width: 375 }));
    const { page } = tree;
    await tree.waitUntilVisible('Archive', 'Places');
    const box = (await tree.row('Places').boundingBox())!;
    assert.equal(box.height, 44);
    const [x, y] = [box.x + 100, box.y + 20];
    const touch = await page.context().newCDPSession(page);
    await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }] });
    const menu = page.getByRole('menu', { name: 'Actions for Places' });
    await menu.waitFor();
    await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    assert.ok((await menu.getByRole('menuitem').first().boundingBox())!.height >= 44);
    await menu.getByRole('menuitem', { name: 'New folder…' }).tap();
    const dialog = page.getByRole('dialog', { name: 'New folder in “Places”' });
    const field = dialog.getByLabel('Name');
    await field.waitFor();
    assert.equal(page.url(), testbed.address('/folders'), 'the press did not open the folder');
    const readSize = `parseFloat(getComputedStyle(document.querySelector('[role=dialog] input')).fontSize)`;
    assert.ok((await page.evaluate<number>(readSize)) >= 16);
    await dialog.getByRole('button', { name: 'Cancel' }).tap();
    await dialog.waitFor({ state: 'detached' });
    await tree.row('Archive').locator('[data-part=toggle]').tap();
    await tree.row('2000').tap();
    await page.waitForURL(testbed.address(`/folders/${id}`));
    await page.getByRole('link', { name: 'Back to the tree' }).tap();
    await tree.waitUntilVisible('2000');
    assert.equal((await tree.readAttributes('2000'))['selected'], 'false', 'the user selected nothing');
    assert.equal(await page.getByRole('toolbar', { name: 'Selected folders' }).count(), 0);
  });
});
