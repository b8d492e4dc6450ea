/** Import and export of folders in the console: files that are dropped or chosen, bad files, and a lost server. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import axe from 'axe-core';
import type { Locator, Page, Route } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { ConsoleTestbed } from './console-testbed.ts';
import { TreePage } from './tree-page.ts';

interface DroppedFile {
  readonly name: string;
  readonly text?: string;
  readonly bytes?: readonly number[];
  /** The size that the file claims. */
  readonly size?: number;
}

const rooms = 'path,title\r\nFloor 1/Room 1,First\r\nFloor 1/Room 2,\r\n';

describe('the console on SQLite', () => {
  let testbed: ConsoleTestbed;
  let tree: TreePage;
  let page: Page;
  let workFolderId: string;
  let workFolderCount = 0;
  before(async () => {
    testbed = await ConsoleTestbed.start({ settings: { MAX_IMPORT_FOLDERS: '4000' } });
    page = await testbed.openSignedIn('admin', '/folders');
    tree = new TreePage(page);
    await page.evaluate(axe.source);
  });
  after(async () => {
    await testbed.closeBrowsers();
    await testbed.stop();
  });
  beforeEach(async () => {
    // A failed test may have left a dialog open.
    if ((await page.getByRole('dialog').count()) > 0)
      await page.reload().then(() => page.evaluate(axe.source));
    workFolderId = await testbed.tree.create(`Bench ${++workFolderCount}`);
    await testbed.tree.import(['Shed', 'Shed/Rakes'], workFolderId);
    await openFolder(`/Bench ${workFolderCount}/Shed/Rakes`);
  });
  afterEach(async () => {
    testbed.assertNoFaults();
    await testbed.tree.delete(workFolderId);
  });

  /** Opens the folder without loading the page again. */
  const openFolder = async (path: string) => {
    const address = testbed.address(`/folders/${await testbed.demo.idOf(path)}`);
    await page.evaluate(
      `history.pushState(null, '', ${JSON.stringify(address)}); dispatchEvent(new PopStateEvent('popstate'))`,
    );
    await tree.waitUntilVisible(path.split('/').at(-1)!);
    await page.getByRole('heading', { level: 1, name: path.split('/').at(-1)!, exact: true }).waitFor();
  };
  const dialog = () => page.getByRole('dialog');
  const button = (name: string) => dialog().getByRole('button', { name, exact: true });
  const pathsBelow = async () => (await testbed.tree.paths(workFolderId)).toSorted();
  const waitForPaths = async (...paths: readonly string[]) => {
    let read: string[] = [];
    await eventually(
      async () => {
        read = await pathsBelow();
        return JSON.stringify(read) === JSON.stringify(paths.toSorted());
      },
      `the folders are ${paths.join(', ')}`,
    ).catch(() => assert.deepEqual(read, paths.toSorted()));
  };
  const initialPaths = ['Shed', 'Shed/Rakes'];

  /** Drags files from the computer over an element, and drops them there. */
  const drop = async (target: Locator, ...files: readonly DroppedFile[]) => {
    const data = await page.evaluateHandle(`(() => {
      const data = new DataTransfer();
      for (const { name, text, bytes, size } of ${JSON.stringify(files)}) {
        const file = new File([bytes ? new Uint8Array(bytes) : text], name);
        if (size !== undefined) {
          // DataTransfer copies the file, so the claimed size is set on the prototype.
          Object.defineProperty(File.prototype, 'size', { configurable: true, get: () => size });
          File.prototype.arrayBuffer = () => { throw new Error('The file was read.'); };
        }
        data.items.add(file);
      }
      return data;
    })()`);
    await target.dispatchEvent('dragover', { dataTransfer: data });
    await target.dispatchEvent('drop', { dataTransfer: data });
  };
  const choose = (file: { name: string; text: string }) =>
    dialog()
      .locator('input[type=file]')
      .setInputFiles({ name: file.name, mimeType: 'text/plain', buffer: Buffer.from(file.text) });
  const problem = (text: string | RegExp) => dialog().getByRole('alert').filter({ hasText: text });
  const close = async () => {
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
  };
  const assertAccessible = async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const violations = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
        `axe.run(document, { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }).then(({ violations }) => violations)`,
      );
      assert.deepEqual(
        violations.map(({ id, nodes }) => [colorScheme, id, nodes.map(({ html }) => html.slice(0, 200))]),
        [],
      );
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 375, height: 700 });
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    await page.setViewportSize({ width: 1280, height: 800 });
    assert.ok(width <= 375, `the page is ${width} pixels wide`);
  };

  test('imports a CSV file that is dropped on a folder of the tree, and undoes the import', async () => {
    await drop(tree.row('Rakes'), { name: 'rooms.csv', text: rooms });
    await page.getByRole('dialog', { name: 'Import into “Rakes”' }).waitFor();
    await dialog().getByText('Creates 3 folders.').waitFor();
    await dialog().getByRole('rowheader', { name: 'Floor 1/Room 1' }).waitFor();
    await assertAccessible();
    await button('Import').click();
    await dialog().getByText('Created 3 folders in “Rakes”.').waitFor();
    assert.equal(await tree.message('Imported').count(), 0);
    await assertAccessible();
    const imported = ['Floor 1', 'Floor 1/Room 1', 'Floor 1/Room 2'].map((path) => `Shed/Rakes/${path}`);
    await waitForPaths(...initialPaths, ...imported);
    await button('Undo').click();
    await waitForPaths(...initialPaths);
    await tree.message('Undone: Imported 3 folders into “Rakes”').waitFor();
  });

  test('imports a file that is dropped on the page of a folder, and shows the folder', async () => {
    await drop(page.locator('.folder-page'), { name: 'rooms.ndjson', text: '{"path":"Bins"}\n' });
    await button('Import').click();
    await button('Show the folder').click();
    await page.getByRole('tab', { name: 'Folders', selected: true }).waitFor();
    await page.getByRole('tabpanel').getByText('Bins', { exact: true }).waitFor();
    await waitForPaths(...initialPaths, 'Shed/Rakes/Bins');
  });

  test('explains each format with an example that it can import', async () => {
    for (const format of ['CSV', 'JSON', 'NDJSON']) {
      await tree.choose('Rakes', 'Import…');
      await dialog().getByRole('tab', { name: format, exact: true }).click();
      const example = dialog().getByRole('tabpanel').locator('pre');
      await choose({ name: `x.${format.toLowerCase()}`, text: await example.innerText() });
      await dialog().getByText('Creates 2 folders.').waitFor();
      await dialog().getByRole('rowheader', { name: 'Building A/Room 1' }).waitFor();
      await dialog().getByText('{"floor":2}').waitFor();
      await close();
    }
  });

  test('imports with the keyboard from the menu of the tree', async () => {
    await tree.row('Rakes').click();
    await tree.press('Shift+F10');
    await page.getByRole('menuitem', { name: 'Import…' }).press('Enter');
    await page.getByRole('dialog', { name: 'Import into “Rakes”' }).waitFor();
    await assertAccessible();
    await button('Choose a file…').and(page.locator(':focus')).waitFor();
    const chooser = page.waitForEvent('filechooser');
    await page.keyboard.press('Enter');
    await (
      await chooser
    ).setFiles({
      name: 'bins.json',
      mimeType: 'application/json',
      buffer: Buffer.from('[{"name":"Bins","folders":[{"name":"Glass"}]}]'),
    });
    await dialog().getByText('Creates 2 folders.').waitFor();
    await button('Import').focus();
    await page.keyboard.press('Enter');
    await button('Show the folder').and(page.locator(':focus')).waitFor();
    await close();
    await eventually(() => tree.hasFocus(), 'the tree has the focus');
    await waitForPaths(...initialPaths, 'Shed/Rakes/Bins', 'Shed/Rakes/Bins/Glass');
  });

  test('keeps existing folders, updates them, or rejects the import, as the user chooses', async () => {
    await drop(tree.row('Shed'), {
      name: 'x.csv',
      text: 'path,title\nRakes,Tools\nRakes/Long,\n',
    });
    await dialog().getByText('Creates one folder, keeps one folder that exists.').waitFor();
    const select = dialog().getByRole('button', { name: /Folders that exist already/ });
    const pick = async (name: RegExp) => {
      await select.click();
      await page.getByRole('option', { name }).click();
    };
    await pick(/Stop/);
    await problem('The name “Rakes” is already in use').waitFor();
    assert.ok(await button('Import').isDisabled());
    await pick(/Update them/);
    await dialog().getByText('Creates one folder, updates one folder.').waitFor();
    await button('Import').click();
    await dialog().getByText('Updated one folder.').waitFor();
    await dialog().getByText('This import cannot be undone here').waitFor();
    await button('Done').click();
    await waitForPaths(...initialPaths, 'Shed/Rakes/Long');
    assert.equal(await tree.message('into “Shed”').count(), 0);
    await tree.row('Rakes').getByText('Tools').waitFor();
  });

  test('lists the errors of a file with their lines, and sends nothing', async () => {
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.postData() ?? ''));
    await drop(tree.row('Shed'), { name: 'x.csv', text: 'path,title\na\na/b,c,d\n"c\nd"\na\n' });
    await problem('“x.csv” has 3 errors.').waitFor();
    const rows = await dialog().getByRole('row').allInnerTexts();
    assert.deepEqual(
      rows.map((row) => row.replace(/\s+/g, ' ').trim()),
      [
        'Position Folder Error',
        'Line 3 The line has more cells than the first line.',
        'Line 4 c\\u{a}d A folder name must not contain a slash or a control character.',
        'Line 6 a It appears twice.',
      ],
    );
    assert.equal(await button('Import').count(), 0);
    await assertAccessible();
    assert.deepEqual(
      requests.filter((body) => body.includes('importFolders')),
      [],
    );
    await choose({ name: 'y.csv', text: 'path\na\n' });
    await dialog().getByText('Creates one folder.').waitFor();
    await close();
    await waitForPaths(...initialPaths);
  });

  const utf16 = [...Buffer.from('\ufeffpath\nGrün\n', 'utf16le')];
  const badFiles: readonly (readonly [kind: string, file: DroppedFile, message: string])[] = [
    ['of another type', { name: 'x.xlsx', text: 'PK' }, 'is not a CSV, JSON or NDJSON file'],
    ['without folders', { name: 'x.json', text: '[]' }, '“x.json” contains no folders.'],
    ['that is empty', { name: 'x.csv', text: '' }, '“x.csv” contains no folders.'],
    ['of damaged JSON', { name: 'x.json', text: '[{"path":"a"},' }, 'The content is not valid JSON'],
    ['of damaged CSV', { name: 'x.csv', text: 'path\na\n"b\n' }, 'Line 3: a quote is misplaced'],
    [
      'in Latin-1',
      { name: 'x.csv', bytes: [...Buffer.from('path\nGr\xfcn\n', 'latin1')] },
      'Line 2 is not valid UTF-8',
    ],
    [
      'in UTF-16 without a mark',
      { name: 'x.csv', bytes: [...Buffer.from('path\na\n', 'utf16le')] },
      'UTF-16 without a byte order mark',
    ],
    [
      'of 2 GB, unread',
      { name: 'x.csv', text: 'path\n', size: 2 ** 31 },
      'has 2.0 GiB. The maximum for an import is 32 MiB.',
    ],
  ];
  test('explains why a bad file cannot be imported', async () => {
    for (const [kind, file, message] of badFiles) {
      await drop(tree.row('Shed'), file);
      await problem(message)
        .waitFor()
        .catch((cause: unknown) => {
          throw new Error(`a file ${kind}`, { cause });
        });
      await close();
    }
    await page.reload();
    await tree.waitUntilVisible('Shed');
    await page.evaluate(axe.source);
    await waitForPaths(...initialPaths);
  });

  test('reads UTF-16 with a byte order mark', async () => {
    await drop(tree.row('Shed'), { name: 'x.csv', bytes: utf16 });
    await dialog().getByRole('rowheader', { name: 'Grün' }).waitFor();
    await close();
  });

  test("reports the server's maximum number of folders before anything is imported", async () => {
    const paths = Array.from({ length: 4_001 }, (_, index) => `{"path":"n${index}"}\n`).join('');
    await drop(tree.row('Shed'), { name: 'many.ndjson', text: paths });
    await problem('at most 4000 folders').waitFor();
    assert.ok(await button('Import').isDisabled());
    await close();
  });

  test('refuses several files and directories', async () => {
    await drop(tree.row('Shed'), { name: 'a.csv', text: rooms }, { name: 'b.csv', text: rooms });
    await tree.message('these are 2 files. Drop one file at a time.').waitFor();
    assert.equal(await dialog().count(), 0);
    await page.evaluate(`DataTransferItem.prototype.webkitGetAsEntry = () => ({ isDirectory: true })`);
    await drop(tree.row('Shed'), { name: 'plans', text: '' });
    await tree.message('this is a directory').waitFor();
    assert.equal(await dialog().count(), 0);
    await page.reload();
    await tree.waitUntilVisible('Shed');
    await page.evaluate(axe.source);
  });

  test('refuses a file for a folder without Write access, without reading the file', async () => {
    const admin = page;
    page = await testbed.openSignedIn('grace', `/folders/${await testbed.demo.idOf('/Places/Hill Campus')}`);
    const graceTree = new TreePage(page);
    await graceTree.waitUntilVisible('Hill Campus');
    await page.evaluate(`File.prototype.arrayBuffer = () => { throw new Error('The file was read.'); }`);
    await drop(graceTree.row('Hill Campus'), { name: 'rooms.csv', text: rooms });
    await graceTree
      .message('you have only Read access to “Hill Campus”. An import needs Write access.')
      .waitFor();
    assert.equal(await dialog().count(), 0);
    await graceTree.row('Hill Campus').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Export…' }).waitFor();
    assert.equal(await page.getByRole('menuitem', { name: 'Import…' }).count(), 0);
    await page.context().close();
    page = admin;
  });

  /** Delays or fails the import itself, but not its dry run. */
  const interceptImport = async (handle: (route: Route, attempt: number) => Promise<void>) => {
    const keys: (string | undefined)[] = [];
    const isImport = (body: string) => body.includes('{importFolders(') && !body.includes('"dryRun":true');
    const intercept = async (route: Route) => {
      const request = route.request();
      if (!isImport(request.postData() ?? '')) return route.continue();
      keys.push(request.headers()['idempotency-key']);
      await handle(route, keys.length);
    };
    await page.route('**/graphql', intercept);
    return { keys, stop: () => page.unroute('**/graphql', intercept) };
  };

  test('imports once if the response is lost and the user tries again', async () => {
    testbed.expectFaults(/Failed to load resource/);
    let isLost = true;
    const { keys, stop } = await interceptImport(async (route) => {
      if (!isLost) return route.continue();
      // The server makes the import, and its response is lost.
      await route.fetch().catch(() => undefined);
      await route.abort('connectionreset');
    });
    await drop(tree.row('Rakes'), { name: 'rooms.csv', text: rooms });
    await button('Import').click();
    await problem('The server imports all folders or none.').waitFor();
    await assertAccessible();
    isLost = false;
    await button('Try again').click();
    await dialog().getByText('Created 3 folders').waitFor();
    assert.equal(new Set(keys).size, 1);
    await stop();
    await close();
    assert.equal((await pathsBelow()).length, 5);
  });

  test('cancels the import on the server when the dialog is closed', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const { stop } = await interceptImport(async (route) => {
      await released;
      await route.continue().catch(() => undefined);
    });
    await drop(tree.row('Rakes'), { name: 'rooms.csv', text: rooms });
    await button('Import').click();
    await button('Cancel import').click();
    await tree.message('Canceled the import of “rooms.csv” into “Rakes”. Nothing was imported.').waitFor();
    assert.equal(await dialog().count(), 0);
    release();
    await stop();
    await waitForPaths(...initialPaths);
  });

  test('reports that an import was complete before it could be canceled', async () => {
    const { stop } = await interceptImport(async (route) => {
      await route.fetch();
      await button('Cancel import').click();
    });
    await drop(tree.row('Rakes'), { name: 'rooms.csv', text: rooms });
    await button('Import').click();
    await tree.message('before it could be canceled').waitFor();
    await stop();
    assert.equal((await pathsBelow()).length, 5);
  });

  test('exports a folder to files that an import reads unchanged', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-export-'));
    const formula = { path: '=1+1', title: '@title', properties: { n: -1 } };
    await testbed.tree.import([formula], await testbed.demo.idOf(`/Bench ${workFolderCount}/Shed`));
    for (const [index, format] of ['CSV', 'JSON', 'NDJSON'].entries()) {
      await tree.choose('Shed', 'Export…');
      if (index > 0) {
        await dialog()
          .getByRole('button', { name: /Format/ })
          .click();
        await page.getByRole('option', { name: new RegExp(`^${format}`) }).click();
      }
      if (index === 0) await assertAccessible();
      const download = page.waitForEvent('download');
      await button('Export').click();
      const downloadedFile = await download;
      assert.equal(downloadedFile.suggestedFilename(), `Shed.${format.toLowerCase()}`);
      const path = join(folder, downloadedFile.suggestedFilename());
      await downloadedFile.saveAs(path);
      const text = readFileSync(path, 'utf8');
      if (format === 'CSV') assert.match(text, /^'=1\+1,'@title,,,"\{""n"":-1\}"\r$/m);
      const copy = await testbed.tree.create(`Copy ${format}`, workFolderId);
      await openFolder(`/Bench ${workFolderCount}/Copy ${format}`);
      await drop(page.locator('.folder-page'), { name: downloadedFile.suggestedFilename(), text });
      await button('Import').click();
      await button('Done').click();
      const read = async (id: string) =>
        (
          await testbed.tree.query<{ exportFolders: unknown[] }>(
            'query($id:ID){exportFolders(id:$id){path title icon description properties}}',
            { id },
          )
        ).exportFolders;
      assert.deepEqual(
        await read(copy),
        await read(await testbed.demo.idOf(`/Bench ${workFolderCount}/Shed`)),
      );
    }
    rmSync(folder, { recursive: true });
  });

  test('offers import and export on the page and in the palette', async () => {
    await page
      .getByRole('region', { name: 'Folder', exact: true })
      .getByRole('button', { name: 'More actions' })
      .filter({ visible: true })
      .click();
    await page.getByRole('menuitem', { name: 'Import…' }).waitFor();
    await page.getByRole('menuitem', { name: 'Export…' }).click();
    await page.getByRole('dialog', { name: 'Export “Rakes”' }).waitFor();
    await close();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or run a command' }).fill('Import');
    await page.getByRole('option', { name: 'Import into “Rakes”…' }).click();
    await page.getByRole('dialog', { name: 'Import into “Rakes”' }).waitFor();
    await close();
  });
});
