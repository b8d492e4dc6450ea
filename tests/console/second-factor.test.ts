/** The second factor in the console: authenticator apps, recovery codes, passkeys, forced enrolment and the reset. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { CDPSession, Page } from 'playwright-core';
import { sqlite } from '../support/databases.ts';
import { codeAt, codeSeconds } from '../support/authenticator-app.ts';
import { Testbed } from '../support/testbed.ts';
import { assertAccessible } from './accessibility.ts';
import { ConsoleTestbed, type Who } from './console-testbed.ts';
import { consoleFolder, loadBudgets, recordLoads, totalOf } from './first-load.ts';
import { eventually } from '../support/eventually.ts';

const refusedLogin = /status of 401 .*\/login(\/\w+)*\)$/;

/** The secret that the page displays as text. */
async function readSecret(page: Page): Promise<string> {
  return (await page.locator('.app-secret-text code').innerText()).replaceAll(' ', '');
}

/** Checks the recovery codes, and returns them. */
async function storeRecoveryCodes(page: Page): Promise<string[]> {
  const items = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
  await items.first().waitFor();
  const codes = await items.allInnerTexts();
  const goOn = page.getByRole('button', { name: 'Continue' });
  assert.equal(await goOn.isDisabled(), true);
  await page.getByText('I stored these codes').click();
  await goOn.click();
  return codes;
}

const card = (page: Page) => page.getByRole('region', { name: 'Second factor' });

async function openAccount(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account of / }).click();
  await page.getByRole('menuitem', { name: 'Your account' }).click();
  await card(page).getByRole('heading', { name: 'Authenticator app' }).waitFor();
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account of / }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to Espalier' }).waitFor();
}

/** Adds an authenticator that stores passkeys and verifies the user without a dialog. */
async function addAuthenticator(page: Page): Promise<{ session: CDPSession; authenticatorId: string }> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { session, authenticatorId };
}

describe('the second factor in the console on SQLite', () => {
  let testbed: ConsoleTestbed;
  before(async () => {
    testbed = await ConsoleTestbed.start();
  });
  afterEach(() => testbed.closeBrowsers());
  after(() => testbed.stop());

  /** The code of the app in the next time step, because each code works only once. */
  const nextCode = (secret: string) => {
    testbed.tree.server.clock.advanceSeconds(codeSeconds);
    return codeAt(secret, testbed.tree.server.clock.now());
  };
  const setUpApp = async (page: Page, who: Who) => {
    await openAccount(page);
    await card(page).getByRole('button', { name: 'Set up…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Password').fill(testbed.passwordOf(who));
    await page.keyboard.press('Enter');
    await dialog.getByRole('img', { name: 'QR code with the secret' }).waitFor();
    const secret = await readSecret(page);
    await dialog.getByLabel('Code from the app').fill(nextCode(secret));
    await page.keyboard.press('Enter');
    const codes = await storeRecoveryCodes(page);
    await card(page).getByText('On', { exact: true }).waitFor();
    return { secret, codes };
  };

  test('asks for a code of the app after the password, and accepts each recovery code once', async () => {
    testbed.expectFaults(refusedLogin);
    const page = await testbed.openSignedIn('ada');
    const { secret, codes } = await setUpApp(page, 'ada');
    assert.equal(new Set(codes).size, 10);
    await card(page).getByText('10 codes left').waitFor();
    await signOut(page);

    await testbed.submitCredentials(page, 'ada', testbed.passwordOf('ada'));
    const field = page.getByLabel('Code');
    await field.and(page.locator(':focus')).waitFor();
    assert.equal(await field.getAttribute('autocomplete'), 'one-time-code');
    await assertAccessible(page);
    await field.fill('000000');
    await page.keyboard.press('Enter');
    await page
      .getByRole('alert')
      .getByText('The code is wrong, too old or already used. Enter another one.')
      .waitFor();
    await eventually(async () => (await field.inputValue()) === '', 'the field of the code is empty');
    await field.fill(nextCode(secret).replace(/^.../, '$& '));
    await page.keyboard.press('Enter');
    await testbed.waitUntilLive(page);
    await signOut(page);

    const useRecoveryCode = async () => {
      await testbed.submitCredentials(page, 'ada', testbed.passwordOf('ada'));
      await page.getByRole('button', { name: 'Use a recovery code' }).click();
      await page.getByLabel('Recovery code').fill(codes[0]!.toUpperCase());
      await page.keyboard.press('Enter');
    };
    await useRecoveryCode();
    await testbed.waitUntilLive(page);
    await openAccount(page);
    await card(page).getByText('9 codes left').waitFor();
    await signOut(page);
    await useRecoveryCode();
    await page.getByRole('alert').getByText('already used').waitFor();
    await page.getByRole('button', { name: 'Back' }).click();
    await page.getByRole('heading', { name: 'Sign in to Espalier' }).waitFor();
  });

  test('refuses a wrong password before a change, and removes the app with the right one', async () => {
    const page = await testbed.openSignedIn('grace');
    const { secret } = await setUpApp(page, 'grace');
    await assertAccessible(page);
    await card(page).getByRole('button', { name: 'Create new codes…' }).click();
    const dialog = page.getByRole('dialog');
    await assertAccessible(page);
    const password = dialog.getByRole('textbox', { name: 'Password' });
    await password.fill('quince in brown paper');
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').waitFor();
    await dialog.getByRole('button', { name: 'Confirm with' }).click();
    await page.getByRole('option', { name: 'Code' }).click();
    await dialog.getByRole('textbox', { name: 'Code' }).fill(nextCode(secret));
    await page.keyboard.press('Enter');
    await dialog.getByText('I stored these codes').waitFor();
    await assertAccessible(page);
    await page.keyboard.press('Escape');
    assert.equal((await storeRecoveryCodes(page)).length, 10);
    await card(page).getByRole('button', { name: 'Remove…' }).click();
    await password.fill(testbed.passwordOf('grace'));
    await page.keyboard.press('Enter');
    await card(page).getByText('Off', { exact: true }).waitFor();
    await signOut(page);
    await testbed.signIn(page, 'grace');
  });

  test('signs in with a passkey, without a user name and a password', async () => {
    testbed.expectFaults(refusedLogin);
    const page = await testbed.newTab();
    await addAuthenticator(page);
    await page.goto(testbed.localhostAddress());
    await testbed.signIn(page, 'linus');
    await openAccount(page);
    await card(page).getByRole('button', { name: 'Add a passkey…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Phone');
    await dialog.getByLabel('Password').fill(testbed.passwordOf('linus'));
    await page.keyboard.press('Enter');
    await storeRecoveryCodes(page);
    await card(page).getByRole('button', { name: 'Add a passkey…' }).and(page.locator(':focus')).waitFor();
    const passkeys = card(page).getByRole('list', { name: 'Passkeys' }).getByRole('listitem');
    await passkeys.getByText('Phone').waitFor();
    await passkeys.getByText('never used').waitFor();
    await card(page).getByRole('button', { name: 'Rename Phone' }).click();
    await dialog.getByLabel('Name').fill('Old phone');
    await page.keyboard.press('Enter');
    await passkeys.getByText('Old phone').waitFor();
    await signOut(page);

    await assertAccessible(page);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await testbed.waitUntilLive(page);
    await openAccount(page);
    await passkeys.getByText('last used').waitFor();
    await signOut(page);

    // The passkey is also the second factor after the password.
    await testbed.submitCredentials(page, 'linus', testbed.passwordOf('linus'));
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await testbed.waitUntilLive(page);
    await openAccount(page);
    await card(page).getByRole('button', { name: 'Remove Old phone' }).click();
    await dialog.getByRole('button', { name: 'Confirm with' }).click();
    await page.getByRole('option', { name: 'Passkey' }).click();
    await assertAccessible(page);
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
    await card(page).getByText('Off', { exact: true }).waitFor();
    await signOut(page);

    // The device still has the passkey.
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page
      .getByRole('alert')
      .getByText(/^This passkey is not accepted\..* Sign in another way\.$/)
      .waitFor();
  });

  test('explains that no passkey was used if the user cancels', async () => {
    const page = await testbed.newTab();
    const { session, authenticatorId } = await addAuthenticator(page);
    await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await page.goto(testbed.localhostAddress());
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('alert').getByText('No passkey was used').waitFor();
  });

  test('offers passkeys only at the host name of the server', async () => {
    const page = await testbed.newTab();
    await page.goto(testbed.address());
    await page.getByLabel('User name').waitFor();
    assert.equal(await page.getByRole('button', { name: /passkey/ }).count(), 0);
    await testbed.signIn(page, 'margaret');
    await openAccount(page);
    await card(page).getByText('Passkeys work only at localhost.').waitFor();
    assert.equal(await card(page).getByRole('button', { name: 'Add a passkey…' }).count(), 0);
  });

  test('is reset by an administrator, which ends the sessions of the user', async () => {
    const page = await testbed.openSignedIn('margaret');
    await setUpApp(page, 'margaret');
    const admin = await testbed.openSignedIn('admin', '/users?second-factor=on');
    const row = admin.getByRole('row').filter({ hasText: 'margaret' });
    await row.getByText('On', { exact: true }).waitFor();
    await row.getByRole('link', { name: 'margaret' }).click();
    const summary = admin.getByRole('region', { name: 'Account' });
    await summary.getByText('On', { exact: true }).waitFor();
    await admin.getByRole('button', { name: 'More actions for margaret' }).click();
    await admin.getByRole('menuitem', { name: 'Reset second factor…' }).click();
    testbed.expectFaults(/status of 401/);
    await assertAccessible(admin);
    await admin.getByRole('dialog').getByRole('button', { name: 'Reset second factor' }).click();
    await summary.getByText('Off', { exact: true }).waitFor();
    await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
    await page.getByRole('textbox', { name: 'Password', exact: true }).fill(testbed.passwordOf('margaret'));
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await card(page).getByText('Off', { exact: true }).waitFor();
  });
});

describe('a console that requires a second factor, on SQLite', () => {
  let testbed: ConsoleTestbed;
  let node: Testbed;
  before(async () => {
    testbed = await ConsoleTestbed.start();
    // A second node, because the testbed logs in without a second factor.
    const { database, clock } = testbed.tree.server;
    const settings = { SECOND_FACTOR: 'everyone' };
    node = await Testbed.start(sqlite, { database, clock, settings, consoleFolder });
  });
  afterEach(() => testbed.closeBrowsers());
  after(async () => {
    await node.stop();
    await testbed.stop();
  });

  const address = (path = '/') => `${node.url}/console${path}`;

  test('sets up an app during the sign-in, and opens the requested page after the recovery codes', async () => {
    testbed.expectFaults(refusedLogin);
    const page = await testbed.newTab();
    const readLoads = recordLoads(page);
    await page.goto(address('/trash'));
    await page.getByLabel('User name').waitFor();
    assert.ok(totalOf(readLoads()) < loadBudgets.signInBytes);
    await testbed.submitCredentials(page, 'grace', testbed.passwordOf('grace'));
    await page.getByRole('heading', { name: 'Set up a second factor' }).and(page.locator(':focus')).waitFor();
    await page.getByRole('img', { name: 'QR code with the secret' }).waitFor();
    await assertAccessible(page);
    const secret = await readSecret(page);
    const field = page.getByLabel('Code from the app');
    await field.fill('000000');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('The code is wrong').waitFor();
    await field.fill(codeAt(secret, testbed.tree.server.clock.now()));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Recovery codes' }).and(page.locator(':focus')).waitFor();
    await assertAccessible(page);
    assert.equal((await storeRecoveryCodes(page)).length, 10);
    await testbed.waitUntilLive(page);
    assert.equal(page.url(), address('/trash'));
    await signOut(page);
    await testbed.submitCredentials(page, 'grace', testbed.passwordOf('grace'));
    await page.getByLabel('Code').waitFor();
  });

  test('returns to the password if the setup takes too long', async () => {
    testbed.expectFaults(refusedLogin);
    const page = await testbed.newTab();
    await page.goto(address());
    await testbed.submitCredentials(page, 'ada', testbed.passwordOf('ada'));
    await page.getByRole('img', { name: 'QR code with the secret' }).waitFor();
    const secret = await readSecret(page);
    testbed.tree.server.clock.advanceSeconds(601);
    await page.getByLabel('Code from the app').fill(codeAt(secret, testbed.tree.server.clock.now()));
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('The setup took too long.').waitFor();
    assert.equal(await page.getByLabel('User name').inputValue(), 'ada');
  });
});
