/** Hidden folders among visible ones must not affect any response. Also tests the explanation of access. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { Person } from './person.ts';
import { Testbed } from '../support/testbed.ts';

for (const kind of databaseKinds) {
  describe(`hidden folders and explained access on ${kind.name}`, () => {
    let testbed: Testbed;
    let admin: Person;

    before(async () => {
      testbed = await Testbed.start(kind);
      admin = await Person.logIn(testbed);
    });
    after(() => testbed.stop());

    describe('hidden folders among visible ones', () => {
      let fay: Person;
      let top: string;

      before(async () => {
        await admin.createTree('Amid', [
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

      test('are not found by filters, and do not change which visible folders match', async () => {
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
        // 10 floors with one room each, two folders in floor 3, and `Only hidden` without its hidden vault.
        assert.equal(folder.descendants.totalCount, 23);
        assert.equal(folder.descendants.items.length, 23);
        assert.equal(exportFolders.length, 23);
        const { deleteFolder } = await fay.query<{ deleteFolder: { folderCount: number } }>(
          'mutation($id: ID!){deleteFolder(input: {id: $id}){folderId folderCount}}',
          { id: await fay.findId('/Amid/Only hidden') },
        );
        assert.equal(deleteFolder.folderCount, 1);
      });

      test('block their names for new folders, with the same message as visible folders', async () => {
        const create =
          'mutation($id: ID!, $name: String!){createFolder(input: {parentId: $id, name: $name}){folder{id}}}';
        const hidden = await fay.readErrors(create, { id: top, name: 'Floor 2' });
        const visibleName = await fay.readErrors(create, { id: top, name: 'Floor 4' });
        assert.equal(hidden[0]!.extensions.code, 'CONFLICT');
        assert.deepEqual(hidden[0]!.extensions, visibleName[0]!.extensions);
        assert.equal(hidden[0]!.message.replace('Floor 2', 'Floor 4'), visibleName[0]!.message);
      });
    });

    describe('the explanation of access', () => {
      test('names the deciding grant and its folder, or reports that there is none', async () => {
        await admin.createTree('Explained', ['One/Two/Three', 'Else']);
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
        await admin.createTree('Explain', ['Here']);
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
