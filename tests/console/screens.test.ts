/** The way from the screens of the console to what they mention. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
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

  test('displays and downloads the paths at the time of each change', async () => {
    const { tree, demo } = testbed;
    const id = await demo.idOf('/Projects/Roof 2027/Bids');
    await tree.mutate('moveFolder', { id, parentId: await demo.idOf('/Archive/1990'), name: 'Offers' });
    await tree.mutate('deleteFolder', { id });
    await tree.mutate('updateFolder', { id: await demo.idOf('/Archive/1990'), name: 'Nineties' });
    const page = await testbed.openSignedIn('admin', '/journal');
    const table = page.getByRole('table');
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
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    const lines = readFileSync(await download.path(), 'utf8').split('\r\n');
    assert.ok(
      lines.some((line) => line.includes(`DELETE_FOLDER,`) && line.includes(`,${id},/Archive/1990/Offers,,`)),
    );
    assert.ok(lines.some((line) => line.includes(`,${id},/Archive/1990/Offers,/Projects/Roof 2027/Bids,`)));
  });
});
