/** The screens of the console: their links, tables, filters and lists, and the view as another user. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { ConsoleTestbed } from './console-testbed.ts';
import { TreePage } from './tree-page.ts';

describe('the console on SQLite', () => {
  let testbed: ConsoleTestbed;
  before(async () => {
    testbed = await ConsoleTestbed.start();
  });
  afterEach(() => testbed.closeBrowsers());
  after(() => testbed.stop());

  test('links the counts of the overview to the sessions and to the failed sign-ins', async () => {
    await testbed.tree.server.post('/login', { username: 'ada', password: 'quince in brown paper' });
    await testbed.tree.server.purge();
    const page = await testbed.openSignedIn('admin', '/overview');
    const chart = page.getByRole('region', { name: 'Failed logins' });
    await chart.getByText('1 failed login', { exact: true }).first().waitFor();
    await chart.getByRole('link', { name: 'Show failed sign-ins' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sign-ins' }).waitFor();
    const table = page.getByRole('grid', { name: 'Sign-ins, the newest first' });
    const failed = table.getByRole('row').filter({ hasText: 'Wrong credentials' });
    await failed.getByRole('link', { name: 'ada' }).waitFor();
    assert.equal(await table.getByText('Success').count(), 0);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await table.getByText('Success').first().waitFor();
    await page.goBack();
    await page.getByRole('region', { name: 'Logins', exact: true }).getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
  });

  test('lists the errors of the last hour with a search of the log', async () => {
    const page = await testbed.openSignedIn('admin', '/overview');
    const chart = page.getByRole('region', { name: 'Errors' });
    await chart.getByRole('button', { name: 'Find errors in the log' }).click();
    const dialog = page.getByRole('dialog');
    assert.match(await dialog.locator('code').innerText(), /^jq .*\.status >= 500/);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
  });

  test('filters the sign-ins, and lists own ones with failed attempts on the account page', async () => {
    await testbed.tree.server.post('/login', { username: 'ada', password: 'quince in brown paper' });
    await testbed.tree.server.purge();
    const page = await testbed.openSignedIn('admin', '/sign-ins');
    const table = page.getByRole('grid', { name: 'Sign-ins, the newest first' });
    await table.getByRole('link', { name: 'admin' }).first().waitFor();
    await page.getByRole('button', { name: 'Any result' }).click();
    await page.getByRole('option', { name: 'Wrong credentials' }).click();
    await table.getByRole('link', { name: 'ada' }).first().waitFor();
    assert.equal(await table.getByRole('link', { name: 'admin' }).count(), 0);
    await page.getByRole('button', { name: 'Any method' }).click();
    await page.getByRole('option', { name: 'Passkey' }).click();
    await page.getByText('No matching sign-ins').waitFor();
    assert.match(page.url(), /\/sign-ins\?result=wrong-credentials&method=passkey$/);

    const own = await testbed.openSignedIn('ada', '/account');
    const ownTable = own.getByRole('grid', { name: 'Your sign-ins, the newest first' });
    await ownTable.getByText('Success').first().waitFor();
    await ownTable.getByText('Wrong credentials').first().waitFor();
  });

  test('links the names in the journal', async () => {
    const { groupIds, userIds } = testbed.demo;
    const folderId = await testbed.demo.idOf('/Places/Hill Campus');
    await testbed.tree.mutate('grantAccess', { folderId, groupId: groupIds.Auditors, level: 'READ' });
    await testbed.tree.mutate(
      'removeFromGroup',
      { groupId: groupIds.Caretakers, userIds: [userIds.linus] },
      'removed',
    );
    const page = await testbed.openSignedIn('admin', '/journal');
    const table = page.getByRole('grid');
    const links = async (text: string) =>
      table
        .getByRole('row')
        .filter({ hasText: text })
        .first()
        .getByRole('link')
        .evaluateAll<string[], { pathname: string; textContent: string }>((all) =>
          all.map(({ pathname, textContent }) => `${textContent} ${pathname}`),
        );
    await table
      .getByText(/^Gave the group/)
      .first()
      .waitFor();
    assert.deepEqual((await links('Gave the group')).slice(1), [
      `“Auditors” /console/groups/${groupIds.Auditors}`,
      `“Hill Campus” /console/folders/${folderId}`,
    ]);
    assert.deepEqual((await links('Removed linus')).slice(1), [
      `linus /console/users/${userIds.linus}`,
      `“Caretakers” /console/groups/${groupIds.Caretakers}`,
    ]);
    await table.getByRole('link', { name: '“Hill Campus”' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Hill Campus' }).waitFor();
  });

  test('lists the activity of each minute of the last hour, and the history of a folder, as tables', async () => {
    const page = await testbed.openSignedIn('admin', '/overview');
    await page.getByText('Show as a table').click();
    const minutes = page.getByRole('grid', { name: 'The last hour by minute, the latest first' });
    const headings = ['Minute', 'Requests', 'Errors', 'Logins', 'Failed logins', 'Refreshes'];
    assert.deepEqual(await minutes.getByRole('columnheader').allInnerTexts(), headings);
    await minutes.getByRole('rowheader').nth(49).waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('51–60 of 60').waitFor();

    const id = await testbed.demo.idOf('/Suppliers/Blue Paint');
    await testbed.tree.mutate('updateFolder', { id, title: 'Blue Paint Ltd' });
    const history = page.getByRole('grid', { name: 'History, the latest first' });
    await page.goto(testbed.address(`/folders/${id}?tab=history`));
    await history.getByRole('rowheader').filter({ hasText: 'Blue Paint Ltd' }).waitFor();

    const { userIds } = testbed.demo;
    await testbed.tree.mutate('grantAccess', { folderId: id, userId: userIds.grace, level: 'READ' });
    await testbed.tree.mutate('updateFolder', { id, title: 'Blue Paint & Co' });
    const reader = await testbed.openSignedIn('grace', `/folders/${id}?tab=history`);
    const visibleEntries = reader
      .getByRole('grid', { name: 'History, the latest first' })
      .getByRole('rowheader');
    await visibleEntries.filter({ hasText: 'It was created' }).waitFor();
    assert.deepEqual((await visibleEntries.allInnerTexts()).slice(-1), ['It was created']);
    await testbed.tree.mutate('revokeAccess', { folderId: id, userId: userIds.grace });
  });

  test('filters the journal by typed or picked times, in the same format as all other dates', async () => {
    const page = await testbed.openSignedIn('admin', '/journal');
    const from = page.getByRole('group', { name: 'From' });
    // Without the marks of the writing direction.
    const textOf = async (field: Locator) =>
      (await field.innerText()).replaceAll(/[\u2066\u2069\n]/g, '').replaceAll(/\s+/g, ' ');
    await from.getByRole('spinbutton', { name: /^day/ }).click();
    await page.keyboard.type('5920240730');
    await page.waitForFunction("document.activeElement.getAttribute('aria-label')?.startsWith('minute')");
    assert.doesNotMatch(page.url(), /from=/);
    await page.keyboard.press('Enter');
    await page.waitForURL(/from=2024-09-0[456]T/);
    assert.equal(await textOf(from), '5 Sept 2024, 07:30');

    await page.getByRole('button', { name: /Until/ }).click();
    const calendar = page.getByRole('dialog').getByRole('application');
    await calendar.getByRole('button', { name: 'Previous' }).click();
    await calendar.getByRole('button', { name: /\b15 / }).click();
    await page.waitForURL(/until=/);
    assert.match(new URL(page.url()).searchParams.get('until')!, /T\d\d:[03]0:00.000Z$/);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await from.getByText('dd', { exact: true }).waitFor();
    assert.equal(await textOf(from), 'dd mm yyyy, ––:––');
  });

  test('filters the journal by the path of a folder, and displays the path even after a reload', async () => {
    const page = await testbed.openSignedIn('admin', '/journal');
    const field = page.getByRole('textbox', { name: 'Folder' });
    await field.fill('/Places');
    await field.press('Enter');
    const id = await testbed.demo.idOf('/Places');
    await page.waitForURL((url) => url.searchParams.get('folder') === id);
    assert.equal(await field.inputValue(), '/Places');
    await page.reload();
    await eventually(async () => (await field.inputValue()) === '/Places', 'the field displays the path');
  });

  test('displays and downloads the paths at the time of each change', async () => {
    const { tree, demo } = testbed;
    const id = await demo.idOf('/Projects/Roof 2027/Bids');
    await tree.mutate('moveFolder', { id, parentId: await demo.idOf('/Archive/1990'), name: 'Offers' });
    await tree.mutate('deleteFolder', { id });
    await tree.mutate('updateFolder', { id: await demo.idOf('/Archive/1990'), name: 'Nineties' });
    const page = await testbed.openSignedIn('admin', '/journal');
    const table = page.getByRole('grid');
    const moved = 'Moved “Bids” from /Projects/Roof 2027 to /Archive/1990 as “Offers”';
    await table.getByText(moved).waitFor();
    await table.getByText('Deleted “Offers” /Archive/1990/Offers').waitFor();
    const row = table.getByRole('row').filter({ hasText: moved });
    await row.getByRole('button', { name: /^Details of entry/ }).click();
    const changes = table.getByRole('table', { name: 'Changed fields' }).getByRole('row');
    assert.match(
      await changes.nth(1).innerText(),
      /^path\s+\/Projects\/Roof 2027\/Bids\s+\/Archive\/1990\/Offers$/,
    );
    await table.getByText('/Archive/1990/Offers (deleted)').waitFor();

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ]);
    const lines = readFileSync(await download.path(), 'utf8').split('\r\n');
    assert.ok(
      lines.some((line) => line.includes(`DELETE_FOLDER,`) && line.includes(`,${id},/Archive/1990/Offers,,`)),
    );
    assert.ok(lines.some((line) => line.includes(`,${id},/Archive/1990/Offers,/Projects/Roof 2027/Bids,`)));
  });

  test('shows the favorites and recent folders of a user in every browser', async () => {
    const roof = await testbed.demo.idOf('/Projects/Roof 2027');
    const page = await testbed.openSignedIn('ada', `/folders/${roof}`);
    const star = page.getByRole('button', { name: 'Favorite', pressed: false });
    await star.click();
    await page.getByRole('button', { name: 'Favorite', pressed: true }).waitFor();
    const tree = new TreePage(page);
    await tree.choose('Zero waste', 'Add to favorites');
    await tree.message('Added “Zero waste” to your favorites').waitFor();

    const other = await testbed.openSignedIn('ada', '/folders/favorites');
    const favorites = other.getByRole('grid', { name: 'Favorites' });
    await favorites.getByText('/Projects/Roof 2027').waitFor();
    await favorites.getByRole('link', { name: 'Zero waste' }).waitFor();
    await other
      .getByRole('navigation', { name: 'Your folders' })
      .getByRole('link', { name: 'Recent' })
      .press('Enter');
    await other.getByRole('grid', { name: 'Recent' }).getByRole('row', { name: 'Roof 2027' }).press('Enter');
    await other.getByRole('heading', { level: 1, name: 'Roof 2027' }).waitFor();

    await tree.undo('Added “Zero waste” to your favorites');
    await tree.choose('Roof 2027', 'Remove from favorites');
    await page.getByRole('button', { name: 'Favorite', pressed: false }).waitFor();
    await other.reload();
    await other.getByRole('link', { name: 'Favorites' }).click();
    await other.getByText('No folders yet').waitFor();
  });

  test('displays shared folders instead of a root that the user cannot read', async () => {
    const { tree, demo } = testbed;
    const several = await testbed.openSignedIn('ada');
    const shared = several.getByRole('grid', { name: 'Shared with me' });
    await shared.getByRole('link', { name: 'Projects' }).waitFor();
    assert.deepEqual(await shared.getByRole('link').allInnerTexts(), ['Harbour Campus', 'Projects']);
    await several.getByRole('treeitem', { name: 'Root' }).click();
    await several.getByText('You see only the name of this folder').waitFor();

    const folderId = await demo.idOf('/Places/Hill Campus/Floor 3');
    await tree.mutate('grantAccess', { folderId, userId: demo.userIds.margaret, level: 'READ' });
    const one = await testbed.openSignedIn('margaret');
    await one.getByRole('heading', { level: 1, name: 'Floor 3' }).waitFor();
    await new TreePage(one).row('Floor 3').waitFor();
    await tree.mutate('revokeAccess', { folderId, userId: demo.userIds.margaret });
  });

  test('marks invisible characters of names in every text and label', async () => {
    const { tree, demo } = testbed;
    const name = 'gpj\u202Eexe\u200B';
    const { user } = await tree.mutate<{ user: { id: string } }>(
      'createUser',
      { username: name, password: demo.password },
      'user{id}',
    );
    const { group } = await tree.mutate<{ group: { id: string } }>('createGroup', { name }, 'group{id}');
    await tree.mutate('addToGroup', { groupId: group.id, userIds: [user.id] }, 'added');
    const id = await tree.create(name, undefined, { title: `T ${name}`, properties: { [name]: name } });
    const childId = await tree.create(name, id);
    await tree.delete(await tree.create(`${name} deleted`, id));
    for (const grantee of [{ userId: user.id }, { groupId: group.id }]) {
      await tree.mutate('grantAccess', { folderId: id, ...grantee, level: 'MANAGE' });
    }
    await tree.server.logIn({ username: name, password: demo.password });
    const page = await testbed.openSignedIn('admin', '/users');
    const unmarked = () =>
      page.evaluate<string[]>(`[...document.body.querySelectorAll('*')].flatMap((element) => [
        ...[...element.attributes]
          .filter(({ name }) => !['value', 'href', 'data-key', 'data-value', 'id', 'datetime'].includes(name))
          .map(({ name, value }) => name + ' of ' + element.localName + ': ' + value),
        ...[...element.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data),
      ]).filter((text) => /[\u200b\u202e]/.test(text))`);
    const press = (label: string | RegExp) => () =>
      page.getByRole('button', { name: label }).filter({ visible: true }).first().click();
    const dialog = (verb: RegExp) => async () => {
      await press(verb)();
      await page.getByRole('dialog').waitFor();
    };
    const menu = (label: RegExp, item?: string) => async () => {
      await press(label)();
      if (item === undefined) return page.getByRole('menuitem').first().waitFor();
      await page.getByRole('menuitem', { name: item }).click();
      await page.getByRole('dialog').waitFor();
    };
    const tabs = ['', '?tab=folders', '?tab=access', '?tab=history'];
    const views: readonly (readonly [path: string, open?: () => Promise<unknown>])[] = [
      ...tabs.map((tab) => [`/folders/${id}${tab}`] as const),
      [`/folders/${childId}?tab=access&person=${user.id}`],
      [`/folders/${childId}?tab=access`, dialog(/^Explain the access of gpj/)],
      [`/folders/${id}?tab=access`, dialog(/^Grant access/)],
      [`/folders/${id}`, dialog(/^Move to/)],
      [`/folders/${id}`, dialog(/^Delete/)],
      [`/folders/${id}?tab=folders`, menu(/^Actions for gpj/)],
      ['/trash'],
      ['/trash', menu(/^More actions for gpj.*deleted/, 'Restore to…')],
      ['/users'],
      [`/users/${user.id}?folder=${id}`],
      [`/users/${user.id}`, dialog(/^Rename/)],
      [`/users/${user.id}`, menu(/^More actions for gpj/)],
      [`/users/${user.id}`, menu(/^More actions for gpj/, 'Disable…')],
      [`/users/${user.id}`, menu(/^More actions for gpj/, 'Delete…')],
      ['/groups'],
      [`/groups/${group.id}`],
      [`/groups/${group.id}`, dialog(/^Rename/)],
      [`/sessions?user=${user.id}`],
      [`/sessions?user=${user.id}`, dialog(/^Revoke all of/)],
      ['/journal'],
      [
        '/users',
        async () => {
          await press(/^Search or run/)();
          await page.keyboard.type('gpj');
          await page.getByRole('option').nth(1).waitFor();
        },
      ],
    ];
    const found: string[] = [];
    for (const [path, open] of views) {
      await page.goto(testbed.address(path));
      await page.locator('.hidden-character').filter({ visible: true }).first().waitFor();
      await open?.();
      found.push(...(await unmarked()).map((text) => `${path} ${open ? 'opened' : ''} ${text}`));
    }
    assert.deepEqual(found, []);
    await tree.delete(id);
    await tree.mutate('deleteGroup', { id: group.id });
    await tree.mutate('deleteUser', { id: user.id });
  });

  test('duplicates a folder with everything inside, and undoes the duplication', async () => {
    const { demo } = testbed;
    const page = await testbed.openSignedIn('ada', `/folders/${await demo.idOf('/Projects/Library move')}`);
    const tree = new TreePage(page);
    await tree.choose('Library move', 'Duplicate');
    await tree.message('Duplicated “Library move” as “Library move (copy)” with 2 folders inside').waitFor();
    await tree.toggle('Library move (copy)');
    await tree.waitUntilVisible('Crates', 'Shelf plan');
    await page
      .getByRole('region', { name: 'Folder', exact: true })
      .getByRole('button', { name: 'More actions' })
      .click();
    await page.getByRole('menuitem', { name: 'Duplicate' }).click();
    await tree.waitUntilVisible('Library move (copy 2)');
    await tree.undo('as “Library move (copy)”');
    await tree.waitUntilGone('Library move (copy)');
    await tree.undo('as “Library move (copy 2)”');
    await tree.waitUntilGone('Library move (copy 2)');
  });

  test('finds folders by words of their path, and opens a pasted id or path', async () => {
    const page = await testbed.openSignedIn('admin', '/folders');
    const field = page.getByRole('combobox', { name: 'Find a folder' });
    await field.fill('hill floor');
    const option = page.getByRole('option').filter({ hasText: 'Places / Hill Campus' }).first();
    await option.waitFor();
    assert.deepEqual(await option.locator('mark').allInnerTexts(), ['Floor', 'Hill']);
    await field.fill('');
    const paste = (text: string) =>
      field.evaluate((input: unknown, data) => {
        const { DataTransfer, ClipboardEvent } = globalThis as unknown as Record<
          string,
          new (...args: unknown[]) => never
        >;
        const clipboardData = new DataTransfer!() as { setData(type: string, text: string): void };
        clipboardData.setData('text/plain', data);
        const event = new ClipboardEvent!('paste', { clipboardData, bubbles: true, cancelable: true });
        (input as { dispatchEvent(event: unknown): void }).dispatchEvent(event);
      }, text);
    await paste('/Places/Hill Campus/Floor 3');
    await page.getByRole('heading', { level: 1, name: 'Floor 3' }).waitFor();
    await paste(await testbed.demo.idOf('/Suppliers/Acme Lifts'));
    await page.getByRole('heading', { level: 1, name: 'Acme Lifts' }).waitFor();
  });

  test('lists the folder with the typed name before commands that contain the name', async () => {
    const page = await testbed.openSignedIn('admin', `/folders/${await testbed.demo.idOf('/Suppliers')}`);
    await page.getByRole('heading', { level: 1, name: 'Suppliers' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('suppliers');
    const options = page.getByRole('option');
    await options.filter({ hasText: '/Suppliers' }).first().waitFor();
    assert.match(await options.first().innerText(), /^Suppliers/);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('rename');
    await options.first().filter({ hasText: 'Rename “Suppliers”…' }).waitFor();
    await page.keyboard.press('Escape');
  });

  test('shows gauges of the server on the overview', async () => {
    const page = await testbed.openSignedIn('admin', '/overview');
    const gauges = page.getByRole('region', { name: 'Stored data' });
    await gauges.waitFor();
    const text = (await gauges.innerText()).replace(/\s+/g, ' ');
    assert.match(text, /Folders 3,\d\d\d including the trash Users 7 .*Database [\d.]+ [kM]B/);
    assert.match(text, /Free disk [\d.]+ [MGT]B for the database Last backup Never/);
  });

  test('displays the tree as another user in one tab, read only', async () => {
    const { demo } = testbed;
    const page = await testbed.openSignedIn('admin', `/users/${demo.userIds.ada}`);
    await page.getByRole('button', { name: 'More actions for ada' }).click();
    await page.getByRole('menuitem', { name: 'View as ada' }).click();
    const frame = page.getByRole('region', { name: 'View as another user' });
    await frame.getByText('You see the tree as ada. Read only.').waitFor();
    await page.getByRole('grid', { name: 'Shared with me' }).getByRole('link', { name: 'Projects' }).click();
    await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor();
    const tree = new TreePage(page);
    await tree.toggle('Projects');
    await tree.waitUntilVisible('Zero waste');
    assert.equal(await tree.row('Archive').count(), 0);
    const folder = page.getByRole('region', { name: 'Folder', exact: true });
    assert.equal(
      await folder.getByRole('button', { name: /New folder|Rename|Save|Favorite|Delete/ }).count(),
      0,
    );
    await tree.row('Zero waste').click({ button: 'right' });
    assert.deepEqual(await page.getByRole('menuitem').allInnerTexts(), [
      'Open',
      'Export…',
      'Your access',
      'Copy link',
      'Copy path',
      'Copy id',
    ]);
    await page.keyboard.press('Escape');
    assert.equal(await page.getByRole('link', { name: 'Users' }).count(), 0);

    const other = await testbed.newTab({}, page.context());
    await other.goto(testbed.address('/users'));
    await other.getByRole('heading', { level: 1, name: 'Users' }).waitFor();
    await page.reload();
    await frame.waitFor();
    await frame.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('heading', { level: 1, name: 'ada' }).waitFor();
    assert.equal(await frame.count(), 0);
  });

  test('leaves the view as another user with a message when the server ends it', async () => {
    const { demo, tree } = testbed;
    testbed.expectFaults(/status of 403/, /WebSocket/);
    const page = await testbed.openSignedIn('admin', `/users/${demo.userIds.margaret}`);
    await page.getByRole('button', { name: 'More actions for margaret' }).click();
    await page.getByRole('menuitem', { name: 'View as margaret' }).click();
    await page.getByText('You see the tree as margaret. Read only.').waitFor();
    await testbed.waitUntilLive(page);
    await tree.mutate('updateUser', { id: demo.userIds.margaret, isDisabled: true });
    await page.getByText('The view as margaret has ended.').waitFor();
    await page.getByRole('button', { name: 'Account of admin' }).waitFor();
    assert.equal(await page.getByRole('region', { name: 'View as another user' }).count(), 0);
    await tree.mutate('updateUser', { id: demo.userIds.margaret, isDisabled: false });
  });
});
