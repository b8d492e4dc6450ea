/** `espalier user` and `espalier group`: managing users and groups by name. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { sqlite } from '../support/databases.ts';
import { administrator } from '../support/testbed.ts';
import { CommandTestbed } from './command-testbed.ts';

interface User {
  readonly id: string;
  readonly username: string;
  readonly isAdministrator: boolean;
  readonly isDisabled: boolean;
  readonly groups: readonly { readonly name: string }[];
}

const newPassword = () => `walnut ${randomUUID()}`;

describe(`user and group commands on ${sqlite.name}`, () => {
  let testbed: CommandTestbed;
  before(async () => (testbed = await CommandTestbed.start(sqlite)));
  after(() => testbed.stop());

  const logInStatus = async (username: string, password: string) =>
    (await testbed.people.server.post('/login', { username, password })).status;
  const show = (name: string) => testbed.json<User>('user', 'show', name);

  test('add a user with a password from a file, or with a generated one that is printed once', async () => {
    const password = newPassword();
    const newUser = await testbed.json<User>(
      'user',
      'add',
      'Anna',
      '--password-file',
      testbed.writeTempFile(password),
    );
    assert.deepEqual([newUser.username, newUser.isAdministrator], ['Anna', false]);
    assert.equal(await logInStatus('anna', password), 200);
    const output = await testbed.runOk('user', 'add', 'Ben', '--administrator', '--generate');
    const [, generated] =
      /^Created Ben, an administrator\.\n {2}Password {2}(\S+) {3}\(shown only this once\)\n$/.exec(output)!;
    assert.equal(await logInStatus('ben', generated!), 200);
  });

  test('report an invalid new user in one line and add no user', async () => {
    const file = testbed.writeTempFile(newPassword());
    const add = (name: string, ...more: string[]) => testbed.runRefused('user', 'add', name, ...more);
    assert.match(await add('admin', '--password-file', file), /^1: .*already in use/);
    assert.match(await add('x', '--password-file', testbed.writeTempFile('12345678')), /^1: .*most common/);
    assert.match(await add('x', '--password-file', `${file}-not-there`), /^1: .*--password-file/);
    assert.match(
      await add('x', '--password-file', file, '--generate'),
      /^2: Option '--generate' cannot be used with/,
    );
    assert.match(await add('x'), /^2: There is no terminal/);
    assert.match(
      await add('x', '--password', 'abc'),
      /^2: Unknown option '--password'\. Did you mean --password-file\?/,
    );
    assert.match(await testbed.runRefused('user', 'show', 'x'), /^1: There is no user x\.$/);
  });

  test('find users by name in any letter case and by id; rename, disable, enable, promote and demote them', async () => {
    const cara = await testbed.people.createUser({ username: 'Cara' });
    assert.equal(await testbed.runOk('user', 'rename', 'cara', 'Clara'), 'Renamed Cara to Clara.\n');
    assert.equal((await show(`id:${cara.id}`)).username, 'Clara');
    assert.match(await testbed.runOk('user', 'disable', 'CLARA'), /^Clara is disabled/);
    assert.equal(await logInStatus('Clara', cara.password), 401);
    assert.match(await testbed.runOk('user', 'enable', 'clara'), /^Clara is enabled/);
    assert.equal(await logInStatus('Clara', cara.password), 200);
    assert.equal((await testbed.json<User>('user', 'promote', 'clara')).isAdministrator, true);
    assert.match(await testbed.runOk('user', 'demote', 'clara'), /^Clara is no longer an administrator/);
    const table = await testbed.runOk('user', 'ls', '--text', 'clar');
    assert.match(
      table,
      /^Name +Role +State +Second factor +Last login \(UTC\) +Groups\nClara +- +enabled +off +2026-03-01 12:00 +-\n$/,
    );
    assert.match(await testbed.runRefused('user', 'disable', 'admin'), /^1: You cannot disable yourself/);
  });

  test('delete a user only after confirmation, and not twice', async () => {
    const dora = await testbed.people.createUser({ username: 'dora' });
    assert.match(await testbed.runRefused('user', 'rm', 'dora'), /^2: This cannot be undone.*--yes/);
    assert.equal(await logInStatus('dora', dora.password), 200);
    assert.equal(await testbed.runOk('user', 'rm', 'dora', '--yes'), 'Deleted dora.\n');
    assert.match(await testbed.runRefused('user', 'rm', 'dora', '-y'), /^1: There is no user dora\.$/);
    assert.match(await testbed.runRefused('user', 'rm', 'admin', '-y'), /^1: You cannot delete yourself/);
  });

  test('require the old password from a user, but not from an administrator who sets the password of another user', async () => {
    const erik = await testbed.people.createUser({ username: 'erik' });
    await testbed.logIn(erik);
    await testbed.people.logIn(erik);
    const [first, second] = [newPassword(), newPassword()];
    const change = ['user', 'password', '--profile', 'erik', '--password-file', testbed.writeTempFile(first)];
    assert.match(
      await testbed.runRefused(...change, '--old-password-file', testbed.writeTempFile('wrong')),
      /^1: The old password is wrong/,
    );
    assert.match(await testbed.runRefused(...change), /^2: .*--old-password-file/);
    const changedUser = await testbed.json(
      ...change,
      '--old-password-file',
      testbed.writeTempFile(erik.password),
    );
    assert.deepEqual(changedUser, { endedSessions: 1 });
    assert.equal(await logInStatus('erik', first), 200);
    await testbed.runOk('whoami', '--profile', 'erik');
    const set = ['user', 'password', '--password-file', testbed.writeTempFile(second)];
    assert.equal(await testbed.runOk(...set, 'erik'), 'erik has a new password. Sessions ended: 2.\n');
    assert.equal(await logInStatus('erik', second), 200);
    assert.match(await testbed.runRefused('whoami', '--profile', 'erik'), /^3: /);
    assert.match(await testbed.runRefused(...set, 'admin'), /^1: .*espalier user password/);
    assert.equal(await logInStatus('admin', administrator.password), 200);
  });

  test('add users to a group and remove them, all named users or none', async () => {
    const [fay, gus] = [
      await testbed.people.createUser({ username: 'Fay' }),
      await testbed.people.createUser({ username: 'Gus' }),
    ];
    assert.equal(await testbed.runOk('group', 'add', 'Gardeners'), 'Created the group Gardeners.\n');
    assert.match(await testbed.runRefused('group', 'add', 'gardeners'), /^1: .*already in use/);
    assert.match(
      await testbed.runRefused('group', 'join', 'Gardeners', 'fay', 'nobody'),
      /^1: There is no user nobody\.$/,
    );
    assert.deepEqual(await membersOf('gardeners'), []);
    const joinReport = await testbed.json<{ added: number }>(
      'group',
      'join',
      'gardeners',
      'fay',
      `id:${gus.id}`,
      'FAY',
    );
    assert.equal(joinReport.added, 2);
    assert.deepEqual(await membersOf('Gardeners'), ['Fay', 'Gus']);
    assert.deepEqual((await show('fay')).groups, [{ name: 'Gardeners' }]);
    assert.equal(await testbed.runOk('group', 'join', 'gardeners', 'fay'), 'Added to Gardeners: no users.\n');
    assert.equal(
      await testbed.runOk('group', 'leave', 'gardeners', `id:${fay.id}`),
      'Removed from Gardeners: one user.\n',
    );
    assert.equal(
      await testbed.runOk('group', 'rename', 'gardeners', 'Growers'),
      'Renamed the group Gardeners to Growers.\n',
    );
    assert.match(
      await testbed.runOk('group', 'show', 'growers'),
      /^Name: +Growers\n(.*\n)*Members: 1\n {2}Gus\n$/,
    );
    assert.match(await testbed.runRefused('group', 'rm', 'growers'), /^2: .*--yes/);
    assert.match(await testbed.runOk('group', 'ls'), /^Name +Since \(UTC\)\nGrowers +2026-03-01 12:00\n$/);
    await testbed.runOk('group', 'rm', 'growers', '--yes');
    assert.deepEqual(await testbed.json('group', 'ls'), []);
    assert.equal(await testbed.runOk('group', 'ls'), 'No groups found.\n');
    assert.equal(await testbed.runOk('user', 'ls', '--text', 'nobody of that name'), 'No users found.\n');
  });

  const membersOf = async (name: string) =>
    (await testbed.json<{ members: { username: string }[] }>('group', 'show', name)).members.map(
      ({ username }) => username,
    );

  test('find many users by name in batches', async () => {
    const henk = await testbed.people.createUser({ username: 'Henk' });
    await testbed.people.createGroup('Many');
    const references = Array.from({ length: 60 }, (_, index) => (index % 2 ? 'HENK' : `id:${henk.id}`));
    assert.equal(await testbed.runOk('group', 'join', 'many', ...references), 'Added to Many: one user.\n');
    assert.match(
      await testbed.runRefused('group', 'join', 'many', ...references, 'nobody'),
      /^1: There is no user nobody/,
    );
  });

  test('show users who are not administrators only their own account', async () => {
    const ida = await testbed.people.createUser({ username: 'Ida' });
    await testbed.logIn(ida, 'ida');
    const refuseAsIda = (...args: string[]) => testbed.runRefused(...args, '--profile', 'ida');
    assert.equal(await refuseAsIda('user', 'ls'), '1: Only administrators may do this.');
    assert.equal(await refuseAsIda('user', 'add', 'x', '--generate'), '1: Only administrators may do this.');
    assert.match(
      await refuseAsIda('group', 'ls'),
      /^1: Only administrators and users with MANAGE on a folder/,
    );
    assert.match(
      await refuseAsIda('user', 'disable', 'admin'),
      /^1: There is no user admin, or you may not see it\. Only administrators/,
    );
    assert.match(await testbed.runOk('user', 'show', 'ida', '--profile', 'ida'), /^Name: +Ida\n/);
  });

  test('escape direction marks and control characters in names', async () => {
    const username = 'Eve\u202enimda';
    await testbed.people.createUser({ username });
    const table = await testbed.runOk('user', 'ls', '--text', 'nimda');
    assert.ok(table.includes('Eve\\u{202e}nimda'));
    const json = await testbed.runOk('user', 'ls', '--text', 'nimda', '--json');
    assert.ok(!json.includes('\u202e'));
    assert.equal((JSON.parse(json) as User[])[0]!.username, username);
    assert.match(
      await testbed.runRefused('user', 'show', 'x\u001b[2J'),
      /^1: There is no user x\\u\{1b\}\[2J\.$/,
    );
  });
});
