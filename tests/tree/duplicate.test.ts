/** Duplicating folders: a copy contains exactly the folders that the viewer sees. It succeeds or fails as a whole. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { countRows } from '../support/stored-rows.ts';
import type { Variables } from '../support/graph-testbed.ts';
import { TreeTestbed, type ListedFolder } from './tree-testbed.ts';

const maxFolders = 2_500;
const maxTextBytes = 200_000;

interface DuplicatePayload {
  readonly folder: { readonly id: string; readonly path: string };
  readonly folderCount: number;
}

for (const kind of databaseKinds) {
  describe(`a duplicate on ${kind.name}`, () => {
    let tree: TreeTestbed;
    /** Called once, when a large copy starts to write. */
    let onStaged: (() => void) | undefined;

    before(async () => {
      tree = await TreeTestbed.start(kind, {
        settings: { MAX_IMPORT_FOLDERS: String(maxFolders), MAX_TEXT_BYTES: String(maxTextBytes) },
        onStatement(text) {
          if (!text.includes("detached_because = 'import'")) return;
          onStaged?.();
          onStaged = undefined;
        },
      });
    });
    after(() => tree.stop());

    const duplicate = (input: Variables, authToken?: string) =>
      tree.mutate<DuplicatePayload>('duplicateFolder', input, 'folder{id path} folderCount', authToken);
    const pathOfCopy = async (input: Variables) => (await duplicate(input)).folder.path;
    const exportTexts = async (id: string) => {
      const query = 'query($id: ID){exportFolders(id: $id){path title icon description properties}}';
      return (await tree.query<{ exportFolders: ListedFolder[] }>(query, { id })).exportFolders;
    };
    const refusalCode = async (input: Variables, authToken?: string) =>
      (await tree.readMutationError('duplicateFolder', input, authToken)).extensions.code;

    test('contains the folder and its descendants with all texts, and leaves the original unchanged', async () => {
      const parent = await tree.create('Studio');
      const texts = {
        title: 'The plan',
        icon: 'map',
        description: 'Line 1\n2',
        properties: { a: [1, null] },
      };
      const id = await tree.create('Plan', parent, texts);
      await tree.import([{ path: 'B/2', ...texts }, 'B/10', 'A', { path: 'C', title: 'See' }], id);
      const inside = await exportTexts(id);
      const selection = 'id name title icon description properties version updatedAt folders{totalCount}';
      const original = await tree.find<{ id: string }>(id, selection);
      tree.server.clock.advanceSeconds(7);
      const now = new Date(tree.server.clock.now()).toISOString();
      const { folder, folderCount } = await duplicate({ id, expectedVersion: 1 });
      assert.equal(folder.path, '/Studio/Plan (copy)');
      assert.equal(folderCount, 6);
      assert.notEqual(folder.id, id);
      assert.deepEqual(await exportTexts(folder.id), inside);
      assert.deepEqual(await tree.find(folder.id, selection), {
        ...original,
        id: folder.id,
        name: 'Plan (copy)',
        updatedAt: now,
      });
      assert.deepEqual(await tree.find(id, selection), original);
      assert.deepEqual(await exportTexts(id), inside);
      assert.deepEqual(await tree.find(parent, 'version folders{totalCount}'), {
        version: 1,
        folders: { totalCount: 2 },
      });
      assert.equal((await tree.search('see', folder.id))[0], 'C');
      await tree.mutate('updateFolder', { id: folder.id, title: null });
      assert.deepEqual(await tree.find(id, 'title'), { title: 'The plan' });
      await tree.delete(folder.id);
    });

    test('has one journal entry, with both paths', async () => {
      const [top, id] = (await tree.createChain(['Ledger', 'May', 'Bills'])) as [string, string];
      const to = await tree.create('Archive');
      const { folder } = await duplicate({ id, parentId: to, name: 'May 2026' });
      await tree.mutate('updateFolder', { id: top, name: 'Books' });
      const query = `query($folderId: ID!){journal(filter: {folderId: $folderId}){
        items{kind path formerPath before after ancestorIds}}}`;
      assert.deepEqual(await tree.query(query, { folderId: folder.id }), {
        journal: {
          items: [
            {
              kind: 'DUPLICATE_FOLDER',
              path: '/Archive/May 2026',
              formerPath: '/Ledger/May',
              before: null,
              after: { name: 'May 2026', count: 2, sourceId: id },
              ancestorIds: [await tree.idOf('/'), to],
            },
          ],
        },
      });
    });

    describe('the name', () => {
      test('gets a number in the same parent, and stays the same in another parent if it is free', async () => {
        const [from, id] = (await tree.createChain(['Names', 'Note'])) as [string, string];
        const to = await tree.create('Other names');
        assert.equal(await pathOfCopy({ id }), '/Names/Note (copy)');
        assert.equal(await pathOfCopy({ id, parentId: from }), '/Names/Note (copy 2)');
        const copied = await tree.idOf('/Names/Note (copy)');
        assert.equal(await pathOfCopy({ id: copied }), '/Names/Note (copy 3)');
        assert.equal(await pathOfCopy({ id, parentId: to }), '/Other names/Note');
        assert.equal(await pathOfCopy({ id, parentId: to }), '/Other names/Note (copy)');
        assert.equal(await pathOfCopy({ id: copied, parentId: to }), '/Other names/Note (copy 2)');
        await tree.delete(await tree.idOf('/Names/Note (copy 2)'));
        assert.equal(await pathOfCopy({ id, name: null }), '/Names/Note (copy 2)');
        assert.equal(await pathOfCopy({ id, name: 'Cafe\u0301' }), '/Names/Caf\u00e9');
      });

      test('is shortened if the original name is very long', async () => {
        const name = '🌲'.repeat(255);
        const id = await tree.create(name);
        assert.equal(await pathOfCopy({ id }), `/${'🌲'.repeat(248)} (copy)`);
        assert.equal(await pathOfCopy({ id }), `/${'🌲'.repeat(246)} (copy 2)`);
        const odd = await tree.create(' (copy)');
        assert.equal(await pathOfCopy({ id: odd }), '/ (copy) (copy)');
      });

      test('is refused if it is taken or invalid', async () => {
        const [, id] = (await tree.createChain(['Refused names', 'One'])) as [string, string];
        await tree.create('Two', await tree.idOf('/Refused names'));
        const cases: [string, string][] = [
          ['One', 'CONFLICT'],
          ['Two', 'CONFLICT'],
          ['', 'BAD_INPUT'],
          ['a/b', 'BAD_INPUT'],
          ['a\u0000', 'BAD_INPUT'],
          ['n'.repeat(256), 'BAD_INPUT'],
        ];
        for (const [name, expected] of cases) assert.equal(await refusalCode({ id, name }), expected, name);
      });
    });

    describe('for a user with limited rights', () => {
      test('requires READ on the folder and WRITE on the parent of the copy', async () => {
        const [from, id, inside] = (await tree.createChain(['Source', 'Item', 'Part'])) as [
          string,
          string,
          string,
        ];
        const to = await tree.create('Target');
        const cases: [Record<string, string>, Variables, string][] = [
          [{ [from]: 'READ' }, { id }, 'FORBIDDEN'],
          [{ [id]: 'MANAGE' }, { id }, 'FORBIDDEN'],
          [{ [from]: 'READ' }, { id, parentId: to }, 'NOT_FOUND'],
          [{ [from]: 'READ', [to]: 'READ' }, { id, parentId: to }, 'FORBIDDEN'],
          [{ [inside]: 'READ', [to]: 'WRITE' }, { id, parentId: to }, 'FORBIDDEN'],
          [{ [from]: 'READ', [id]: 'NONE', [to]: 'WRITE' }, { id, parentId: to }, 'NOT_FOUND'],
          [{ [to]: 'MANAGE' }, { id, parentId: to }, 'NOT_FOUND'],
        ];
        for (const [levels, input, expected] of cases) {
          const { authToken } = await tree.person(levels);
          assert.equal(await refusalCode(input, authToken), expected, JSON.stringify([levels, input]));
        }
        const { authToken } = await tree.person({ [from]: 'READ', [to]: 'WRITE' });
        const { folder } = await duplicate({ id, parentId: to }, authToken);
        assert.equal(folder.path, '/Target/Item');
        assert.deepEqual(await tree.paths(folder.id), ['Part']);
      });

      test('contains no hidden folders, no texts of passages and no grants', async () => {
        const [from, id] = (await tree.createChain(['Mixed', 'Box'])) as [string, string];
        const to = await tree.create('Mixed target');
        await tree.import(
          [
            'Open/Inner',
            { path: 'Hidden', title: 'Secret title' },
            { path: 'Hidden/Deep', title: 'Secret deep' },
            { path: 'Passage', title: 'Secret passage', properties: { secret: 1 } },
            { path: 'Passage/Shown', title: 'Shown title' },
            { path: 'Passage/Closed', title: 'Secret closed' },
          ],
          id,
        );
        const idIn = (path: string) => tree.idOf(`/Mixed/Box/${path}`);
        const { authToken } = await tree.person({
          [from]: 'READ',
          [to]: 'WRITE',
          [await idIn('Hidden')]: 'NONE',
          [await idIn('Passage')]: 'NONE',
          [await idIn('Passage/Shown')]: 'READ',
        });
        const other = await tree.person({ [await idIn('Open')]: 'MANAGE' });
        const { folder, folderCount } = await duplicate({ id, parentId: to }, authToken);
        assert.equal(folderCount, 5);
        const copied = await exportTexts(folder.id);
        assert.deepEqual(
          copied.map(({ path, title }) => [path, title]),
          [
            ['Open', null],
            ['Open/Inner', null],
            ['Passage', null],
            ['Passage/Shown', 'Shown title'],
          ],
        );
        assert.doesNotMatch(JSON.stringify(copied), /secret/i);
        assert.equal(await tree.find(folder.id, 'id', other.authToken), null);
        const copyOfOpen = await tree.idOf('/Mixed target/Box/Open');
        assert.deepEqual(await tree.find(copyOfOpen, 'access{totalCount}'), { access: { totalCount: 0 } });
        assert.equal(await tree.find(copyOfOpen, 'id', other.authToken), null);
      });

      test('is reported as a new folder to viewers of the destination, and not at all to others', async () => {
        const [from, id] = (await tree.createChain(['News', 'Story', 'Photo'])) as [string, string];
        const to = await tree.create('Front page');
        const seesSource = await tree.person({ [from]: 'READ' });
        const seesCopy = await tree.person({ [to]: 'READ' });
        const { cursor } = await tree.query<{ cursor: string }>('{cursor}');
        const { folder } = await duplicate({ id, parentId: to });
        const query =
          'query($after: String!){changes(after: $after){items{kind folderId folder{path descendants{items{path}}}}}}';
        const changesOf = async ({ authToken }: { authToken: string }) =>
          (await tree.query<{ changes: { items: object[] } }>(query, { after: cursor }, authToken)).changes
            .items;
        assert.deepEqual(await changesOf(seesCopy), [
          {
            kind: 'CREATE',
            folderId: folder.id,
            folder: {
              path: '/Front page/Story',
              descendants: { items: [{ path: '/Front page/Story/Photo' }] },
            },
          },
        ]);
        assert.deepEqual(await changesOf(seesSource), []);
      });
    });

    describe('of the root or into itself', () => {
      test('copies only the folders that existed before the copy', async () => {
        const [id, inner] = (await tree.createChain(['Russian doll', 'Doll'])) as [string, string];
        const { folderCount } = await duplicate({ id, parentId: inner });
        assert.equal(folderCount, 2);
        assert.deepEqual(await tree.paths(id), ['Doll', 'Doll/Russian doll', 'Doll/Russian doll/Doll']);
        const own = await TreeTestbed.start(kind);
        try {
          const [rootId, to] = [await own.idOf('/'), await own.create('All')];
          const error = await own.readMutationError('duplicateFolder', { id: rootId });
          assert.equal(error.extensions.code, 'BAD_INPUT');
          assert.match(error.message, /`parentId`/);
          await own.mutate('duplicateFolder', { id: rootId, parentId: to, name: 'Everything' });
          assert.deepEqual(await own.paths(), ['All', 'All/Everything', 'All/Everything/All']);
        } finally {
          await own.stop();
        }
      });
    });

    test('is refused for unknown, deleted and changed folders, and for invalid ids', async () => {
      const [id, gone] = [await tree.create('Stays'), await tree.create('Gone')];
      await tree.delete(gone);
      for (const each of [gone, '', 'x', `${id} `, `${id}\u0000`, 'a'.repeat(10_000)]) {
        assert.equal(await refusalCode({ id: each }), 'NOT_FOUND', each.slice(0, 50));
        assert.equal(await refusalCode({ id, parentId: each }), 'NOT_FOUND', each.slice(0, 50));
      }
      const error = await tree.readMutationError('duplicateFolder', { id, expectedVersion: 9 });
      assert.deepEqual([error.extensions.code, error.extensions['version']], ['CONFLICT', 1]);
    });

    describe('the limits', () => {
      test('are those of an import: the number of folders, the texts and the depth', async () => {
        const large = await tree.create('Large');
        await tree.import(
          Array.from({ length: maxFolders }, (_, index) => `${index % 50}/${index}`).slice(
            0,
            maxFolders - 50,
          ),
          large,
        );
        const error = await tree.readError(
          'mutation($id: ID!){duplicateFolder(input: {id: $id}){__typename}}',
          {
            id: large,
          },
        );
        assert.equal(error.extensions.code, 'TOO_EXPENSIVE');
        assert.match(error.message, /at most 2500 folders/);
        await tree.delete(large);

        const long = await tree.create('Long');
        const description = 'é'.repeat(9_000);
        for (let index = 0; index < 12; index++) await tree.create(`${index}`, long, { description });
        const tooLong = await tree.readError(
          'mutation($id: ID!){duplicateFolder(input: {id: $id}){__typename}}',
          {
            id: long,
          },
        );
        assert.equal(tooLong.extensions.code, 'TOO_EXPENSIVE');
        assert.match(tooLong.message, /200000 bytes/);
        await tree.delete(long);

        const path = Array.from({ length: 200 }, (_, index) => `d${index}`).join('/');
        const deep = await tree.create('Deep');
        await tree.import([path], deep);
        const parentId = await tree.idOf(`/Deep/${path.split('/').slice(0, 60).join('/')}`);
        const tooDeep = await tree.readMutationError('duplicateFolder', { id: deep, parentId });
        assert.equal(tooDeep.extensions.code, 'BAD_INPUT');
        assert.match(tooDeep.message, /at most 256 levels/);
        await tree.delete(deep);
      });
    });

    describe('of many folders', () => {
      const count = 2_100;
      const paths = Array.from({ length: count }, (_, index) =>
        index < 50 ? `${index}` : `${index % 50}/${index}`,
      );
      let id: string;
      before(async () => {
        id = await tree.create('Forest');
        await tree.import(paths, id);
      });

      test('appears in one step, with all folders', async () => {
        const seen: string[][] = [];
        const isStaged = new Promise<void>((resolve) => (onStaged = resolve));
        const copying = duplicate({ id, name: 'Grove' });
        await isStaged;
        seen.push(await tree.search('Grove'));
        const { folder, folderCount } = await copying;
        assert.deepEqual(seen, [[]]);
        assert.equal(folderCount, count + 1);
        assert.deepEqual(await tree.paths(folder.id), await tree.paths(id));
        assert.deepEqual(await tree.find(folder.id, 'folders{totalCount}'), { folders: { totalCount: 50 } });
        await tree.delete(folder.id);
      });

      test('leaves nothing behind if the destination is deleted during the copy', async () => {
        const parentId = await tree.create('Vanishes');
        const { folders } = await countRows(tree.server.database.url);
        const isStaged = new Promise<void>((resolve) => (onStaged = resolve));
        const copying = tree.outcome('duplicateFolder', { id, parentId });
        await isStaged;
        await tree.delete(parentId);
        assert.equal(await copying, 'NOT_FOUND');
        assert.equal((await countRows(tree.server.database.url)).folders, folders);
      });

      test('gets another free name if its name is taken during the copy', async () => {
        const isStaged = new Promise<void>((resolve) => (onStaged = resolve));
        const copying = duplicate({ id });
        await isStaged;
        await tree.create('Forest (copy)');
        const { folder } = await copying;
        assert.equal(folder.path, '/Forest (copy 2)');
        assert.equal((await tree.paths(folder.id)).length, count);
      });
    });
  });
}
