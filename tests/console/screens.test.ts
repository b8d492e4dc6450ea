/** The way from the screens of the console to what they mention. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { ConsoleTestbed } from './console-testbed.ts';

describe('screens of the console on SQLite', () => {
  let testbed: ConsoleTestbed;
  before(async () => {
    testbed = await ConsoleTestbed.start();
  });
  afterEach(() => testbed.closeBrowsers());
  after(() => testbed.stop());

  test('leads from the counts of the overview to sessions and to the lines of the log', async () => {
    await testbed.tree.testbed.post('/login', { username: 'ada', password: 'quince in brown paper' });
    const page = await testbed.openSignedIn('admin', '/overview');
    const chart = page.getByRole('region', { name: 'Failed logins' });
    await chart.getByText('1 failed login', { exact: true }).first().waitFor();
    await chart.getByRole('button', { name: 'Find failed logins in the log' }).click();
    const dialog = page.getByRole('dialog', { name: '1 failed login in the last hour' });
    const minutes = await dialog.getByRole('list', { name: 'Minutes, the latest first' }).innerText();
    assert.match(minutes, /^\d.*1 failed login$/);
    assert.match(await dialog.locator('code').innerText(), /^jq .*\.time >= \d+ and \.route == "\/login"/);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('region', { name: 'Logins', exact: true }).getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
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
    const table = page.getByRole('table');
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
});
