/**
 * Lists that belong to one user, group or folder: their pages, their order, and their cost when a query reads
 * many owners.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import { databaseKinds } from '../support/databases.ts';
import { PeopleTestbed, type Person } from './people-testbed.ts';
import { insertMembers } from './stored-members.ts';

interface Connection {
  readonly totalCount: number;
  readonly items: readonly Record<string, unknown>[];
  readonly edges: readonly { readonly cursor: string }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
}

for (const kind of databaseKinds) {
  describe(`lists of one owner on ${kind.name}`, () => {
    let people: PeopleTestbed;
    let person: Person;
    let own: LoginResponse;
    let topId: string;
    let folderId: string;
    const sessionIds: string[] = [];
    const groupIds: string[] = [];

    before(async () => {
      people = await PeopleTestbed.start(kind);
      person = await people.createUser({ username: 'paula' });
      for (let count = 0; count < 7; count++) {
        people.server.clock.advanceSeconds(1);
        own = await people.logIn(person);
        const { viewer } = await people.query<{ viewer: { session: { id: string } } }>(
          '{viewer{session{id}}}',
          {},
          own.authToken,
        );
        sessionIds.unshift(viewer.session.id);
      }
      topId = await createFolder('Top');
      folderId = await createFolder('Inside', topId);
      for (let count = 1; count <= 7; count++) {
        people.server.clock.advanceSeconds(1);
        const id = await people.createGroup(`Team ${count}`);
        groupIds.push(id);
        await people.mutate('addToGroup', { groupId: id, userIds: [person.id] });
        const on = count <= 3 ? topId : folderId;
        await people.mutate('grantAccess', { folderId: on, groupId: id, level: 'READ' });
      }
    });
    after(() => people.stop());

    const createFolder = async (name: string, parentId?: string) =>
      (await people.mutate<{ folder: { id: string } }>('createFolder', { name, parentId }, 'folder{id}'))
        .folder.id;

    /** Reads a list in pages of two, and checks the page info of each page. */
    async function pages(field: string, item: string, path: readonly string[], token = people.authToken) {
      const read = async (page: string) => {
        const selection = `${page}{totalCount items{${item}} edges{cursor}
          pageInfo{hasNextPage hasPreviousPage startCursor endCursor}}`;
        let value: unknown = await people.query(field.replace('LIST', selection), {}, token);
        for (const name of path) value = (value as Record<string, unknown>)[name];
        return value as Connection;
      };
      const name = path.at(-1)!;
      const withArguments = (input: string) =>
        name === 'access' ? `access(inherited: true, ${input})` : `${name}(${input})`;
      const items: Record<string, unknown>[] = [];
      for (let cursor: string | null = null; ;) {
        const from = cursor === null ? '' : `, after: "${cursor}"`;
        const page: Connection = await read(withArguments(`first: 2${from}`));
        assert.ok(page.items.length <= 2);
        assert.equal(page.pageInfo.hasPreviousPage, cursor !== null);
        assert.equal(page.pageInfo.startCursor, page.edges[0]!.cursor);
        items.push(...page.items);
        cursor = page.pageInfo.endCursor;
        if (!page.pageInfo.hasNextPage) {
          assert.equal(page.totalCount, items.length);
          const last = await read(withArguments(`first: 2, after: "${cursor}"`));
          assert.deepEqual(last.items, []);
          assert.equal(last.pageInfo.hasPreviousPage, true);
          return items;
        }
      }
    }

    test('include the sessions of a user and of the viewer page by page, the newest login first', async () => {
      const expected = sessionIds.map((id) => ({ id }));
      const ofUser = `{user(username: "paula"){LIST}}`;
      assert.deepEqual(await pages(ofUser, 'id', ['user', 'sessions']), expected);
      assert.deepEqual(await pages('{viewer{LIST}}', 'id', ['viewer', 'sessions'], own.authToken), expected);
    });

    test('include the groups of a user page by page, in the order of their names', async () => {
      const found = await pages(`{user(username: "paula"){LIST}}`, 'id', ['user', 'groups']);
      assert.deepEqual(
        found,
        groupIds.map((id) => ({ id })),
      );
    });

    test('include the grants on a folder page by page, the nearest folder and the newest grant first', async () => {
      const found = await pages(`{folder(id: "${folderId}"){LIST}}`, 'folder{id} group{id}', [
        'folder',
        'access',
      ]);
      const expected = groupIds.map((id, index) => ({
        folder: { id: index < 3 ? topId : folderId },
        group: { id },
      }));
      assert.deepEqual(found, [...expected.slice(3).reverse(), ...expected.slice(0, 3).reverse()]);
    });

    test('show users who do not manage the folder only the grants to their own groups', async () => {
      await people.mutate('grantAccess', { folderId, userId: (await people.createUser()).id, level: 'READ' });
      const list = `{folder(id: "${folderId}"){LIST}}`;
      const found = await pages(list, 'group{id}', ['folder', 'access'], own.authToken);
      assert.equal(found.length, 7);
      assert.ok(found.every(({ group }) => group !== null));
    });

    test('include the access changes of a move page by page', async () => {
      const from = await createFolder('From');
      const id = await createFolder('Moved', from);
      const parentId = await createFolder('To');
      for (let count = 0; count < 5; count++) {
        const { id: userId } = await people.createUser({ username: `mover ${count}` });
        await people.mutate('grantAccess', { folderId: from, userId, level: 'READ' });
      }
      const move = `mutation{moveFolder(input: {id: "${id}", parentId: "${parentId}", dryRun: true}){LIST}}`;
      const found = await pages(move, 'user{username} before after', ['moveFolder', 'accessChanges']);
      assert.deepEqual(
        found,
        [0, 1, 2, 3, 4].map((count) => ({
          user: { username: `mover ${count}` },
          before: 'READ',
          after: 'NONE',
        })),
      );
    });

    test('include all users with access to a folder page by page, with the deciding grant', async () => {
      const outer = await createFolder('Outer');
      const inner = await createFolder('Inner', outer);
      const names = ['alma', 'Berta', 'carl', 'dora', 'emil', 'fred'];
      const [alma, berta, carl, dora, emil, fred] = await Promise.all(
        names.map((username) => people.createUser({ username })),
      );
      const crew = await people.createGroup('Crew');
      const closed = await people.createGroup('Closed');
      await people.mutate('addToGroup', {
        groupId: crew,
        userIds: [berta!.id, carl!.id, dora!.id, fred!.id],
      });
      await people.mutate('addToGroup', { groupId: closed, userIds: [dora!.id, emil!.id] });
      const grant = (on: string, input: object) => people.mutate('grantAccess', { folderId: on, ...input });
      await grant(outer, { userId: alma!.id, level: 'MANAGE' });
      await grant(outer, { groupId: crew, level: 'READ' });
      await grant(outer, { userId: emil!.id, level: 'WRITE' });
      // The nearest folder with a grant decides. Among several grants on that folder, the highest level decides.
      await grant(inner, { groupId: closed, level: 'NONE' });
      await grant(inner, { userId: carl!.id, level: 'NONE' });
      await grant(inner, { groupId: crew, level: 'WRITE' });
      await people.mutate('updateUser', { id: fred!.id, isDisabled: true });
      const item = 'user{username} level grant{folder{id} user{id} group{id}}';
      const list = `{folder(id: "${inner}"){LIST}}`;
      const path = ['folder', 'effectiveAccess'];
      const direct = (person: Person | undefined, level: string, on: string) => ({
        user: { username: person!.username },
        level,
        grant: { folder: { id: on }, user: { id: person!.id }, group: null },
      });
      const ofCrew = (username: string) => ({
        user: { username },
        level: 'WRITE',
        grant: { folder: { id: inner }, user: null, group: { id: crew } },
      });
      const expected = [
        { user: { username: 'admin' }, level: 'MANAGE', grant: null },
        direct(alma, 'MANAGE', outer),
        ...['Berta', 'carl', 'dora', 'fred'].map(ofCrew),
      ];
      assert.deepEqual(await pages(list, item, path), expected);
      const { authToken } = await people.logIn(alma!);
      assert.deepEqual(await pages(list, item, path, authToken), expected);
      for (const { user, level } of expected) {
        const explained = await people.query<{ user: { id: string } }>(
          `{user(username: "${user.username}"){id}}`,
        );
        const { explainAccess } = await people.query<{ explainAccess: { level: string } }>(
          `{explainAccess(userId: "${explained.user.id}", folderId: "${inner}"){level}}`,
        );
        assert.equal(explainAccess.level, level, user.username);
      }
    });

    test('show the users with access only to managers of the folder', async () => {
      const managed = await createFolder('Managed');
      const writer = await people.createUser({ username: 'writer' });
      await people.mutate('grantAccess', { folderId: managed, userId: writer.id, level: 'WRITE' });
      const { authToken } = await people.logIn(writer);
      for (const id of [managed, undefined]) {
        const query = `query($id: ID){folder(id: $id){id effectiveAccess{totalCount items{user{id}}}}}`;
        type Data = { folder: { id: string; effectiveAccess: null } };
        const { data, errors } = await people.execute<Data>(query, { id }, authToken);
        assert.equal(data!.folder.effectiveAccess, null);
        assert.deepEqual(
          errors!.map(({ extensions, path }) => [extensions.code, path]),
          [['FORBIDDEN', ['folder', 'effectiveAccess']]],
        );
      }
      const hidden = `{folder(id: "${topId}"){effectiveAccess{totalCount}}}`;
      assert.deepEqual(await people.query(hidden, {}, authToken), { folder: null });
    });

    test('include thousands of group members among the users with access, each with a cost', async (t) => {
      const crowded = await createFolder('Crowded');
      const everyone = await people.createGroup('Everyone');
      await people.mutate('grantAccess', { folderId: crowded, groupId: everyone, level: 'READ' });
      const names = await insertMembers(people.server.database.url, everyone, 3_000);
      const read = async (first: number, from: string | null) => {
        const query = `query($after: String){folder(id: "${crowded}"){effectiveAccess(first: ${first}, after: $after){
          totalCount items{user{username}} pageInfo{endCursor hasNextPage}}}}`;
        type Access = Omit<Connection, 'items'> & {
          readonly items: readonly { user: { username: string } }[];
        };
        const data = await people.query<{ folder: { effectiveAccess: Access } }>(query, { after: from });
        return data.folder.effectiveAccess;
      };
      const found: string[] = [];
      for (let cursor: string | null = null, hasMore = true; hasMore;) {
        const { items, pageInfo, totalCount } = await read(700, cursor);
        assert.equal(totalCount, 3_001);
        found.push(...items.map(({ user }) => user.username));
        ({ endCursor: cursor, hasNextPage: hasMore } = pageInfo);
      }
      assert.deepEqual(found, ['admin', ...names]);
      const small = await PeopleTestbed.start(kind, {
        settings: { MAX_SCANNED: '1000' },
        database: people.server.database,
      });
      t.after(() => small.stop());
      const list = `{folder(id: "${crowded}"){effectiveAccess(first: 10){SELECTED}}}`;
      assert.equal((await small.execute(list.replace('SELECTED', 'items{level}'))).errors, undefined);
      assert.match(await small.queryError(list.replace('SELECTED', 'totalCount')), /^TOO_EXPENSIVE/);
    });

    test('have 50 items by default and at most 1000, and reject cursors of other lists', async () => {
      const { viewer } = await people.query<{ viewer: { sessions: Connection } }>(
        '{viewer{sessions(first: 1){pageInfo{endCursor}}}}',
      );
      const after = viewer.sessions.pageInfo.endCursor;
      for (const [list, input] of [
        ['sessions', 'first: 1001'],
        ['sessions', 'first: -1'],
        ['sessions', `after: "${after}"`],
        ['groups', `after: "${after}"`],
        ['grants', `after: "${after}"`],
      ] as const) {
        const query = `{user(username: "paula"){${list}(${input}){items{__typename}}}}`;
        assert.match(await people.queryError(query), /^BAD_INPUT/, query);
      }
    });

    test('cost as much as their requested size if a query reads many users', async () => {
      const small = await PeopleTestbed.start(kind, {
        settings: { MAX_FOLDERS: '12' },
        database: people.server.database,
      });
      const list = (first: number) => `{users(first: 9){items{sessions(first: ${first}){items{id}}}}}`;
      assert.equal((await small.execute(list(1))).errors, undefined);
      assert.match((await small.execute(list(50))).errors![0]!.extensions.code, /^TOO_EXPENSIVE$/);
      await small.stop();
    });
  });
}
