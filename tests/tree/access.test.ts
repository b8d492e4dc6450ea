/** What each user may see and do. A hidden folder must not show anywhere. */

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
      // The test of all fields requests more fields at once than a normal query.
      testbed = await Testbed.start(kind, { settings: { MAX_FIELDS: '100000', MAX_TOKENS: '100000' } });
      admin = await Person.logIn(testbed);
    });
    after(() => testbed.stop());

    /** Creates folders below a new top folder, and returns their ids by path. */
    async function createTree(top: string, paths: readonly string[]): Promise<Record<string, string>> {
      const list = [{ path: top }, ...paths.map((path) => ({ path: `${top}/${path}` }))];
      await admin.query(
        'mutation($list: [ImportedPath!]){importFolders(input: {list: $list}){folderCount}}',
        {
          list,
        },
      );
      const ids: Record<string, string> = {};
      for (const { path } of list) ids[path] = await admin.findId(`/${path}`);
      return ids;
    }

    describe('a deep grant', () => {
      let ann: Person;
      let ids: Record<string, string>;
      let hiddenIds: string[];

      before(async () => {
        ids = await createTree('Deep', [
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

      test('is reachable from the root, step by step', async () => {
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

      test('shows the whole subtree down to deeper grants, and only the names of passages', async () => {
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

      test('shows no hidden folder in any field of the schema', async () => {
        assert.ok(hiddenIds.length > 5);
        const responses = await ann.tryEverything(await readQueryType(admin), hiddenIds, secret);
        assert.ok(responses.length > 50, `${responses.length} answers`);
        for (const { query, text } of responses) {
          const visibleText = text.replaceAll(/"message":"(\\"|[^"])*"/g, '');
          assert.ok(!visibleText.includes(secret), `${query} answers ${text}`);
          for (const id of hiddenIds) assert.ok(!visibleText.includes(id), `${query} answers ${text}`);
        }
      });

      test('allows no change of a hidden folder, and does not reveal whether it exists', async () => {
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

    describe('levels', () => {
      let ids: Record<string, string>;
      let bob: Person;

      before(async () => {
        ids = await createTree('Levels', ['A/Inner/Innermost', 'A/Other', 'B']);
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

      test('allow a revocation only for the subject of the grant', async () => {
        const group = await admin.createGroup('Keepers', [bob.userId]);
        await admin.grant(ids['Levels/B']!, { groupId: group }, 'READ');
        const [error] = await admin.readErrors(
          'mutation($input: RevokeAccessInput!){revokeAccess(input: $input){folder{id}}}',
          { input: { folderId: ids['Levels/B'], userId: group } },
        );
        assert.equal(error?.extensions.code, 'NOT_FOUND');
        await admin.revoke(ids['Levels/B']!, { groupId: group });
      });

      test('allow administrators everything, whatever the grants say', async () => {
        await admin.grant(ids['Levels/B']!, { userId: admin.userId }, 'NONE');
        const { folder } = await admin.query<{ folder: { accessLevel: string } }>(
          'query($id: ID!){folder(id: $id){accessLevel}}',
          { id: ids['Levels/B'] },
        );
        assert.equal(folder.accessLevel, 'MANAGE');
      });

      test('do not rise by a move, or by deleting a folder and restoring it elsewhere', async () => {
        const tree = await createTree('Gain', ['Shared/Thing', 'Own']);
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
        const tree = await createTree('Pact', ['Own/Box/Vault', 'Shared']);
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
        const tree = await createTree('Top', ['Shared/Thing', 'Elsewhere']);
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

    describe('hidden folders among visible ones', () => {
      let fay: Person;
      let top: string;

      before(async () => {
        await createTree('Amid', [
          ...Array.from({ length: 12 }, (_, index) => `Floor ${index + 1}/Room`),
          'Floor 3/Vault/Deep',
          'Only hidden/Vault',
        ]);
        top = await admin.findId('/Amid');
        fay = await admin.createUser(testbed, 'fay');
        await admin.grant(top, { userId: fay.userId }, 'WRITE');
        for (const path of ['/Amid/Floor 2', '/Amid/Floor 7', '/Amid/Only hidden/Vault']) {
          await admin.grant(await admin.findId(path), { userId: fay.userId }, 'NONE');
        }
      });

      const visible = [
        'Floor 1',
        'Floor 3',
        'Floor 4',
        'Floor 5',
        'Floor 6',
        'Floor 8',
        'Floor 9',
        'Floor 10',
        'Floor 11',
        'Floor 12',
        'Only hidden',
      ];

      interface Page {
        folder: {
          folders: {
            totalCount: number;
            items: { name: string }[];
            pageInfo: { hasNextPage: boolean; endCursor: string };
          };
        };
      }

      test('do not affect counts, pages and page ends', async () => {
        const query =
          'query($id: ID!, $first: Int, $after: String){folder(id: $id){folders(first: $first, after: $after){totalCount items{name} pageInfo{hasNextPage endCursor}}}}';
        for (const first of [1, 2, 3, 5, 11]) {
          const names: string[] = [];
          for (let after: string | null = null; ;) {
            const { folders }: Page['folder'] = (await fay.query<Page>(query, { id: top, first, after }))
              .folder;
            assert.equal(folders.totalCount, visible.length);
            names.push(...folders.items.map(({ name }) => name));
            if (!folders.pageInfo.hasNextPage) break;
            assert.equal(folders.items.length, first);
            after = folders.pageInfo.endCursor;
          }
          assert.deepEqual(names, visible);
        }
      });

      test('are not found by filters, and do not affect the filters of others', async () => {
        const found = async (filter: string) =>
          (
            await fay.query<Page>(
              `query($id: ID!){folder(id: $id){folders(filter: ${filter}){totalCount items{name} pageInfo{hasNextPage endCursor}}}}`,
              { id: top },
            )
          ).folder.folders;
        assert.equal((await found('{nameContains: "floor"}')).totalCount, 10);
        assert.deepEqual((await found('{hasChildren: false}')).items, [{ name: 'Only hidden' }]);
        assert.equal((await found('{hasChildren: true}')).totalCount, 10);
      });

      test('do not appear in a search, its count and its pages', async () => {
        const { search } = await fay.query<{ search: { totalCount: number; items: { name: string }[] } }>(
          'query($id: ID!){search(text: "room", under: $id, first: 100){totalCount items{name}}}',
          { id: top },
        );
        assert.equal(search.totalCount, 10);
        assert.equal(search.items.length, 10);
      });

      test('do not appear in descendants, exports and the counts of a move or a delete', async () => {
        const { folder, exportFolders } = await fay.query<{
          folder: { descendants: { totalCount: number; items: { name: string }[] } };
          exportFolders: { path: string }[];
        }>(
          'query($id: ID!){folder(id: $id){descendants{totalCount items{name}}} exportFolders(id: $id){path}}',
          {
            id: top,
          },
        );
        // 10 floors with one room each, the vault of floor 3 with its content, and the folder whose vault is
        // hidden.
        assert.equal(folder.descendants.totalCount, 23);
        assert.equal(folder.descendants.items.length, 23);
        assert.equal(exportFolders.length, 23);
        const { deleteFolder } = await fay.query<{ deleteFolder: { folderCount: number } }>(
          'mutation($id: ID!){deleteFolder(input: {id: $id}){folderId folderCount}}',
          { id: await fay.findId('/Amid/Only hidden') },
        );
        assert.equal(deleteFolder.folderCount, 1);
      });

      test('block their name for others, with the same message as for a visible folder', async () => {
        const create =
          'mutation($id: ID!, $name: String!){createFolder(input: {parentId: $id, name: $name}){folder{id}}}';
        const hidden = await fay.readErrors(create, { id: top, name: 'Floor 2' });
        const visibleName = await fay.readErrors(create, { id: top, name: 'Floor 4' });
        assert.equal(hidden[0]!.extensions.code, 'CONFLICT');
        assert.deepEqual(Object.keys(hidden[0]!.extensions), ['code']);
        assert.equal(hidden[0]!.message.replace('Floor 2', 'Floor 4'), visibleName[0]!.message);
      });
    });

    describe('the explanation of access', () => {
      test('names the deciding grant and its folder, for a user, a group, a passage and no access', async () => {
        await createTree('Explained', ['One/Two/Three', 'Else']);
        const gus = await admin.createUser(testbed, 'gus');
        const group = await admin.createGroup('Explorers', [gus.userId]);
        const explain = async (person: Person, path: string) => {
          const folderId = await admin.findId(path);
          return (
            await person.query<{ explainAccess: Record<string, unknown> }>(
              'query($userId: ID!, $folderId: ID!){explainAccess(userId: $userId, folderId: $folderId){level isPassage grant{level folder{path} user{username} group{name}}}}',
              { userId: gus.userId, folderId },
            )
          ).explainAccess;
        };
        await admin.grant(await admin.findId('/Explained/One'), { groupId: group }, 'WRITE');
        await admin.grant(await admin.findId('/Explained/One/Two/Three'), { userId: gus.userId }, 'READ');
        const byGroup = {
          level: 'WRITE',
          isPassage: false,
          grant: {
            level: 'WRITE',
            folder: { path: '/Explained/One' },
            user: null,
            group: { name: 'Explorers' },
          },
        };
        assert.deepEqual(await explain(admin, '/Explained/One/Two'), byGroup);
        assert.deepEqual(await explain(gus, '/Explained/One/Two'), byGroup);
        assert.deepEqual(await explain(admin, '/Explained/One/Two/Three'), {
          level: 'READ',
          isPassage: false,
          grant: {
            level: 'READ',
            folder: { path: '/Explained/One/Two/Three' },
            user: { username: 'gus' },
            group: null,
          },
        });
        assert.deepEqual(await explain(admin, '/Explained'), { level: 'NONE', isPassage: true, grant: null });
        assert.deepEqual(await explain(admin, '/Explained/Else'), {
          level: 'NONE',
          isPassage: false,
          grant: null,
        });
      });

      test('is available to administrators, managers of the folder and the user concerned', async () => {
        await createTree('Explain', ['Here']);
        const [hal, ida] = [await admin.createUser(testbed, 'hal'), await admin.createUser(testbed, 'ida')];
        const folderId = await admin.findId('/Explain/Here');
        await admin.grant(folderId, { userId: hal.userId }, 'WRITE');
        const query =
          'query($userId: ID!, $folderId: ID!){explainAccess(userId: $userId, folderId: $folderId){level}}';
        const codes = async (person: Person, userId: string) =>
          (await person.readErrors(query, { userId, folderId })).map(({ extensions }) => extensions.code);
        assert.deepEqual(await codes(hal, ida.userId), ['FORBIDDEN']);
        assert.deepEqual(await codes(hal, hal.userId), []);
        assert.deepEqual(await codes(ida, hal.userId), ['NOT_FOUND']);
        await admin.grant(folderId, { userId: hal.userId }, 'MANAGE');
        assert.deepEqual(await codes(hal, ida.userId), []);
      });
    });
  });
}

async function readQueryType(person: Person): Promise<GraphQLObjectType> {
  const introspection = await person.query<IntrospectionQuery>(getIntrospectionQuery());
  return buildClientSchema(introspection).getQueryType()!;
}
