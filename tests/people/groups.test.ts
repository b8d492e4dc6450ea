/** Finds and changes groups and their members, and checks the rights of members. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { PeopleTestbed } from './people-testbed.ts';
import { countGrants, grantManage } from './stored-grants.ts';

const groupNames = 'query($text: String){groups(text: $text){items{name} totalCount}}';

for (const kind of databaseKinds) {
  describe(`groups on ${kind.name}`, () => {
    let people: PeopleTestbed;
    before(async () => {
      people = await PeopleTestbed.start(kind);
    });
    after(() => people.stop());

    test('can be created, renamed, found, listed in order, and deleted without deleting their members', async () => {
      const [b, a] = [await people.createGroup('list B'), await people.createGroup('List a')];
      const listed = await people.query(groupNames, { text: 'LIST ' });
      assert.deepEqual(listed, {
        groups: { items: [{ name: 'List a' }, { name: 'list B' }], totalCount: 2 },
      });
      await people.mutate('updateGroup', { id: b, name: 'LIST b' }, 'group{name}');
      const find = 'query($id: ID, $name: String){group(id: $id, name: $name){name}}';
      assert.deepEqual(await people.query(find, { name: 'list b' }), { group: { name: 'LIST b' } });
      const person = await people.createUser();
      await people.mutate('addToGroup', { groupId: a, userIds: [person.id] }, 'added');
      assert.deepEqual(await people.mutate('deleteGroup', { id: a }, 'deletedGroupId'), {
        deletedGroupId: a,
      });
      assert.deepEqual(await people.query(find, { id: a }), { group: null });
      assert.ok((await people.logIn(person)).authToken);
      assert.match(await people.queryError(find), /^BAD_INPUT: Set either `id` or `name`/);
    });

    test('require a valid name that is unique in any case', async () => {
      const id = await people.createGroup('Gardeners');
      const other = await people.createGroup('Pickers');
      const takenError = 'CONFLICT: The group name "GARDENERS" is already in use. Choose another one.';
      assert.equal(await people.mutationError('createGroup', { name: 'GARDENERS' }), takenError);
      assert.equal(await people.mutationError('updateGroup', { id: other, name: 'GARDENERS' }), takenError);
      for (const name of ['', '\u0007', 'x'.repeat(129)]) {
        assert.match(
          await people.mutationError('createGroup', { name }),
          /^BAD_INPUT: A group name must have/,
        );
        assert.match(
          await people.mutationError('updateGroup', { id, name }),
          /^BAD_INPUT: A group name must have/,
        );
      }
    });

    test('allow repeated adding and removing of members, and list them by name', async () => {
      const groupId = await people.createGroup('Members');
      const persons = [];
      for (const username of ['member c', 'Member B', 'member a'])
        persons.push(await people.createUser({ username }));
      const userIds = persons.map(({ id }) => id);
      const add = (ids: string[]) =>
        people.mutate('addToGroup', { groupId, userIds: ids }, 'added group{name}');
      assert.deepEqual(await add(userIds.slice(0, 2)), { added: 2, group: { name: 'Members' } });
      assert.deepEqual(await add([...userIds, ...userIds]), { added: 1, group: { name: 'Members' } });
      const query = `query($id: ID, $after: String){group(id: $id){members(first: 2, after: $after){
        items{username groups{items{name}}} pageInfo{hasNextPage endCursor} totalCount}}}`;
      interface Members {
        group: {
          members: {
            items: { username: string; groups: { items: { name: string }[] } }[];
            pageInfo: { endCursor: string | null };
            totalCount: number;
          };
        };
      }
      const first = (await people.query<Members>(query, { id: groupId })).group.members;
      assert.deepEqual(
        first.items.map(({ username }) => username),
        ['member a', 'Member B'],
      );
      assert.equal(first.totalCount, 3);
      const rest = await people.query<Members>(query, { id: groupId, after: first.pageInfo.endCursor });
      assert.deepEqual(rest.group.members.items, [
        { username: 'member c', groups: { items: [{ name: 'Members' }] } },
      ]);
      const removal = { groupId, userIds: [userIds[0]!, randomUUID(), 'x'] };
      assert.deepEqual(await people.mutate('removeFromGroup', removal, 'removed'), { removed: 1 });
      assert.deepEqual(await people.mutate('removeFromGroup', removal, 'removed'), { removed: 0 });
    });

    test('receive either all requested users or none, and at most 1,000 at a time', async () => {
      const groupId = await people.createGroup('All or none');
      const { id } = await people.createUser();
      for (const unknown of [randomUUID(), 'x', '\0']) {
        assert.match(
          await people.mutationError('addToGroup', { groupId, userIds: [id, unknown] }),
          /^NOT_FOUND/,
        );
      }
      const many = { groupId, userIds: Array<string>(1_001).fill(id) };
      for (const name of ['addToGroup', 'removeFromGroup']) {
        assert.match(await people.mutationError(name, many), /^BAD_INPUT: `userIds` must have at most 1000/);
      }
      assert.deepEqual(
        await people.mutate('addToGroup', { groupId, userIds: many.userIds.slice(1) }, 'added'),
        {
          added: 1,
        },
      );
    });

    test('give rights to users only while these are members, and to no one after the group is deleted', async () => {
      const groupId = await people.createGroup('Managers');
      await grantManage(people.server.database.url, groupId, 'group');
      const person = await people.createUser();
      const { authToken } = await people.logIn(person);
      const mayList = async () => !(await people.execute('{groups{totalCount}}', {}, authToken)).errors;
      const membership = { groupId, userIds: [person.id] };
      assert.equal(await mayList(), false);
      await people.mutate('addToGroup', membership, 'added');
      assert.equal(await mayList(), true);
      await people.mutate('removeFromGroup', membership, 'removed');
      assert.equal(await mayList(), false);
      await people.mutate('addToGroup', membership, 'added');
      await people.mutate('deleteGroup', { id: groupId }, 'deletedGroupId');
      assert.equal(await mayList(), false);
      assert.equal(await countGrants(people.server.database.url, groupId), 0);
    });
  });
}
