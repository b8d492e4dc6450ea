/** Purges deleted folders on request: one folder, or the whole trash. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { countRows } from '../support/stored-rows.ts';
import { TreeTestbed } from './tree-testbed.ts';

interface TrashItem {
  readonly folderId: string;
  readonly name: string;
  readonly accessLevel: string;
}

for (const kind of databaseKinds) {
  describe(`purging on request on ${kind.name}`, () => {
    let tree: TreeTestbed;
    before(async () => {
      tree = await TreeTestbed.start(kind);
    });
    after(() => tree.stop());

    const trash = async (authToken?: string) => {
      const query = '{trash(first: 1000){items{folderId name accessLevel}}}';
      return (await tree.query<{ trash: { items: TrashItem[] } }>(query, {}, authToken)).trash.items;
    };
    const names = async (authToken?: string) => (await trash(authToken)).map(({ name }) => name);
    const refusalCode = async (id: string, authToken?: string) =>
      (await tree.readMutationError('purgeFolder', { id }, authToken)).extensions.code;
    const emptyTrash = async (input: object = {}, authToken?: string) =>
      (await tree.mutate<{ folderCount: number }>('emptyTrash', { ...input }, 'folderCount', authToken))
        .folderCount;
    const journalOf = async (folderId: string) => {
      const query = `query($folderId: ID!){journal(filter: {folderId: $folderId, kinds: [PURGE_FOLDER]}){
        items{by{username} path before}}}`;
      return (await tree.query<{ journal: { items: object[] } }>(query, { folderId })).journal.items;
    };

    test('removes one folder and its descendants immediately and permanently', async () => {
      const { url } = tree.server.database;
      const rows = await countRows(url);
      const [top, id, inside] = (await tree.createChain(['Cellar', 'Barrel', 'Bung'])) as [
        string,
        string,
        string,
      ];
      const { username, authToken } = await tree.person({ [top]: 'MANAGE', [inside]: 'MANAGE' });
      await tree.delete(id);
      const { folderCount, cursor } = await tree.mutate<{ folderCount: number; cursor: string }>(
        'purgeFolder',
        { id },
        'folderCount cursor',
        authToken,
      );
      assert.equal(folderCount, 1);
      assert.deepEqual(await names(), []);
      assert.equal((await tree.readMutationError('restoreFolder', { id })).extensions.code, 'NOT_FOUND');
      assert.equal(await refusalCode(id), 'NOT_FOUND');
      assert.deepEqual(await journalOf(id), [
        { by: { username }, path: '/Cellar/Barrel', before: { name: 'Barrel' } },
      ]);
      const changes = 'query($after: String!){changes(after: $after){items{kind}}}';
      assert.deepEqual(await tree.query(changes, { after: cursor }), { changes: { items: [] } });
      await tree.server.purge();
      const remaining = await countRows(url);
      assert.deepEqual([remaining.folders, remaining.grants], [rows.folders + 1, rows.grants + 1]);
    });

    test('requires MANAGE on the folder and on its former parent', async () => {
      const [top, id] = (await tree.createChain(['Store', 'Box'])) as [string, string];
      await tree.delete(id);
      const cases: [Record<string, string>, string][] = [
        [{ [top]: 'WRITE' }, 'FORBIDDEN'],
        [{ [top]: 'WRITE', [id]: 'MANAGE' }, 'FORBIDDEN'],
        [{ [top]: 'MANAGE', [id]: 'WRITE' }, 'FORBIDDEN'],
        [{ [top]: 'MANAGE', [id]: 'READ' }, 'NOT_FOUND'],
        [{ [top]: 'MANAGE', [id]: 'NONE' }, 'NOT_FOUND'],
        [{ [top]: 'READ' }, 'NOT_FOUND'],
        [{}, 'NOT_FOUND'],
      ];
      // A deleted folder cannot receive grants, so each case restores it first.
      for (const [levels, expected] of cases) {
        await tree.mutate('restoreFolder', { id });
        const { authToken } = await tree.person(levels);
        await tree.delete(id);
        assert.equal(await refusalCode(id, authToken), expected, JSON.stringify(levels));
        const before = await tree.snapshot();
        assert.equal(await emptyTrash({}, authToken), 0);
        assert.deepEqual(await tree.snapshot(), before);
      }
      await tree.mutate('restoreFolder', { id });
      const { authToken } = await tree.person({ [top]: 'MANAGE' });
      await tree.delete(id);
      assert.deepEqual(
        (await trash(authToken)).map(({ name, accessLevel }) => [name, accessLevel]),
        [['Box', 'MANAGE']],
      );
      assert.equal(await tree.outcome('purgeFolder', { id }, authToken), 'OK');
    });

    test('fails for a folder that is not in the trash', async () => {
      const [id, inside] = (await tree.createChain(['Living', 'Inside'])) as [string, string];
      const rootId = await tree.idOf('/');
      const hostile = ['', 'x', rootId.toUpperCase(), `${id}\u0000`, '%', 'a'.repeat(10_000)];
      for (const each of [id, inside, rootId, ...hostile]) {
        assert.equal(await refusalCode(each), 'NOT_FOUND', each.slice(0, 50));
      }
      await tree.delete(id);
      assert.equal(await refusalCode(inside), 'NOT_FOUND');
    });

    test('requires MANAGE on all descendants, including hidden ones', async () => {
      const [top, id, inside] = (await tree.createChain(['Vault', 'Shelf', 'Sealed'])) as [
        string,
        string,
        string,
      ];
      for (const level of ['NONE', 'WRITE']) {
        const { authToken } = await tree.person({ [top]: 'MANAGE', [inside]: level });
        assert.equal(await tree.outcome('deleteFolder', { id, recursive: true }, authToken), 'OK');
        assert.equal(await refusalCode(id, authToken), 'FORBIDDEN', level);
        assert.equal(await emptyTrash({}, authToken), 0, level);
        await tree.mutate('restoreFolder', { id });
        // Now the folder with this grant is deleted before its parent.
        await tree.delete(inside);
        assert.deepEqual(await names(authToken), level === 'NONE' ? [] : ['Sealed']);
        await tree.mutate('restoreFolder', { id: inside });
        await tree.delete(id);
        assert.equal(await refusalCode(id, authToken), 'FORBIDDEN', level);
        await tree.mutate('restoreFolder', { id });
      }
    });

    test('empties the trash only of folders that the viewer manages', async () => {
      const [mine, theirs] = [await tree.create('Mine'), await tree.create('Theirs')];
      const ids = [];
      for (const [name, parentId] of [
        ['One', mine],
        ['Two', theirs],
        ['Three', mine],
      ]) {
        ids.push(await tree.create(name!, parentId));
      }
      const { authToken, username } = await tree.person({ [mine]: 'MANAGE', [theirs]: 'WRITE' });
      for (const id of ids) await tree.delete(id);
      await tree.delete(await tree.create('Not managed'));
      assert.deepEqual((await names(authToken)).toSorted(), ['One', 'Three', 'Two']);
      assert.equal(await emptyTrash({}, authToken), 2);
      assert.deepEqual(await names(authToken), ['Two']);
      assert.ok((await names()).includes('Not managed'));
      assert.deepEqual(await journalOf(ids[2]!), [
        { by: { username }, path: '/Mine/Three', before: { name: 'Three' } },
      ]);
      assert.deepEqual(await journalOf(ids[1]!), []);
      assert.equal(await emptyTrash({}, authToken), 0);
    });

    test('counts the deleted folders and their descendants in a dry run, and removes nothing', async () => {
      await emptyTrash();
      const count = async (input: object = {}, authToken?: string) => {
        const fields = 'isDryRun folderCount insideCount';
        return tree.mutate('emptyTrash', { ...input, dryRun: true }, fields, authToken);
      };
      assert.deepEqual(await count(), { isDryRun: true, folderCount: 0, insideCount: 0 });
      const top = await tree.create('Counted');
      await tree.import(
        ['a/b/c', 'a/d', 'e', 'f/g', ...Array.from({ length: 230 }, (_, n) => `h/${n}/x`)],
        top,
      );
      const ids = await Promise.all(['a', 'e', 'f', 'h'].map((name) => tree.idOf(`/Counted/${name}`)));
      // A folder that was deleted before its parent is a separate item in the trash.
      await tree.delete(await tree.idOf('/Counted/a/d'));
      const { authToken } = await tree.person({ [top]: 'MANAGE', [ids[2]!]: 'WRITE' });
      for (const id of ids) await tree.delete(id);
      const before = await names();
      assert.deepEqual(await count(), { isDryRun: true, folderCount: 5, insideCount: 463 });
      // Excludes f, which the viewer does not manage, and d, because its parent is deleted too.
      assert.deepEqual(await count({}, authToken), { isDryRun: true, folderCount: 3, insideCount: 462 });
      assert.deepEqual(await count({ deletedBefore: '0001-01-01T00:00:00Z' }), {
        isDryRun: true,
        folderCount: 0,
        insideCount: 0,
      });
      assert.deepEqual(await names(), before);
      const purged = await tree.mutate('emptyTrash', {}, 'isDryRun folderCount insideCount');
      assert.deepEqual(purged, { isDryRun: false, folderCount: 5, insideCount: null });
    });

    test('empties a trash of several pages', async () => {
      await emptyTrash();
      const parent = await tree.create('Many');
      await tree.import(
        Array.from({ length: 450 }, (_, index) => `${index}`),
        parent,
      );
      const found = await tree.find<{ folders: { items: { id: string }[] } }>(parent, 'folders{items{id}}');
      const { items } = found!.folders;
      for (let start = 0; start < items.length; start += 75) {
        const deletions = items
          .slice(start, start + 75)
          .map(({ id }, index) => `a${index}: deleteFolder(input: {id: "${id}"}){__typename}`);
        await tree.query(`mutation{${deletions.join(' ')}}`);
      }
      assert.equal(await emptyTrash(), 450);
      assert.deepEqual(await names(), []);
    });

    test('keeps folders that were deleted at the requested time or later', async () => {
      await emptyTrash();
      for (const name of ['Old', 'Older']) await tree.delete(await tree.create(name));
      tree.server.clock.advanceSeconds(1);
      const deletedBefore = new Date(tree.server.clock.now()).toISOString();
      await tree.delete(await tree.create('Recent'));
      assert.equal(await emptyTrash({ deletedBefore: '0001-01-01T00:00:00Z' }), 0);
      assert.equal(await emptyTrash({ deletedBefore }), 2);
      assert.deepEqual(await names(), ['Recent']);
      assert.equal(await emptyTrash({ deletedBefore: null }), 1);
    });
  });
}
