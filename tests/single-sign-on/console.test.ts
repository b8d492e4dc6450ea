/** Single sign-on in the console: Chromium, an OpenID provider, and two nodes behind a load balancer without sticky sessions. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { recordSecret } from '../secrets/secret-record.ts';
import { codeAt, codeSeconds } from '../support/authenticator-app.ts';
import { databaseKinds, postgres } from '../support/databases.ts';
import { selectLength } from '../support/run-length.ts';
import { BrowserTestbed } from './browser-testbed.ts';

interface CreatedGroup {
  readonly data: { readonly createGroup: { readonly group: { readonly id: string } } };
}

interface Root {
  readonly data: { readonly folder: { readonly id: string } };
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name }).waitFor();

for (const kind of selectLength({ short: [postgres], long: databaseKinds })) {
  describe(`single sign-on in the console on ${kind.name}`, { timeout: 300_000 }, () => {
    let testbed: BrowserTestbed;
    before(async () => {
      testbed = await BrowserTestbed.start(kind, { SSO_GROUPS: 'staff=Staff' });
      const { authToken } = await testbed.nodes[0].logIn();
      const create = 'mutation { createGroup(input: { name: "Staff" }) { group { id } } }';
      const created = (await testbed.nodes[0].query(create, authToken)).json<CreatedGroup>();
      const root = (await testbed.nodes[0].query('{folder{id}}', authToken)).json<Root>().data.folder.id;
      const grant = 'mutation($input: GrantAccessInput!){grantAccess(input: $input){cursor}}';
      const input = { folderId: root, groupId: created.data.createGroup.group.id, level: 'READ' };
      assert.match((await testbed.nodes[0].query(grant, authToken, { input })).text, /cursor/);
      for (const username of ['ada', 'grace', 'linus', 'hedy'])
        testbed.provider.addUser(username, { groups: ['staff'] });
    });
    afterEach(() => testbed.closeTabs());
    after(() => testbed.stop());

    test('explains that the provider is down, still accepts a password, and works again later', async () => {
      await testbed.provider.stop();
      const page = await testbed.newTab();
      await page.goto(testbed.address('/account'));
      const button = page.getByRole('button', { name: 'Sign in with Test provider' });
      await button.click();
      await page.getByRole('alert').getByText('provider does not respond').waitFor();
      await testbed.provider.listen();
      await button.click();
      await heading(page, 'Test provider');
      await page.goBack();
      await testbed.signInAsAdministrator(page);
      await page.waitForURL(testbed.address('/account'));
    });

    test('creates the user with mapped groups, and opens the requested page without the code in its history', async () => {
      const page = await testbed.newTab();
      const addresses: string[] = [];
      page.on('framenavigated', (frame) => addresses.push(frame.url()));
      await page.goto(testbed.address('/account?text=a%5Cb'));
      await testbed.signIn(page, 'ada');
      await testbed.waitUntilLive(page);
      assert.equal(page.url(), testbed.address('/account?text=a%5Cb'));
      await page.getByRole('region', { name: 'Profile' }).getByText('Staff').waitFor();
      assert.ok(addresses.some((address) => address.includes('sso_code=')));
      const storages = await page.evaluate<string>('JSON.stringify([localStorage, sessionStorage])');
      assert.doesNotMatch(storages, /verifier/);
      // Going back leads to the provider or to the first page, but not to an address with the code.
      await page.goBack();
      assert.doesNotMatch(page.url(), /sso_code/);
    });

    test('refuses a return that this tab has not started, and never sends its code', async () => {
      const page = await testbed.newTab();
      const sent: string[] = [];
      page.on('request', (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`));
      await page.goto(testbed.address('/sign-in?sso_code=forged&return_to=//attacker.test/'));
      await page.getByRole('alert').getByText('This sign-in was not started in this tab').waitFor();
      assert.equal(page.url(), testbed.address('/sign-in'));
      assert.ok(!sent.includes('POST /login/sso'));
      await page.goto(testbed.address('/sign-in?error=FORBIDDEN&error_description=Call%200123%20now'));
      await page.getByRole('alert').getByText('This sign-in was not started in this tab').waitFor();
      assert.equal(await page.getByText('Call 0123').count(), 0);
    });

    test('refuses a code that does not belong to the verifier of the tab', async () => {
      testbed.expectFaults(/status of 401 .*\/login\/sso\)$/);
      const page = await testbed.newTab();
      const forge = (route: Route) => {
        const body = route.request().postDataJSON() as object;
        return route.continue({ postData: JSON.stringify({ ...body, code: 'forged' }) });
      };
      await page.route('**/login/sso', forge, { times: 1 });
      await page.goto(testbed.address());
      await testbed.signIn(page, 'ada');
      await page.getByRole('alert').getByText('is not valid or has expired. Sign in again.').waitFor();
      assert.equal(page.url(), testbed.address('/sign-in?return_to=%2F'));
      await page.getByRole('button', { name: 'Sign in with Test provider' }).click();
      await testbed.waitUntilLive(page);
      await page.getByRole('button', { name: 'Account of ada' }).waitFor();
    });

    test('explains that the provider refused the user, and keeps the requested page for another sign-in', async () => {
      const page = await testbed.newTab({ width: 375 });
      await page.goto(testbed.address('/account'));
      await testbed.signIn(page, 'stranger');
      await page.getByRole('alert').getByText('The provider did not sign you in').waitFor();
      assert.equal(page.url(), testbed.address(`/sign-in?return_to=${encodeURIComponent('/account')}`));
      const width = await page.evaluate('document.documentElement.scrollWidth');
      assert.equal(width, 375);
      await testbed.signInAsAdministrator(page);
      await page.waitForURL(testbed.address('/account'));
    });

    test('works with the keyboard only', async () => {
      const page = await testbed.newTab({ theme: 'dark' });
      await page.goto(testbed.address());
      await page.locator('button:focus', { hasText: 'Sign in with Test provider' }).waitFor();
      await page.keyboard.press('Enter');
      await heading(page, 'Test provider');
      await page.keyboard.type('grace');
      await page.keyboard.press('Enter');
      await testbed.waitUntilLive(page);
      await page.getByRole('button', { name: 'Account of grace' }).waitFor();
    });

    test('links an account on the account page, signs in with it, and unlinks it', async () => {
      testbed.provider.addUser('provider-name');
      const page = await testbed.newTab();
      await page.goto(testbed.address('/account'));
      await testbed.signInAsAdministrator(page);
      await testbed.waitUntilLive(page);
      const card = page.getByRole('region', { name: 'Single sign-on' });
      await card.getByText('No account is linked').waitFor();
      await card.getByRole('button', { name: 'Link Test provider' }).click();
      await testbed.submitToProvider(page, 'provider-name');
      await card.getByRole('button', { name: 'Unlink provider-name' }).waitFor();
      assert.equal(page.url(), testbed.address('/account'));

      const other = await testbed.newTab({ width: 375 });
      await other.goto(testbed.address('/users?text=admin'));
      await testbed.signIn(other, 'provider-name');
      await other.getByRole('link', { name: 'admin', exact: true }).click();
      const details = other.getByRole('region', { name: 'Single sign-on' });
      await details.getByText(testbed.provider.issuer).waitFor();
      await details.getByRole('button', { name: 'Unlink provider-name' }).click();
      await other.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click();
      await details.waitFor({ state: 'detached' });
      await page.reload();
      await card.getByText('No account is linked').waitFor();
    });

    test('does not link an account that belongs to another user', async () => {
      const page = await testbed.newTab();
      await page.goto(testbed.address('/account'));
      await testbed.signInAsAdministrator(page);
      const card = page.getByRole('region', { name: 'Single sign-on' });
      await card.getByRole('button', { name: 'Link Test provider' }).click();
      await testbed.submitToProvider(page, 'ada');
      await card.getByRole('alert').getByText('already linked with another user').waitFor();
    });

    test('offers a user without a password what works without one', async () => {
      const page = await testbed.newTab();
      await page.goto(testbed.address('/account'));
      await testbed.signIn(page, 'hedy');
      await page.getByRole('region', { name: 'Password' }).getByText('You have no password.').waitFor();
      assert.equal(await page.getByLabel('Old password').count(), 0);
      const identities = page.getByRole('region', { name: 'Single sign-on' });
      const dialog = page.getByRole('dialog');
      await identities.getByRole('button', { name: 'Unlink hedy' }).click();
      await dialog.getByRole('button', { name: 'Unlink' }).click();
      await dialog.getByRole('alert').getByText('This is your last way to sign in.').waitFor();
      await page.keyboard.press('Escape');
      await identities.getByRole('button', { name: 'Unlink hedy' }).waitFor();
    });

    test('lets a user without a password set up an app after a fresh sign-in, and confirms changes with its codes', async () => {
      const { clock } = testbed.nodes[0];
      const page = await testbed.newTab();
      await page.goto(testbed.address('/account'));
      await testbed.signIn(page, 'hedy');
      const card = page.getByRole('region', { name: 'Second factor' });
      const dialog = page.getByRole('dialog');
      await card.getByRole('button', { name: 'Set up…' }).click();
      await dialog.getByText('Single sign-on does not ask for this code.').waitFor();
      assert.equal(await dialog.getByRole('textbox').count(), 0);
      await dialog.getByRole('button', { name: 'Next' }).click();
      await dialog.getByRole('img', { name: 'QR code with the secret' }).waitFor();
      const secret = (await page.locator('.app-secret-text code').innerText()).replaceAll(' ', '');
      recordSecret('secret of an authenticator app', secret);
      await dialog.getByLabel('Code from the app').fill(codeAt(secret, clock.now()));
      await page.keyboard.press('Enter');
      await dialog.getByText('I stored these codes').click();
      await dialog.getByRole('button', { name: 'Continue' }).click();
      await card.getByRole('button', { name: 'Replace…' }).and(page.locator(':focus')).waitFor();

      await card.getByRole('button', { name: 'Remove…' }).click();
      assert.equal(await dialog.getByText('password').count(), 0);
      const code = dialog.getByRole('textbox', { name: 'Code' });
      await code.fill(codeAt(secret, clock.now()));
      await page.keyboard.press('Enter');
      await dialog.getByRole('alert').getByText('used already').waitFor();
      clock.advanceSeconds(codeSeconds);
      await code.fill(codeAt(secret, clock.now()));
      await page.keyboard.press('Enter');
      await card.getByText('Off', { exact: true }).waitFor();

      testbed.expectFaults(/status of 401/);
      clock.advanceSeconds(11 * 60);
      await card.getByRole('button', { name: 'Set up…' }).click();
      await dialog.getByRole('button', { name: 'Next' }).click();
      await dialog.getByRole('alert').getByText('more than ten minutes old').waitFor();
    });

    test('ends the session in the console when the user logs out at the provider, and continues it in a new tab', async () => {
      const page = await testbed.newTab();
      await page.goto(testbed.address('/folders'));
      await testbed.signIn(page, 'linus');
      await testbed.waitUntilLive(page);
      await page.getByLabel('Find a folder').fill('unsaved text');
      testbed.expectFaults(/status of 401 .*\/login\/refresh\)$/);
      await logOutAtProvider(testbed, page);
      await heading(page, 'Sign in again');
      const opened = page.context().waitForEvent('page');
      await page.getByRole('button', { name: 'Sign in with Test provider in a new tab' }).click();
      const tab = await opened;
      await testbed.signIn(tab, 'linus');
      await testbed.waitUntilLive(page);
      assert.equal(await page.getByLabel('Find a folder').inputValue(), 'unsaved text');
    });
  });
}

async function logOutAtProvider(testbed: BrowserTestbed, page: Page): Promise<void> {
  const provider = await page.context().newPage();
  await provider.goto(`${testbed.provider.issuer}/session/end`);
  await provider.getByRole('button').first().click();
  await provider.waitForLoadState();
  await provider.close();
}
