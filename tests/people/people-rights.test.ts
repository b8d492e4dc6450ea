/** The rights to see and change users and groups. Users without these rights get an error or no data. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { PeopleTestbed } from './people-testbed.ts';
import { grantManage } from './stored-grants.ts';

const details =
  'id username isAdministrator isDisabled createdAt lastLoginAt groups{items{name}} sessions{items{id}}';
const groupNames = 'query($text: String){groups(text: $text){items{name} totalCount}}';

for (const kind of databaseKinds) {
  describe(`requests about users and groups on ${kind.name}`, () => {
    let people: PeopleTestbed;
    before(async () => {
      people = await PeopleTestbed.start(kind);
    });
    after(() => people.stop());

    const unknownId = randomUUID();
    const password = 'walnut cabin 74';

    test('list and change them only for administrators', async () => {
      const person = await people.createUser();
      const other = await people.createUser();
      const groupId = await people.createGroup('Untouchable');
      const { authToken } = await people.logIn(person);
      const count = async () => people.query('{users{totalCount} groups{totalCount}}');
      const before = await count();
      for (const query of ['{users{totalCount}}', '{groups{totalCount}}', '{sessions{totalCount}}']) {
        assert.match(await people.queryError(query, {}, authToken), /^FORBIDDEN/, query);
      }
      const changes: [string, Record<string, unknown>][] = [
        ['createUser', { username: 'intruder', password }],
        ['updateUser', { id: other.id, username: 'intruder' }],
        ['updateUser', { id: person.id, isAdministrator: true }],
        ['resetPassword', { userId: other.id, password }],
        ['deleteUser', { id: other.id }],
        ['createGroup', { name: 'intruders' }],
        ['updateGroup', { id: groupId, name: 'intruders' }],
        ['deleteGroup', { id: groupId }],
        ['addToGroup', { groupId, userIds: [person.id] }],
        ['removeFromGroup', { groupId, userIds: [other.id] }],
        ['revokeSessions', { userId: other.id }],
      ];
      for (const [name, input] of changes) {
        assert.match(await people.mutationError(name, input, authToken), /^FORBIDDEN/, name);
      }
      assert.deepEqual(await count(), before);
      assert.deepEqual(await people.statuses(other, await people.logIn(other)), {
        graph: 200,
        refresh: 200,
        login: 200,
      });
    });

    test('fail with NOT_FOUND for an unknown id', async () => {
      const changes: [string, Record<string, unknown>][] = [
        ['updateUser', { id: unknownId, username: 'x' }],
        ['updateUser', { id: 'x', username: 'x' }],
        ['resetPassword', { userId: unknownId, password }],
        ['deleteUser', { id: unknownId }],
        ['deleteUser', { id: '\0' }],
        ['updateGroup', { id: unknownId, name: 'x' }],
        ['deleteGroup', { id: unknownId }],
        ['addToGroup', { groupId: unknownId, userIds: [] }],
        ['removeFromGroup', { groupId: unknownId, userIds: [] }],
        ['revokeSession', { id: unknownId }],
        ['revokeSession', { id: '\0' }],
        ['revokeSessions', { userId: unknownId }],
      ];
      for (const [name, input] of changes) {
        assert.match(await people.mutationError(name, input), /^NOT_FOUND/, name);
      }
      const sessions = 'query($userId: ID){sessions(userId: $userId){totalCount}}';
      for (const userId of [unknownId, 'x'])
        assert.match(await people.queryError(sessions, { userId }), /^NOT_FOUND/);
    });

    test('return to other users only themselves and their own groups', async () => {
      const person = await people.createUser();
      const other = await people.createUser();
      const groupId = await people.createGroup('Mine');
      await people.createGroup('Not mine');
      await people.mutate('addToGroup', { groupId, userIds: [person.id] }, 'added');
      const { authToken } = await people.logIn(person);
      const query = `query($me: ID, $other: ID, $name: String){
        me: user(id: $me){id} other: user(id: $other){id} named: user(username: $name){id}
        mine: group(name: "Mine"){id} notMine: group(name: "Not mine"){id}}`;
      const variables = { me: person.id, other: other.id, name: other.username };
      assert.deepEqual(await people.query(query, variables, authToken), {
        me: { id: person.id },
        other: null,
        named: null,
        mine: { id: groupId },
        notMine: null,
      });
    });

    test('return only names to the manager of a folder, and no lists of users', async () => {
      const manager = await people.createUser();
      const other = await people.createUser();
      const groupId = await people.createGroup('Found');
      await grantManage(people.server.database.url, manager.id, 'user');
      const { authToken } = await people.logIn(manager);
      const found = await people.execute<{ user: Record<string, unknown>; group: unknown }>(
        `query($username: String, $id: ID){user(username: $username){${details}} group(id: $id){name members{totalCount}}}`,
        { username: other.username, id: groupId },
        authToken,
      );
      assert.deepEqual(found.data, {
        user: {
          id: other.id,
          username: other.username,
          isAdministrator: null,
          isDisabled: null,
          createdAt: null,
          lastLoginAt: null,
          groups: null,
          sessions: null,
        },
        group: { name: 'Found', members: null },
      });
      assert.deepEqual(
        found.errors!.map(({ path, extensions }) => [path!.join('.'), extensions.code]),
        [
          'user.isAdministrator',
          'user.isDisabled',
          'user.createdAt',
          'user.lastLoginAt',
          'user.groups',
          'user.sessions',
          'group.members',
        ].map((path) => [path, 'FORBIDDEN']),
      );
      assert.ok(await people.query(groupNames, { text: 'Found' }, authToken));
      assert.match(await people.queryError('{users{totalCount}}', {}, authToken), /^FORBIDDEN/);
    });
  });
}
