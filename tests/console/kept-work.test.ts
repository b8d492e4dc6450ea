/** What somebody has typed is never lost: not when a token ends, nor when the whole session does. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { ConsoleBed } from './console-bed.ts';

const lifetimeSeconds = 600;

describe('work in a console on SQLite', () => {
  let bed: ConsoleBed;
  before(async () => {
    bed = await ConsoleBed.start();
  });
  afterEach(async () => {
    await bed.closeBrowsers();
    await renewAdministrator();
  });
  after(() => bed.stop());

  const folderPath = '/Places/Harbour Campus';
  const pageOf = async (path: string) => `/folders/${await bed.demo.idOf(path)}`;
  const savedText = async (path: string) => {
    const id = await bed.demo.idOf(path);
    return (await bed.tree.find<{ description: string }>(id, 'description'))!.description;
  };
  const field = (page: Page) => page.getByLabel('Description');
  const save = async (page: Page) => {
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Changed “Harbour Campus”').waitFor();
  };
  /** The administrator's token has ended with the others. */
  const renewAdministrator = async () => {
    bed.tree.authToken = (await bed.tree.testbed.logIn()).authToken;
  };

  test('an auth token that ends in the middle of typing is exchanged, once, and nobody notices', async () => {
    const page = await bed.signedIn('ada', await pageOf(folderPath), { hasServerTime: true });
    const refreshes: number[] = [];
    page.on('response', (answer) => {
      if (answer.url().endsWith('/login/refresh')) refreshes.push(answer.status());
    });
    await field(page).fill('Two halves');
    await bed.pass(lifetimeSeconds + 1, page);
    await field(page).press('End');
    await page.keyboard.type(' of one sentence.');
    await save(page);
    assert.deepEqual(refreshes, [200]);
    await renewAdministrator();
    assert.equal(await savedText(folderPath), 'Two halves of one sentence.');
    assert.equal(await page.getByLabel('Password').count(), 0);
  });

  test('a session that ends leaves what was typed, for who signs in again', async () => {
    const page = await bed.signedIn('ada', await pageOf(folderPath));
    bed.expectFaults(/status of 401/);
    await field(page).fill('Typed before the end.');
    await bed.tree.mutate('revokeSessions', { userId: bed.demo.userIds.ada });
    const form = page.getByRole('dialog', { name: 'Sign in again' });
    await form.waitFor();
    assert.equal(await form.getByLabel('User name').inputValue(), 'ada');
    assert.equal(await page.getByRole('navigation').count(), 0, 'the page behind it is out of reach');
    await form.getByLabel('Password').fill(bed.demo.password);
    await form.getByRole('button', { name: 'Sign in', exact: true }).click();
    await form.waitFor({ state: 'detached' });
    await bed.isLive(page);
    assert.equal(await field(page).inputValue(), 'Typed before the end.');
    await save(page);
    assert.equal(await savedText(folderPath), 'Typed before the end.');
  });

  test('what was typed is not there for who signs in instead', async () => {
    const page = await bed.signedIn('ada', await pageOf(folderPath));
    bed.expectFaults(/status of 401/);
    await field(page).fill('Nobody else’s business.');
    await bed.tree.mutate('revokeSessions', { userId: bed.demo.userIds.ada });
    const form = page.getByRole('dialog', { name: 'Sign in again' });
    await form.getByLabel('User name').fill('admin');
    await form.getByLabel('Password').fill(bed.passwordOf('admin'));
    await form.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('button', { name: 'Account of admin' }).waitFor();
    await bed.isLive(page);
    await field(page).waitFor();
    assert.notEqual(await field(page).inputValue(), 'Nobody else’s business.');
  });

  test('signing out asks before it loses what is not saved', async () => {
    const page = await bed.signedIn('ada', await pageOf(folderPath));
    const signOut = async () => {
      await page.getByRole('button', { name: 'Account of ada' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
    };
    const question = page.getByRole('dialog', { name: 'Sign out without saving?' });
    await field(page).fill('Not saved yet.');
    await signOut();
    await question.getByText('Your changes of “Harbour Campus” are not saved').waitFor();
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    assert.equal(await field(page).inputValue(), 'Not saved yet.');
    await signOut();
    await question.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Espalier' }).waitFor();
  });

  test('signing out in another tab keeps what is not saved in this one', async () => {
    const page = await bed.signedIn('ada', await pageOf(folderPath));
    await field(page).fill('Typed beside it.');
    const other = await page.context().newPage();
    await other.goto(bed.address('/trash'));
    await other.getByRole('button', { name: 'Account of ada' }).click();
    await other.getByRole('menuitem', { name: 'Sign out' }).click();
    await other.getByRole('heading', { name: 'Sign in to Espalier' }).waitFor();
    const form = page.getByRole('dialog', { name: 'Sign in again' });
    await form.getByRole('button', { name: 'Leave without saving' }).waitFor();
    await form.getByLabel('Password').fill(bed.demo.password);
    await form.getByRole('button', { name: 'Sign in', exact: true }).click();
    await form.waitFor({ state: 'detached' });
    assert.equal(await field(page).inputValue(), 'Typed beside it.');
  });

  test('what somebody else saved meanwhile is not overwritten: both are shown', async () => {
    const page = await bed.signedIn('ada', await pageOf(folderPath));
    await field(page).fill('Ada’s words.');
    const id = await bed.demo.idOf(folderPath);
    await bed.tree.mutate('updateFolder', { id, description: 'The administrator’s words.' });
    await page.getByText('The administrator’s words.').first().waitFor();
    assert.equal(await field(page).inputValue(), 'Ada’s words.');
    assert.equal(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled(), true);
    assert.equal(await savedText(folderPath), 'The administrator’s words.');
  });
});
