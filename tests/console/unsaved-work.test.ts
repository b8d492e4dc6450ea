/** Unsaved text survives an expired token, an ended session, a failed save and lost rights. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { ConsoleTestbed } from './console-testbed.ts';

const lifetimeSeconds = 600;

describe('a form of the console on SQLite', () => {
  let testbed: ConsoleTestbed;
  before(async () => {
    testbed = await ConsoleTestbed.start();
  });
  afterEach(async () => {
    await testbed.closeBrowsers();
    await logInAdministrator();
  });
  after(() => testbed.stop());

  const folderPath = '/Places/Harbour Campus';
  const pageOf = async (path: string) => `/folders/${await testbed.demo.idOf(path)}`;
  const readSavedText = async (path: string) => {
    const id = await testbed.demo.idOf(path);
    return (await testbed.tree.find<{ description: string }>(id, 'description'))!.description;
  };
  const field = (page: Page) => page.getByRole('textbox', { name: 'Description' });
  const save = async (page: Page) => {
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Changed “Harbour Campus”').waitFor();
  };
  /** Logs in the administrator of the testbed again, because the token of the testbed can also have expired. */
  const logInAdministrator = async () => {
    testbed.tree.authToken = (await testbed.tree.server.logIn()).authToken;
  };

  test('keeps unsaved text if the auth token expires while the user types', async () => {
    const page = await testbed.openSignedIn('ada', await pageOf(folderPath), { hasServerTime: true });
    const refreshes: number[] = [];
    page.on('response', (answer) => {
      if (answer.url().endsWith('/login/refresh')) refreshes.push(answer.status());
    });
    await field(page).fill('Two halves');
    await testbed.advanceSeconds(lifetimeSeconds + 1, page);
    await field(page).press('End');
    await page.keyboard.type(' of one sentence.');
    await save(page);
    assert.deepEqual(refreshes, [200]);
    await logInAdministrator();
    assert.equal(await readSavedText(folderPath), 'Two halves of one sentence.');
    assert.equal(await page.getByLabel('Password').count(), 0);
  });

  test('keeps unsaved text if the session ends and the same user signs in again', async () => {
    const page = await testbed.openSignedIn('ada', await pageOf(folderPath));
    testbed.expectFaults(/status of 401/);
    await field(page).fill('Typed before the end.');
    await testbed.tree.mutate('revokeSessions', { userId: testbed.demo.userIds.ada });
    const form = page.getByRole('dialog', { name: 'Sign in again' });
    await form.waitFor();
    assert.equal(await form.getByLabel('User name').inputValue(), 'ada');
    assert.equal(
      await page.getByRole('navigation').count(),
      0,
      'the page behind the dialog is not accessible',
    );
    await form.getByLabel('Password').fill(testbed.demo.password);
    await form.getByRole('button', { name: 'Sign in', exact: true }).click();
    await form.waitFor({ state: 'detached' });
    await testbed.waitUntilLive(page);
    assert.equal(await field(page).inputValue(), 'Typed before the end.');
    await save(page);
    assert.equal(await readSavedText(folderPath), 'Typed before the end.');
  });

  test('hides unsaved text from another user who signs in instead', async () => {
    const page = await testbed.openSignedIn('ada', await pageOf(folderPath));
    testbed.expectFaults(/status of 401/);
    await field(page).fill('Nobody else’s business.');
    await testbed.tree.mutate('revokeSessions', { userId: testbed.demo.userIds.ada });
    const form = page.getByRole('dialog', { name: 'Sign in again' });
    await form.getByLabel('User name').fill('admin');
    await form.getByLabel('Password').fill(testbed.passwordOf('admin'));
    await form.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('button', { name: 'Account of admin' }).waitFor();
    await testbed.waitUntilLive(page);
    await field(page).waitFor();
    assert.notEqual(await field(page).inputValue(), 'Nobody else’s business.');
  });

  test('asks for confirmation before a sign-out discards unsaved text', async () => {
    const page = await testbed.openSignedIn('ada', await pageOf(folderPath));
    const signOut = async () => {
      await page.getByRole('button', { name: 'Account of ada' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
    };
    const question = page.getByRole('dialog', { name: 'Sign out without saving?' });
    await field(page).fill('Not saved yet.');
    await signOut();
    await question.getByText('Your changes to “Harbour Campus” are not saved').waitFor();
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    assert.equal(await field(page).inputValue(), 'Not saved yet.');
    await signOut();
    await question.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Espalier' }).waitFor();
  });

  test('keeps unsaved text after a sign-out in another tab', async () => {
    const page = await testbed.openSignedIn('ada', await pageOf(folderPath));
    await field(page).fill('Typed before the sign-out.');
    const other = await page.context().newPage();
    await other.goto(testbed.address('/trash'));
    await other.getByRole('button', { name: 'Account of ada' }).click();
    await other.getByRole('menuitem', { name: 'Sign out' }).click();
    await other.getByRole('heading', { name: 'Sign in to Espalier' }).waitFor();
    const form = page.getByRole('dialog', { name: 'Sign in again' });
    await form.getByRole('button', { name: 'Leave without saving' }).waitFor();
    await form.getByLabel('Password').fill(testbed.demo.password);
    await form.getByRole('button', { name: 'Sign in', exact: true }).click();
    await form.waitFor({ state: 'detached' });
    assert.equal(await field(page).inputValue(), 'Typed before the sign-out.');
  });

  test('never overwrites a concurrent change, and shows both versions', async () => {
    const page = await testbed.openSignedIn('ada', await pageOf(folderPath));
    await field(page).fill('Ada’s words.');
    const id = await testbed.demo.idOf(folderPath);
    await testbed.tree.mutate('updateFolder', { id, description: 'The administrator’s words.' });
    const conflict = page.getByRole('alert').filter({ hasText: 'Another user has changed this folder' });
    const row = conflict.getByRole('grid', { name: 'Conflicting values' }).getByRole('row').nth(1);
    await row.waitFor();
    const values = await row.locator('[role=rowheader], [role=gridcell]').allInnerTexts();
    assert.deepEqual(values, ['Description', 'The administrator’s words.', 'Ada’s words.']);
    assert.equal(await field(page).inputValue(), 'Ada’s words.');
    assert.equal(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled(), true);
    assert.equal(await readSavedText(folderPath), 'The administrator’s words.');
    await conflict.getByRole('button', { name: 'Keep mine' }).click();
    await conflict.waitFor({ state: 'detached' });
    await save(page);
    assert.equal(await readSavedText(folderPath), 'Ada’s words.');
  });

  test('shows why saving failed next to the Save button, at any scroll position', async () => {
    const page = await testbed.openSignedIn('ada', await pageOf(folderPath), { height: 480 });
    const message = 'The description contains a forbidden word.';
    await page.route('**/graphql', (route) =>
      route.request().postData()?.includes('updateFolder')
        ? route.fulfill({ json: { errors: [{ message, extensions: { code: 'BAD_INPUT' } }] } })
        : route.continue(),
    );
    await field(page).fill('Refused.');
    const group = page.getByRole('group', { name: 'Unsaved changes' });
    const alert = group.getByRole('alert');
    await page.keyboard.press('Control+s');
    await alert.getByText(message).waitFor();
    for (const top of [0, 10_000]) {
      await page.evaluate(`document.querySelector('.folder-page').scrollTo(0, ${top})`);
      const { y, height } = (await alert.boundingBox())!;
      assert.ok(y >= 0 && y + height <= 480, `at scroll position ${top}, the alert is at ${y}`);
    }
    await page.evaluate(`document.querySelector('.folder-page').scrollTo(0, 0)`);
    await page.getByRole('button', { name: 'Favorite', exact: true }).click();
    const toastItem = page.getByRole('region', { name: 'Messages' }).getByRole('listitem').first();
    await toastItem.waitFor();
    for (const size of [
      { width: 1280, height: 800 },
      { width: 375, height: 812 },
    ]) {
      await page.setViewportSize(size);
      await eventually(async () => {
        const [bar, toast] = await Promise.all([group, toastItem].map((each) => each.boundingBox()));
        return toast!.y + toast!.height <= bar!.y;
      }, `the message is above the save bar at ${size.width}`);
    }
    await page.getByRole('button', { name: 'Discard' }).click();
    await field(page).fill('Something else.');
    await page.getByRole('button', { name: 'Save', exact: true }).waitFor();
    assert.equal(await alert.count(), 0);
  });

  test('marks the field that the server refuses, until the user edits it', async () => {
    const page = await testbed.openSignedIn('ada', await pageOf(folderPath));
    const title = page.getByLabel('Title');
    await title.fill('x'.repeat(256));
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const message = 'The title of a folder has at most 255 characters.';
    const alert = page.getByRole('group', { name: 'Unsaved changes' }).getByRole('alert');
    await alert.getByText(`Not saved. ${message}`).waitFor();
    assert.equal(await title.getAttribute('aria-invalid'), 'true');
    const describedBy = (await title.getAttribute('aria-describedby'))!.split(' ');
    const texts = await Promise.all(describedBy.map((id) => page.locator(`[id="${id}"]`).innerText()));
    assert.ok(texts.includes(message), texts.join(' | '));
    assert.equal(await field(page).getAttribute('aria-invalid'), null);
    await title.fill('Harbour');
    assert.equal(await title.getAttribute('aria-invalid'), null);
    await page.getByRole('button', { name: 'Discard' }).click();

    await page.getByRole('button', { name: 'Edit as JSON' }).click();
    const properties = page.getByLabel('Properties as JSON');
    await properties.fill(`{"deep": ${'['.repeat(40)}${']'.repeat(40)}}`);
    await page.keyboard.press('Control+s');
    await alert.getByText('must not be nested deeper than 32 levels').waitFor();
    assert.equal(await properties.getAttribute('aria-invalid'), 'true');
    await page.getByRole('button', { name: 'Edit as rows' }).click();
    const group = page.getByRole('group', { name: 'Properties' });
    const problemId = (await group.getAttribute('aria-describedby'))!;
    assert.match(await page.locator(`[id="${problemId}"]`).innerText(), /nested deeper than 32 levels/);
    await page.getByRole('button', { name: 'Discard' }).click();
  });

  test('marks a name that is already in use, and focuses its field', async () => {
    const page = await testbed.openSignedIn('admin', await pageOf('/Places/Harbour Campus'));
    const folder = page.getByRole('region', { name: 'Folder', exact: true });
    await folder.getByRole('button', { name: 'Rename…' }).click();
    const dialog = page.getByRole('dialog');
    const name = dialog.getByLabel('Name');
    await name.fill('Hill Campus');
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await dialog.getByText('The name “Hill Campus” is already in use in that folder.').waitFor();
    await name.and(page.locator(':focus[aria-invalid=true]')).waitFor();
    assert.equal(await dialog.getByRole('alert').count(), 0);
    await name.fill('Harbour Campus 2');
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undone: Renamed to “Harbour Campus 2”').waitFor();
  });

  test('shows a problem of a property only after the user has typed or left the row', async () => {
    const page = await testbed.openSignedIn('ada', await pageOf(folderPath));
    const problems = page.locator('.property-rows .react-aria-FieldError');
    await page.getByRole('button', { name: 'Add property' }).click();
    const name = page.getByLabel('Name of property 5');
    await name.waitFor();
    assert.equal(await problems.count(), 0);
    assert.equal(await page.getByText('Fix the errors first').count(), 0);
    assert.equal(await page.getByRole('button', { name: 'Save', exact: true }).count(), 0);
    await page.getByRole('button', { name: /Type of property 5/ }).click();
    await page.getByRole('option', { name: /^Number/ }).click();
    const value = page.getByLabel('Value of property 5');
    await value.waitFor();
    assert.equal(await problems.count(), 0);
    await value.fill('many');
    assert.deepEqual(await problems.allInnerTexts(), ['Not a number.']);
    await field(page).focus();
    await problems.getByText('Enter a name.').waitFor();
    assert.equal(await problems.count(), 2);
  });

  test('lets the user copy unsaved text after losing Write access', async () => {
    const id = await testbed.demo.idOf(folderPath);
    const setLevel = (level: string) =>
      testbed.tree.mutate('grantAccess', { folderId: id, userId: testbed.demo.userIds.ada, level });
    const page = await testbed.openSignedIn('ada', `/folders/${id}`);
    await field(page).fill('Words without a home.');
    await page.getByLabel('Value of city').fill('Delft');
    const draft = page.getByRole('status', { name: 'Your unsaved changes' });
    try {
      await setLevel('READ');
      await draft.getByText('Words without a home.').waitFor();
      await draft.getByText('"city": "Delft"').waitFor();
      const { y, height } = (await draft.getByText('Words without a home.').boundingBox())!;
      assert.ok(y >= 48 && y + height <= 800, `the text is at ${y}`);
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await draft.getByRole('button', { name: 'Copy description' }).click();
      await draft.getByText('Copied', { exact: true }).first().waitFor({ state: 'attached' });
      assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'Words without a home.');
    } finally {
      await setLevel('MANAGE');
    }
    await draft.waitFor({ state: 'detached' });
    assert.equal(await field(page).inputValue(), 'Words without a home.');
  });
});
