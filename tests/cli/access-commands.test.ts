/** `espalier grant` and `espalier explain`: grants on a folder, and the reason for an access level. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sqlite } from '../support/databases.ts';
import type { Person } from '../people/people-testbed.ts';
import { CommandTestbed } from './command-testbed.ts';

interface Grant {
  readonly level: string;
  readonly folder: { readonly path: string };
  readonly user: { readonly username: string } | null;
  readonly group: { readonly name: string } | null;
}

describe(`access commands on ${sqlite.name}`, () => {
  let testbed: CommandTestbed;
  let anna: Person;
  before(async () => {
    testbed = await CommandTestbed.start(sqlite);
    anna = await testbed.people.createUser({ username: 'Anna' });
    await testbed.logIn(anna, 'anna');
    const groupId = await testbed.people.createGroup('Gardeners');
    await testbed.people.mutate('addToGroup', { groupId, userIds: [anna.id] });
    const { folder } = await testbed.people.mutate<{ folder: { id: string } }>(
      'createFolder',
      { name: 'Places' },
      'folder{id}',
    );
    await testbed.people.mutate('createFolder', { parentId: folder.id, name: 'Floor 2' });
  });
  after(() => testbed.stop());

  const formatGrants = (grants: readonly Grant[]) =>
    grants.map(
      ({ level, folder, user, group }) => `${folder.path} ${user?.username ?? group?.name} ${level}`,
    );

  test('set a grant with a level in any letter case, list all grants, and remove one', async () => {
    assert.equal(
      await testbed.runOk('grant', 'set', '/Places', 'Read', '--group', 'gardeners'),
      'Granted READ on /Places to the group Gardeners.\n',
    );
    assert.equal(
      await testbed.runOk('grant', 'set', '/Places/Floor 2/', 'WRITE', '--user', `id:${anna.id}`),
      'Granted WRITE on /Places/Floor 2 to Anna.\n',
    );
    assert.equal(
      await testbed.runOk('grant', 'set', '/Places/Floor 2', 'none', '--user', 'anna'),
      'Blocked the access of Anna to /Places/Floor 2.\n',
    );
    await testbed.runOk('grant', 'set', '/Places/Floor 2', 'manage', '--user', 'anna');
    assert.deepEqual(formatGrants(await testbed.json('grant', 'ls', '/Places/Floor 2')), [
      '/Places/Floor 2 Anna MANAGE',
    ]);
    assert.match(
      await testbed.runOk('grant', 'ls', '/Places/Floor 2', '--inherited'),
      /^Folder +To +Level +Since \(UTC\)\n\/Places\/Floor 2 +Anna +MANAGE +2026-03-01 12:00\n\/Places +group Gardeners +READ +2026-03-01 12:00\n$/,
    );
    assert.match(
      await testbed.runOk('grant', 'rm', '/Places/Floor 2', '--user', 'anna'),
      /^Deleted the grant on \/Places\/Floor 2 to Anna/,
    );
    assert.equal(
      await testbed.runRefused('grant', 'rm', '/Places/Floor 2', '--user', 'anna'),
      '1: The user or group has no grant on this folder.',
    );
    assert.deepEqual(formatGrants(await testbed.json('grant', 'ls', '/Places/Floor 2')), []);
    assert.equal(
      await testbed.runOk('grant', 'ls', '/Places/Floor 2'),
      'No grants found. To include the folders above, use --inherited.\n',
    );
  });

  test('list everyone who has access, with the grant that decides', async () => {
    await testbed.runOk('grant', 'set', '/Places/Floor 2', 'read', '--group', 'gardeners');
    const listing = await testbed.runOk('grant', 'who', '/Places/Floor 2');
    assert.match(listing, /^User +Level +Because of\n/);
    assert.match(listing, /^admin +MANAGE +administrator$/m);
    assert.match(listing, /^Anna +READ +READ to group Gardeners on \/Places\/Floor 2$/m);
    type Access = { user: { username: string }; level: string; grant: object | null };
    const users = await testbed.json<Access[]>('grant', 'who', '/Places/Floor 2');
    assert.ok(users.some(({ user, grant }) => user.username === 'admin' && grant === null));
    assert.match(await testbed.runRefused('grant', 'who', '/none'), /^1: There is no folder \/none/);
    await testbed.runOk('grant', 'rm', '/Places/Floor 2', '--group', 'gardeners');
  });

  test('explain level, reason and the deciding grant', async () => {
    await testbed.runOk('grant', 'set', '/Places', 'read', '--group', 'gardeners');
    assert.equal(
      await testbed.runOk('explain', 'anna', '/Places/Floor 2'),
      `User:   Anna
Folder: /Places/Floor 2
Level:  READ
Why:    A grant to the group "Gardeners", which includes Anna, on "Places", the nearest folder above with a grant, gives READ.
Grant:  READ to group Gardeners on /Places, since 2026-03-01 12:00 UTC
`,
    );
    const explanation = await testbed.json<{ level: string; isPassage: boolean; grant: null }>(
      'explain',
      'Anna',
      '/',
    );
    assert.deepEqual([explanation.level, explanation.isPassage, explanation.grant], ['NONE', true, null]);
    assert.match(await testbed.runOk('explain', 'ANNA', '/Places', '--profile', 'anna'), /^User: +Anna\n/);
  });

  test('refuse invalid arguments before sending a request', async () => {
    assert.match(
      await testbed.runRefused('grant', 'set', '/Places', 'owner', '--user', 'anna'),
      /^2: Invalid value "\w+" for <level>: use one of read, write, manage, none\./,
    );
    assert.match(
      await testbed.runRefused('grant', 'set', '/Places', 'read'),
      /^2: .*--user <name> or --group <name>/,
    );
    assert.match(
      await testbed.runRefused('grant', 'set', '/Places', 'read', '--user', 'a', '--group', 'b'),
      /^2: /,
    );
    assert.match(
      await testbed.runRefused('grant', 'set', '/Places'),
      /^2: Missing required argument 'level'\./,
    );
    assert.match(await testbed.runRefused('grant', 'ls', 'Places'), /^1: .*must start with a slash/);
    assert.equal(await testbed.runRefused('grant', 'ls', '/Nowhere'), '1: There is no folder /Nowhere.');
    assert.equal(await testbed.runRefused('grant', 'ls', 'id:nothing'), '1: There is no folder id:nothing.');
  });

  test('show the required level to a user who cannot manage the folder', async () => {
    await testbed.runOk('grant', 'set', '/Places', 'read', '--group', 'gardeners');
    assert.equal(
      await testbed.runRefused('grant', 'set', '/Places', 'manage', '--user', 'anna', '--profile', 'anna'),
      '1: You need the access level MANAGE on "Places"; you have READ.',
    );
    assert.match(
      await testbed.runRefused('explain', 'admin', '/Places', '--profile', 'anna'),
      /^1: There is no user admin, or you may not see it/,
    );
    assert.deepEqual(formatGrants(await testbed.json('grant', 'ls', '/Places', '--profile', 'anna')), [
      '/Places Gardeners READ',
    ]);
  });
});
