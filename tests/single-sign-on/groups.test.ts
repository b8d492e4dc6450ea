/** Groups and the administrator role follow the provider at each sign-in, as far as the mapping names them. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import type { GraphBody } from '../support/graph-testbed.ts';
import { SignOnTestbed } from './sign-on-testbed.ts';

const settings = {
  SSO_GROUPS: 'staff=Staff,/trees/care=Gardeners,also staff=Staff,it=@administrators,gone=Missing',
};
interface Person {
  readonly isAdministrator: boolean;
  readonly groups: { readonly items: readonly { readonly name: string }[] };
}

for (const kind of databaseKinds) {
  describe(`groups of the provider on ${kind.name}`, () => {
    let bed: SignOnTestbed;
    let admin: string;
    before(async () => {
      bed = await SignOnTestbed.start(kind, { settings });
      admin = (await bed.node.logIn()).authToken;
      for (const name of ['Staff', 'Gardeners', 'Own']) {
        await execute('mutation($name: String!){createGroup(input: {name: $name}){group{id}}}', { name });
      }
    });
    after(() => bed.stop());

    async function execute<T>(query: string, variables: object = {}): Promise<T> {
      const answer = await bed.node.post('/graphql', { query, variables }, admin);
      const { data, errors } = answer.json<GraphBody<T>>();
      assert.equal(errors, undefined, answer.text);
      return data!;
    }

    async function read(username: string): Promise<{ isAdministrator: boolean; groups: string[] }> {
      const query =
        'query($username: String!){user(username: $username){isAdministrator groups{items{name}}}}';
      const { user } = await execute<{ user: Person }>(query, { username });
      return { isAdministrator: user.isAdministrator, groups: user.groups.items.map(({ name }) => name) };
    }

    async function add(groupName: string, username: string): Promise<void> {
      const query =
        'query($username: String!, $name: String!){user(username: $username){id} group(name: $name){id}}';
      type Found = { user: { id: string }; group: { id: string } };
      const { user, group } = await execute<Found>(query, { username, name: groupName });
      const mutation =
        'mutation($groupId: ID!, $userId: ID!){addToGroup(input: {groupId: $groupId, userIds: [$userId]}){added}}';
      await execute(mutation, { groupId: group.id, userId: user.id });
    }

    test('add and remove memberships at each sign-in', async () => {
      const ada = bed.provider.addUser('ada', { groups: ['staff', '/trees/care', 'unmapped'] });
      await bed.logIn('ada');
      assert.deepEqual(await read('ada'), { isAdministrator: false, groups: ['Gardeners', 'Staff'] });
      ada.groups = ['also staff'];
      await bed.logIn('ada');
      assert.deepEqual(await read('ada'), { isAdministrator: false, groups: ['Staff'] });
      ada.groups = [];
      await bed.logIn('ada', bed.other);
      assert.deepEqual(await read('ada'), { isAdministrator: false, groups: [] });
    });

    test('do not change groups that the mapping does not name', async () => {
      bed.provider.addUser('grace', { groups: ['staff'] });
      await bed.logIn('grace');
      await add('Own', 'grace');
      await add('Gardeners', 'grace');
      await bed.logIn('grace');
      assert.deepEqual((await read('grace')).groups, ['Own', 'Staff']);
    });

    test('give and take the administrator role', async () => {
      const linus = bed.provider.addUser('linus', { groups: ['it'] });
      const { authToken } = await bed.logIn('linus');
      assert.equal((await read('linus')).isAdministrator, true);
      assert.doesNotMatch((await bed.node.query('{users{totalCount}}', authToken)).text, /FORBIDDEN/);
      linus.groups = [];
      await bed.logIn('linus');
      assert.equal((await read('linus')).isAdministrator, false);
      assert.match((await bed.node.query('{users{totalCount}}', authToken)).text, /FORBIDDEN/);
    });

    test('never take the role from the last administrator who can log in', async () => {
      const service = '{kind: SERVICE, username: "robot", isAdministrator: true}';
      await execute(`mutation{createUser(input: ${service}){user{id}}}`);
      const nora = bed.provider.addUser('nora', { groups: ['it'] });
      const { authToken } = await bed.logIn('nora');
      const query =
        'mutation($id: ID!, $is: Boolean!){updateUser(input: {id: $id, isAdministrator: $is}){user{id}}}';
      const { user } = await execute<{ user: { id: string } }>('{user(username: "admin"){id}}');
      await bed.node.post('/graphql', { query, variables: { id: user.id, is: false } }, authToken);
      nora.groups = [];
      await bed.logIn('nora');
      const viewer = await bed.node.query('{viewer{user{isAdministrator}}}', authToken);
      assert.match(viewer.text, /"isAdministrator":true/);
      assert.ok(bed.node.logLines.some((line) => line.includes('stays an administrator')));
      await bed.node.post('/graphql', { query, variables: { id: user.id, is: true } }, authToken);
      await bed.logIn('nora');
      assert.equal((await read('nora')).isAdministrator, false);
    });

    test('are in the journal like changes by an administrator, without a user who made them', async () => {
      const query =
        '{journal(first: 50, filter: {kinds: [ADD_TO_GROUP, REMOVE_FROM_GROUP, UPDATE_USER]}){items{kind by{username} user{username} group{name} after}}}';
      type Entry = {
        kind: string;
        by: object | null;
        user: { username: string };
        group: { name: string } | null;
      };
      const { journal } = await execute<{ journal: { items: Entry[] } }>(query);
      const ofAda = journal.items.filter(({ user }) => user.username === 'ada').toReversed();
      assert.deepEqual(
        ofAda.map(({ kind: change, group }) => `${change} ${group!.name}`),
        [
          'ADD_TO_GROUP Staff',
          'ADD_TO_GROUP Gardeners',
          'REMOVE_FROM_GROUP Gardeners',
          'REMOVE_FROM_GROUP Staff',
        ],
      );
      assert.ok(ofAda.every(({ by }) => by === null));
      const ofLinus = journal.items.filter(
        ({ user, kind: change }) => user.username === 'linus' && change === 'UPDATE_USER',
      );
      assert.equal(ofLinus.length, 2);
    });

    test('are read from the userinfo endpoint if the ID token does not contain them', async () => {
      bed.provider.setFaults({ claimsOnlyInUserInfo: true });
      bed.provider.addUser('margaret', { groups: ['staff'] });
      await bed.logIn('margaret');
      bed.provider.resetFaults();
      assert.deepEqual((await read('margaret')).groups, ['Staff']);
    });

    test('refuse a person whose groups the provider does not send, because there are too many', async () => {
      bed.provider.addUser('tim', { groups: ['staff'] });
      await bed.logIn('tim');
      const overage = {
        _claim_names: { groups: 'src1' },
        _claim_sources: { src1: { endpoint: 'https://x' } },
      };
      bed.provider.setFaults({
        claims: ({ groups: _, ...claims }) => ({ ...claims, ...overage }),
        noGroupsInUserInfo: true,
      });
      assert.equal((await bed.signIn('tim')).error, 'FORBIDDEN');
      bed.provider.resetFaults();
      assert.deepEqual((await read('tim')).groups, ['Staff'], 'nothing has changed');
    });

    test('cause a warning for a group that does not exist', () => {
      assert.ok(bed.node.logLines.some((line) => line.includes('names the group')));
    });
  });
}
