/** Finds, creates, changes and deletes users. Each change has an immediate effect. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { PeopleTestbed, type Person } from './people-testbed.ts';
import { countGrants, grantManage } from './stored-grants.ts';

interface Connection {
  edges: { cursor: string; node: { username: string } }[];
  items: { username: string }[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; endCursor: string | null };
  totalCount: number;
}

const details =
  'id username isAdministrator isDisabled createdAt lastLoginAt groups{items{name}} sessions{items{id}}';
const userPage = `query($text: String, $first: Int, $after: String){users(text: $text, first: $first, after: $after){
  edges{cursor node{username}} items{username} pageInfo{hasNextPage hasPreviousPage endCursor} totalCount}}`;

for (const kind of databaseKinds) {
  describe(`users on ${kind.name}`, () => {
    let people: PeopleTestbed;
    const statements: string[] = [];

    before(async () => {
      people = await PeopleTestbed.start(kind, { onStatement: (text) => void statements.push(text) });
    });
    after(() => people.stop());

    const page = async (variables: Record<string, unknown>) =>
      (await people.query<{ users: Connection }>(userPage, variables)).users;
    const listNames = ({ items }: Connection) => items.map(({ username }) => username);
    const exists = async ({ id }: Person) =>
      (await people.query<{ user: unknown }>('query($id: ID){user(id: $id){id}}', { id })).user !== null;

    test('can log in and see themselves after an administrator creates them', async () => {
      const anna = await people.createUser({ username: 'Anna', password: 'walnut cabin 72' });
      const { authToken } = await people.logIn({ ...anna, username: 'ANNA' });
      const { viewer } = await people.query<{ viewer: { user: Record<string, unknown> } }>(
        `{viewer{user{${details}}}}`,
        {},
        authToken,
      );
      const { createdAt, lastLoginAt, sessions, ...rest } = viewer.user;
      assert.deepEqual(rest, {
        id: anna.id,
        username: 'Anna',
        isAdministrator: false,
        isDisabled: false,
        groups: { items: [] },
      });
      assert.equal(createdAt, new Date(people.server.clock.now()).toISOString());
      assert.equal(lastLoginAt, createdAt);
      assert.equal((sessions as { items: unknown[] }).items.length, 1);
    });

    test('are found by id or by name in any case, and exactly one of the two is required', async () => {
      const { id } = await people.createUser({ username: 'Zo\u00eb' });
      const find = 'query($id: ID, $username: String){user(id: $id, username: $username){username}}';
      for (const input of [{ id }, { username: 'zo\u00eb' }, { username: 'ZOE\u0308' }]) {
        assert.deepEqual(await people.query(find, input), { user: { username: 'Zoë' } });
      }
      for (const input of [
        { id: 'x' },
        { id: randomUUID() },
        { id: '\0' },
        { username: 'nobody' },
        { username: '\0' },
      ]) {
        assert.deepEqual(await people.query(find, input), { user: null });
      }
      for (const input of [{}, { id, username: 'zoë' }]) {
        assert.match(await people.queryError(find, input), /^BAD_INPUT: Set either `id` or `username`/);
      }
    });

    test('are listed by name without regard to case, page by page', async () => {
      for (const username of ['page-b', 'Page-A', 'page-C', 'PAGE-d', 'page-e'])
        await people.createUser({ username });
      const names = ['Page-A', 'page-b', 'page-C', 'PAGE-d', 'page-e'];
      const seen: string[] = [];
      for (let after: string | null = null, more = true; more;) {
        const part: Connection = await page({ text: 'page-', first: 2, after });
        assert.equal(part.totalCount, 5);
        assert.equal(part.pageInfo.hasPreviousPage, seen.length > 0);
        assert.deepEqual(
          listNames(part),
          part.edges.map(({ node }) => node.username),
        );
        seen.push(...listNames(part));
        ({ hasNextPage: more, endCursor: after } = part.pageInfo);
      }
      assert.deepEqual(seen, names);
      const { edges } = await page({ text: 'page-', first: 2 });
      await people.createUser({ username: 'page-b2' });
      assert.deepEqual(listNames(await page({ text: 'page-', first: 2, after: edges[1]!.cursor })), [
        'page-b2',
        'page-C',
      ]);
      assert.deepEqual(await page({ text: 'page-', first: 0 }), {
        edges: [],
        items: [],
        pageInfo: { hasNextPage: true, hasPreviousPage: false, endCursor: null },
        totalCount: 6,
      });
    });

    test('are searched by a part of the name, in any case, with every character taken literally', async () => {
      for (const username of ['100% Übel', 'under_score', 'underscore', 'bang!'])
        await people.createUser({ username });
      const found = async (text: string) => listNames(await page({ text }));
      assert.deepEqual(await found('% ÜB'), ['100% Übel']);
      assert.deepEqual(await found('U\u0308BEL'), ['100% Übel']);
      assert.deepEqual(await found('R_S'), ['under_score']);
      assert.deepEqual(await found('g!'), ['bang!']);
      for (const unmatched of ['\0', 'x'.repeat(129), '\ud800', 'no such name', '%%']) {
        assert.deepEqual(await found(unmatched), []);
      }
      assert.equal((await page({ text: '' })).totalCount, (await page({})).totalCount);
    });

    test('are not listed with an invalid size or a cursor of another list', async () => {
      const [edge] = (await page({ first: 1 })).edges;
      const cursor = edge!.cursor;
      const { groups } = await people
        .createGroup('Cursors')
        .then(() => people.query<{ groups: { edges: { cursor: string }[] } }>('{groups{edges{cursor}}}'));
      const refused = [
        { first: -1 },
        { first: 1001 },
        { after: '' },
        { after: 'rubbish' },
        { after: `${cursor}A` },
        { after: `B${cursor.slice(1)}` },
        { after: cursor, text: 'a' },
        { after: groups.edges[0]!.cursor },
      ];
      for (const variables of refused) {
        assert.match(await people.queryError(userPage, variables), /^BAD_INPUT/, JSON.stringify(variables));
      }
    });

    test('require a valid name that is unique in any case', async () => {
      const { id } = await people.createUser({ username: 'Taken' });
      const other = await people.createUser();
      const password = 'walnut cabin 73';
      const takenError = 'CONFLICT: The user name "tAKEN" is already in use. Choose another one.';
      assert.equal(await people.mutationError('createUser', { username: 'tAKEN', password }), takenError);
      assert.equal(await people.mutationError('updateUser', { id: other.id, username: 'tAKEN' }), takenError);
      for (const username of ['', 'a\nb', 'x'.repeat(129), '\ud800']) {
        assert.match(
          await people.mutationError('createUser', { username, password }),
          /^BAD_INPUT: A user name must have/,
        );
        assert.match(
          await people.mutationError('updateUser', { id, username }),
          /^BAD_INPUT: A user name must have/,
        );
      }
      const { user } = await people.mutate<{ user: unknown }>(
        'updateUser',
        { id, username: 'TAKEN' },
        'user{username}',
      );
      assert.deepEqual(user, { username: 'TAKEN' });
    });

    test('keep names unique if several are renamed to the same name concurrently', async () => {
      const racers = await Promise.all(Array.from({ length: 6 }, () => people.createUser()));
      const renames = racers.map(({ id }, index) =>
        people.execute('mutation($input: UpdateUserInput!){updateUser(input: $input){user{id}}}', {
          input: { id, username: index % 2 ? 'Winner' : 'wINNER' },
        }),
      );
      const codes = (await Promise.all(renames)).map(({ errors }) => errors?.[0]?.extensions.code ?? 'won');
      assert.deepEqual(codes.toSorted(), [...Array<string>(5).fill('CONFLICT'), 'won']);
    });

    test('log in with the new name after a rename, and nothing else changes', async () => {
      const person = await people.createUser();
      const tokens = await people.logIn(person);
      await people.mutate('updateUser', { id: person.id, username: 'renamed' }, 'user{id}');
      assert.deepEqual(await people.statuses(person, tokens), { graph: 200, refresh: 200, login: 401 });
      assert.ok((await people.logIn({ ...person, username: 'renamed' })).authToken);
    });

    test('are logged out everywhere immediately when disabled, and can log in again when enabled', async () => {
      const person = await people.createUser();
      const tokens = await people.logIn(person);
      const disabled = await people.mutate(
        'updateUser',
        { id: person.id, isDisabled: true },
        'user{isDisabled sessions{items{id} totalCount}}',
      );
      assert.deepEqual(disabled, { user: { isDisabled: true, sessions: { items: [], totalCount: 0 } } });
      assert.deepEqual(await people.statuses(person, tokens), { graph: 401, refresh: 401, login: 401 });
      await people.mutate('updateUser', { id: person.id, isDisabled: false }, 'user{id}');
      assert.equal((await people.server.refresh(tokens)).status, 401);
      assert.ok((await people.logIn(person)).authToken);
    });

    test('are logged out everywhere immediately when deleted, and lose their grants and memberships', async () => {
      const person = await people.createUser();
      const tokens = await people.logIn(person);
      const groupId = await people.createGroup('Leavers');
      await people.mutate('addToGroup', { groupId, userIds: [person.id] }, 'added');
      await grantManage(people.server.database.url, person.id, 'user');
      const deleted = await people.mutate('deleteUser', { id: person.id }, 'deletedUserId');
      assert.deepEqual(deleted, { deletedUserId: person.id });
      assert.deepEqual(await people.statuses(person, tokens), { graph: 401, refresh: 401, login: 401 });
      assert.equal(await exists(person), false);
      assert.equal(await countGrants(people.server.database.url, person.id), 0);
      const members = 'query($id: ID){group(id: $id){members{totalCount}}}';
      assert.deepEqual(await people.query(members, { id: groupId }), {
        group: { members: { totalCount: 0 } },
      });
      assert.match((await people.createUser({ username: person.username })).id, /./);
    });

    test('gain and lose the administrator role immediately', async () => {
      const person = await people.createUser({ isAdministrator: true });
      const { authToken } = await people.logIn(person);
      assert.ok(await people.query('{users{totalCount}}', {}, authToken));
      await people.mutate('updateUser', { id: person.id, isAdministrator: false }, 'user{id}');
      assert.match(await people.queryError('{users{totalCount}}', {}, authToken), /^FORBIDDEN/);
    });

    test('cannot disable, demote or delete themselves as administrators', async () => {
      const { viewer } = await people.query<{ viewer: { user: { id: string } } }>('{viewer{user{id}}}');
      const { id } = viewer.user;
      assert.equal(
        await people.mutationError('updateUser', { id, isDisabled: true }),
        'CONFLICT: You cannot disable yourself. Another administrator can do this.',
      );
      assert.equal(
        await people.mutationError('updateUser', { id, isAdministrator: false }),
        'CONFLICT: You cannot remove your own administrator role. Another administrator can do this.',
      );
      assert.equal(
        await people.mutationError('deleteUser', { id }),
        'CONFLICT: You cannot delete yourself. Another administrator can do this.',
      );
      assert.ok(await people.query('{users{totalCount}}'));
    });

    test('keep one administrator if two demote each other concurrently', async () => {
      const administrators = [
        await people.createUser({ isAdministrator: true }),
        await people.createUser({ isAdministrator: true }),
      ];
      const [first, second] = await Promise.all(administrators.map((person) => people.logIn(person)));
      const query = 'mutation($input: UpdateUserInput!){updateUser(input: $input){user{id}}}';
      const demote = (id: string, authToken: string) =>
        people.execute(query, { input: { id, isAdministrator: false } }, authToken);
      const responses = await Promise.all([
        demote(administrators[1]!.id, first!.authToken),
        demote(administrators[0]!.id, second!.authToken),
      ]);
      const codes = responses.map(({ errors }) => errors?.[0]?.extensions.code);
      assert.deepEqual(codes.toSorted(), ['FORBIDDEN', undefined]);
    });

    test('are read with as many statements for a page as for one user', async () => {
      const countFor = async (first: number) => {
        statements.length = 0;
        await people.query(`query($first: Int){users(first: $first){items{${details}}}}`, { first });
        return statements.length;
      };
      await countFor(1); // Fills the cache with the rights of the viewer.
      assert.equal(await countFor(10), await countFor(1));
    });
  });
}
