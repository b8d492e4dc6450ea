/** What each user may see and do. No response may reveal a hidden folder. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  buildClientSchema,
  getIntrospectionQuery,
  type GraphQLObjectType,
  type IntrospectionQuery,
} from 'graphql';
import { databaseKinds } from '../support/databases.ts';
import { Person } from './person.ts';
import { Testbed } from '../support/testbed.ts';

const secret = 'Zebrafish';

for (const kind of databaseKinds) {
  describe(`access on ${kind.name}`, () => {
    let testbed: Testbed;
    let admin: Person;

    before(async () => {
      // The test of every schema field sends larger queries than the default limits allow.
      testbed = await Testbed.start(kind, { settings: { MAX_FIELDS: '100000', MAX_QUERY_TOKENS: '100000' } });
      admin = await Person.logIn(testbed);
    });
    after(() => testbed.stop());

    describe('a deep grant', () => {
      let ann: Person;
      let ids: Record<string, string>;
      let hiddenIds: string[];

      before(async () => {
        ids = await admin.createTree('Deep', [
          'Open/Path/Goal/Inside/Far inside',
          `Open/Path/Goal/${secret} closed/Below`,
          `Open/Path/Goal/Bare/${secret} sibling`,
          'Open/Path/Goal/Bare/Reopened/End',
          `Open/Path/${secret} sibling`,
          `Open/${secret} sibling/Inside`,
          `${secret} top/Inside`,
          'Deleted',
        ]);
        const details = {
          title: `${secret} title`,
          icon: secret,
          description: secret,
          properties: { secret },
        };
        const updateQuery =
          'mutation($id: ID!, $title: String, $icon: String, $description: String, $properties: JSON){updateFolder(input: {id: $id, title: $title, icon: $icon, description: $description, properties: $properties}){folder{id}}}';
        const passages = ['Deep', 'Deep/Open', 'Deep/Open/Path', 'Deep/Open/Path/Goal/Bare'];
        testbed.clock.advanceSeconds(60);
        for (const path of passages)
          await admin.query(updateQuery, { id: ids[path] ?? (await admin.findId(`/${path}`)), ...details });
        ann = await admin.createUser(testbed, 'ann');
        const grant = async (path: string, level: string) =>
          admin.grant(await admin.findId(`/${path}`), { userId: ann.userId }, level);
        await grant('Deep/Open/Path/Goal', 'READ');
        await grant(`Deep/Open/Path/Goal/${secret} closed`, 'NONE');
        await grant('Deep/Open/Path/Goal/Bare', 'NONE');
        await grant('Deep/Open/Path/Goal/Bare/Reopened', 'READ');
        await grant(`Deep/${secret} top/Inside`, 'NONE');
        await admin.query('mutation($id: ID!){deleteFolder(input: {id: $id}){folderId}}', {
          id: ids['Deep/Deleted'],
        });
        const all = await admin.readAll();
        const seen = await ann.readAll();
        hiddenIds = all.filter(({ id }) => !seen.some((each) => each.id === id)).map(({ id }) => id);
      });

      test('makes its folder reachable from the root, level by level', async () => {
        const path = ['Deep', 'Open', 'Path', 'Goal', 'Inside', 'Far inside'];
        let id: string | undefined;
        for (const name of path) {
          const { folder } = await ann.query<{
            folder: { folders: { totalCount: number; items: { id: string; name: string }[] } };
          }>('query($id: ID){folder(id: $id){folders{totalCount items{id name}}}}', { id });
          id = folder.folders.items.find((each) => each.name === name)?.id;
          assert.ok(id, name);
          assert.equal(folder.folders.totalCount, folder.folders.items.length);
        }
      });

      test('shows the subtree down to deeper grants, and only the names of its ancestors', async () => {
        assert.deepEqual(
          (await ann.readAll()).map(({ path, accessLevel }) => [path, accessLevel]),
          [
            ['/Deep', 'NONE'],
            ['/Deep/Open', 'NONE'],
            ['/Deep/Open/Path', 'NONE'],
            ['/Deep/Open/Path/Goal', 'READ'],
            ['/Deep/Open/Path/Goal/Bare', 'NONE'],
            ['/Deep/Open/Path/Goal/Bare/Reopened', 'READ'],
            ['/Deep/Open/Path/Goal/Bare/Reopened/End', 'READ'],
            ['/Deep/Open/Path/Goal/Inside', 'READ'],
            ['/Deep/Open/Path/Goal/Inside/Far inside', 'READ'],
          ],
        );
        const { folder } = await ann.query<{ folder: Record<string, unknown> }>(
          '{folder(path: "/Deep/Open"){name title icon description properties version createdAt updatedAt access{items{level}}}}',
        );
        const { createdAt } = folder;
        assert.deepEqual(folder, {
          name: 'Open',
          title: 'Open',
          icon: null,
          description: null,
          properties: {},
          version: 0,
          createdAt,
          updatedAt: createdAt,
          access: { items: [] },
        });
      });

      test('reveals no hidden folder in any field of the schema', async () => {
        assert.ok(hiddenIds.length > 5);
        const responses = await ann.queryEveryField(await readQueryType(admin), hiddenIds, secret);
        assert.ok(responses.length > 50, `${responses.length} responses`);
        for (const { query, text } of responses) {
          const visibleText = text.replaceAll(/"message":"(\\"|[^"])*"/g, '');
          assert.ok(!visibleText.includes(secret), `${query} returns ${text}`);
          for (const id of hiddenIds) assert.ok(!visibleText.includes(id), `${query} returns ${text}`);
        }
      });

      test('allows no change of a hidden folder, and does not reveal whether the folder exists', async () => {
        const unknown = '01900000-0000-7000-8000-000000000000';
        const goal = await ann.findId('/Deep/Open/Path/Goal');
        const mutations = [
          'createFolder(input: {parentId: $id, name: "x"}){folder{id}}',
          'updateFolder(input: {id: $id, name: "x"}){folder{id}}',
          `moveFolder(input: {id: $id, parentId: "${goal}"}){folder{id}}`,
          `moveFolder(input: {id: "${goal}", parentId: $id}){folder{id}}`,
          'deleteFolder(input: {id: $id, recursive: true}){folderId}',
          'restoreFolder(input: {id: $id}){folder{id}}',
          'importFolders(input: {parentId: $id, tree: [{name: "x"}]}){folderCount}',
          `grantAccess(input: {folderId: $id, userId: "${ann.userId}", level: MANAGE}){folder{id}}`,
          `revokeAccess(input: {folderId: $id, userId: "${ann.userId}"}){folder{id}}`,
        ];
        for (const mutation of mutations) {
          const errorFor = async (id: string) => {
            const error = (await ann.readErrors(`mutation($id: ID!){${mutation}}`, { id }))[0]!;
            return { ...error, message: error.message.replaceAll(id, '…') };
          };
          const expected = await errorFor(unknown);
          for (const id of [...hiddenIds, ids['Deep/Deleted']!]) {
            const isMoveOfReadable =
              mutation.startsWith('moveFolder') && expected.extensions.code === 'FORBIDDEN';
            if (!isMoveOfReadable) assert.equal(expected.extensions.code, 'NOT_FOUND', mutation);
            assert.deepEqual(await errorFor(id), expected, mutation);
          }
        }
      });
    });

    describe('access levels', () => {
      let ids: Record<string, string>;
      let bob: Person;

      before(async () => {
        ids = await admin.createTree('Levels', ['A/Inner/Innermost', 'A/Other', 'B']);
        bob = await admin.createUser(testbed, 'bob');
      });

      const attempts: Readonly<Record<string, string>> = {
        read: 'query($id: ID!){folder(id: $id){title}}',
        update: 'mutation($id: ID!){updateFolder(input: {id: $id, icon: "i"}){folder{id}}}',
        create: 'mutation($id: ID!){createFolder(input: {parentId: $id, name: "n"}){folder{id}}}',
        import: 'mutation($id: ID!){importFolders(input: {parentId: $id, tree: [{name: "m"}]}){folderCount}}',
        manage:
          'mutation($id: ID!){grantAccess(input: {folderId: $id, userId: "…", level: NONE}){folder{id}}}',
      };

      test('each allow exactly their operations', async () => {
        const allowed: Readonly<Record<string, readonly string[]>> = {
          READ: ['read'],
          WRITE: ['read', 'update', 'create', 'import'],
          MANAGE: ['read', 'update', 'create', 'import', 'manage'],
        };
        const carl = await admin.createUser(testbed, 'carl');
        for (const [level, operations] of Object.entries(allowed)) {
          await admin.grant(ids['Levels/B']!, { userId: bob.userId }, level);
          for (const [attempt, query] of Object.entries(attempts)) {
            const errors = await bob.readErrors(query.replace('…', carl.userId), { id: ids['Levels/B'] });
            const codes = errors.map(({ extensions }) => extensions.code);
            assert.deepEqual(
              codes,
              operations.includes(attempt) ? [] : ['FORBIDDEN'],
              `${attempt} with ${level}`,
            );
          }
          for (const name of ['n', 'm']) await admin.deleteByPath(`/Levels/B/${name}`);
        }
        await admin.revoke(ids['Levels/B']!, { userId: bob.userId });
      });

      test('follow the nearest grant, and the highest one on the same folder', async () => {
        const group = await admin.createGroup('Readers', [bob.userId]);
        const inner = await admin.findId('/Levels/A/Inner');
        const innermost = await admin.findId('/Levels/A/Inner/Innermost');
        const levelOf = async (id: string) =>
          (
            await bob.query<{ folder: { accessLevel: string } | null }>(
              'query($id: ID!){folder(id: $id){accessLevel}}',
              { id },
            )
          ).folder?.accessLevel;

        await admin.grant(await admin.findId('/Levels/A'), { groupId: group }, 'WRITE');
        assert.equal(await levelOf(innermost), 'WRITE');
        await admin.grant(inner, { userId: bob.userId }, 'READ');
        assert.equal(await levelOf(innermost), 'READ');
        await admin.grant(inner, { groupId: group }, 'MANAGE');
        assert.equal(await levelOf(innermost), 'MANAGE');
        await admin.grant(innermost, { userId: bob.userId }, 'NONE');
        assert.equal(await levelOf(innermost), undefined);
        assert.equal(await levelOf(inner), 'MANAGE');
        await admin.revoke(inner, { groupId: group });
        await admin.revoke(inner, { userId: bob.userId });
        assert.equal(await levelOf(inner), 'WRITE');
        await admin.removeFromGroup(group, bob.userId);
        assert.equal(await levelOf(inner), undefined);
      });

      test('remain if a revocation names the id of a group as that of a user', async () => {
        const group = await admin.createGroup('Keepers', [bob.userId]);
        await admin.grant(ids['Levels/B']!, { groupId: group }, 'READ');
        const [error] = await admin.readErrors(
          'mutation($input: RevokeAccessInput!){revokeAccess(input: $input){folder{id}}}',
          { input: { folderId: ids['Levels/B'], userId: group } },
        );
        assert.equal(error?.extensions.code, 'NOT_FOUND');
        await admin.revoke(ids['Levels/B']!, { groupId: group });
      });

      test('are MANAGE on every folder for administrators, whatever the grants say', async () => {
        await admin.grant(ids['Levels/B']!, { userId: admin.userId }, 'NONE');
        const { folder } = await admin.query<{ folder: { accessLevel: string } }>(
          'query($id: ID!){folder(id: $id){accessLevel}}',
          { id: ids['Levels/B'] },
        );
        assert.equal(folder.accessLevel, 'MANAGE');
      });

      test('do not rise if a user moves a folder, or deletes it and restores it elsewhere', async () => {
        const tree = await admin.createTree('Gain', ['Shared/Thing', 'Own']);
        const dora = await admin.createUser(testbed, 'dora');
        await admin.grant(await admin.findId('/Gain/Shared'), { userId: dora.userId }, 'WRITE');
        await admin.grant(tree['Gain/Own']!, { userId: dora.userId }, 'MANAGE');
        const move = { id: tree['Gain/Shared/Thing'], parentId: tree['Gain/Own'] };
        const codeOf = async (query: string) => (await dora.readErrors(query, move))[0]?.extensions.code;
        const moveQuery =
          'mutation($id: ID!, $parentId: ID!){moveFolder(input: {id: $id, parentId: $parentId}){folder{id}}}';
        assert.equal(await codeOf(moveQuery), 'FORBIDDEN');
        await dora.query('mutation($id: ID!){deleteFolder(input: {id: $id}){folderId}}', { id: move.id });
        assert.equal(
          await codeOf(
            'mutation($id: ID!, $parentId: ID!){restoreFolder(input: {id: $id, parentId: $parentId}){folder{id}}}',
          ),
          'FORBIDDEN',
        );
        await dora.query('mutation($id: ID!){restoreFolder(input: {id: $id}){folder{path}}}', {
          id: move.id,
        });
        assert.equal(await dora.findId('/Gain/Shared/Thing'), move.id);
      });

      test('prevent a user from exposing a hidden folder to others by a move or a restore', async () => {
        const tree = await admin.createTree('Pact', ['Own/Box/Vault', 'Shared']);
        const [gil, hope] = [await admin.createUser(testbed, 'gil'), await admin.createUser(testbed, 'hope')];
        const shared = tree['Pact/Shared']!;
        await admin.grant(await admin.findId('/Pact/Own'), { userId: gil.userId }, 'WRITE');
        await admin.grant(tree['Pact/Own/Box/Vault']!, { userId: gil.userId }, 'NONE');
        await admin.grant(shared, { userId: gil.userId }, 'WRITE');
        await admin.grant(shared, { userId: hope.userId }, 'READ');
        const box = { id: await admin.findId('/Pact/Own/Box'), parentId: shared };
        const input = '(input: {id: $id, parentId: $parentId}){folder{id}}';
        const codeOf = async (name: string) =>
          (await gil.readErrors(`mutation($id: ID!, $parentId: ID!){${name}${input}}`, box))[0]?.extensions
            .code;
        assert.equal(await codeOf('moveFolder'), 'FORBIDDEN');
        await gil.query('mutation($id: ID!){deleteFolder(input: {id: $id}){folderId}}', { id: box.id });
        assert.equal(await codeOf('restoreFolder'), 'FORBIDDEN');
        await admin.query(`mutation($id: ID!, $parentId: ID!){restoreFolder${input}}`, box);
        assert.equal(await hope.findId('/Pact/Shared/Box/Vault'), tree['Pact/Own/Box/Vault']);
      });

      test('require WRITE on the parent to move or delete a shared folder', async () => {
        const tree = await admin.createTree('Top', ['Shared/Thing', 'Elsewhere']);
        const emil = await admin.createUser(testbed, 'emil');
        await admin.grant(await admin.findId('/Top/Shared'), { userId: emil.userId }, 'MANAGE');
        await admin.grant(tree['Top/Elsewhere']!, { userId: emil.userId }, 'MANAGE');
        const id = await admin.findId('/Top/Shared');
        for (const query of [
          'mutation($id: ID!){deleteFolder(input: {id: $id, recursive: true}){folderId}}',
          `mutation($id: ID!){moveFolder(input: {id: $id, parentId: "${tree['Top/Elsewhere']}"}){folder{id}}}`,
        ]) {
          assert.equal((await emil.readErrors(query, { id }))[0]!.extensions.code, 'FORBIDDEN');
        }
      });
    });
  });
}

async function readQueryType(person: Person): Promise<GraphQLObjectType> {
  const introspection = await person.query<IntrospectionQuery>(getIntrospectionQuery());
  return buildClientSchema(introspection).getQueryType()!;
}
