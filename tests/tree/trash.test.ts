/** Deleted folders: who sees them, how to restore them, and when they are purged. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { countRows } from '../support/stored-rows.ts';
import { TreeTestbed } from './tree-testbed.ts';

interface Trash {
  items: { folderId: string; name: string }[];
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
}

const trashQuery = `query($first: Int, $after: String){trash(first: $first, after: $after){
  items{folderId name} pageInfo{hasNextPage hasPreviousPage startCursor endCursor}}}`;

for (const kind of databaseKinds) {
  describe(`the trash on ${kind.name}`, () => {
    let tree: TreeTestbed;

    before(async () => {
      tree = await TreeTestbed.start(kind);
    });
    after(() => tree.stop());

    const page = async (variables: Record<string, unknown> = {}, authToken?: string) =>
      (await tree.query<{ trash: Trash }>(trashQuery, variables, authToken)).trash;
    const names = async (authToken?: string) => (await page({}, authToken)).items.map(({ name }) => name);

    test('examines a bounded number of deleted folders for a page, and continues after its cursor', async (context) => {
      const own = await TreeTestbed.start(kind);
      context.after(() => own.stop());
      const ownPage = async (variables: Record<string, unknown>, authToken: string) =>
        (await own.query<{ trash: Trash }>(trashQuery, variables, authToken)).trash;
      const bin = await own.create('Hidden bin');
      const open = await own.create('Open bin');
      const writer = await own.person({ [bin]: 'NONE', [open]: 'WRITE' });
      const count = 1_050;
      await own.import(
        Array.from({ length: count }, (_, number) => `Secret ${number}`),
        bin,
      );
      const mine = await own.create('Mine', open);
      await own.mutate('deleteFolder', { id: mine });
      const found = await own.find<{ folders: { items: { id: string }[] } }>(bin, 'folders{items{id}}');
      const { items } = found!.folders;
      for (let start = 0; start < count; start += 80) {
        const some = items.slice(start, start + 80);
        own.server.clock.advanceSeconds(1);
        await own.query(
          `mutation{${some.map(({ id }, index) => `a${index}: deleteFolder(input: {id: "${id}"}){__typename}`).join(' ')}}`,
        );
      }
      const first = await ownPage({}, writer.authToken);
      assert.deepEqual(first.items, []);
      assert.ok(first.pageInfo.hasNextPage);
      assert.ok(first.pageInfo.endCursor);
      const none = await ownPage({ first: 0 }, writer.authToken);
      for (const cursor of [first, none].map(({ pageInfo }) => pageInfo.endCursor ?? '')) {
        const position = Buffer.from(cursor, 'base64url').toString('hex');
        assert.ok(!items.some(({ id }) => position.includes(id.replaceAll('-', ''))), 'shows a hidden id');
      }
      const second = await ownPage({ after: first.pageInfo.endCursor }, writer.authToken);
      assert.deepEqual(
        second.items.map(({ name }) => name),
        ['Mine'],
      );
      assert.equal(second.pageInfo.hasNextPage, false);
      const reader = await own.person({ [open]: 'READ' });
      assert.deepEqual(await ownPage({}, reader.authToken), {
        items: [],
        pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
      });
    });

    describe('the list', () => {
      test('shows each deleted folder with its deletion time, former parent and purge time', async () => {
        const [top, id] = (await tree.createChain(['Bin', 'Bottle', 'Cork'])) as [string, string];
        await tree.mutate('updateFolder', { id, title: 'Green bottle' });
        tree.server.clock.advanceSeconds(5);
        const now = tree.server.clock.now();
        await tree.delete(id);
        const selection = 'folderId name title version deletedAt purgedAt formerParent{id path}';
        const item = {
          folderId: id,
          name: 'Bottle',
          title: 'Green bottle',
          version: 3,
          deletedAt: new Date(now).toISOString(),
          purgedAt: new Date(now + 30 * 86_400_000).toISOString(),
        };
        const list = async () =>
          (await tree.query<{ trash: { items: object[] } }>(`{trash{items{${selection}}}}`)).trash.items;
        assert.deepEqual(await list(), [{ ...item, formerParent: { id: top, path: '/Bin' } }]);
        const { pageInfo } = await page({ first: 0 });
        assert.ok(pageInfo.hasNextPage);
        assert.equal((await page({ after: pageInfo.endCursor })).items[0]?.folderId, id);
        tree.server.clock.advanceSeconds(1);
        await tree.delete(top);
        assert.deepEqual((await list())[1], { ...item, formerParent: null });
      });

      test('starts with the latest deletion, and is the same with every page size', async () => {
        for (let index = 0; index < 9; index++) {
          if (index % 3 === 0) tree.server.clock.advanceSeconds(1);
          await tree.delete(await tree.create(`Can ${index}`));
        }
        const { items } = await page();
        const age = (name: string) => Math.floor(Number(name.split(' ')[1]) / 3);
        assert.deepEqual(
          items.slice(0, 9).map(({ name }) => age(name)),
          [2, 2, 2, 1, 1, 1, 0, 0, 0],
        );
        for (const first of [1, 2, 4, items.length]) {
          const seen: Trash['items'] = [];
          for (let after: string | null = null, more = true; more;) {
            const part: Trash = await page({ first, after });
            assert.equal(part.pageInfo.hasPreviousPage, seen.length > 0);
            seen.push(...part.items);
            ({ hasNextPage: more, endCursor: after } = part.pageInfo);
          }
          assert.deepEqual(seen, items);
        }
        const { folder } = await tree.query<{ folder: { folders: Trash } }>(
          '{folder{folders(first: 1){pageInfo{endCursor}}}}',
        );
        for (const variables of [
          { first: -1 },
          { after: '' },
          { after: folder.folders.pageInfo.endCursor ?? 'x' },
        ]) {
          assert.equal((await tree.readError(trashQuery, variables)).extensions.code, 'BAD_INPUT');
        }
      });

      test('shows each user the folders that they may restore, and no others', async () => {
        const [top, theirs] = (await tree.createChain(['Yard', 'Crate'])) as [string, string];
        const closed = await tree.create('Safe', top);
        const writer = await tree.person({ [top]: 'WRITE', [closed]: 'NONE' });
        const reader = await tree.person({ [top]: 'READ' });
        const owner = await tree.person({ [theirs]: 'MANAGE' });
        for (const id of [theirs, closed]) await tree.delete(id);
        assert.deepEqual(await names(writer.authToken), ['Crate']);
        assert.deepEqual(await names(reader.authToken), []);
        assert.deepEqual(await names(owner.authToken), []);
        for (const { authToken } of [reader, owner]) {
          assert.equal(
            (await tree.readMutationError('restoreFolder', { id: theirs }, authToken)).extensions.code,
            'NOT_FOUND',
          );
        }
        assert.equal(
          (await tree.readMutationError('restoreFolder', { id: closed }, writer.authToken)).extensions.code,
          'NOT_FOUND',
        );
        assert.equal(await tree.outcome('restoreFolder', { id: theirs }, writer.authToken), 'OK');
        assert.deepEqual(await tree.paths(top), ['Crate']);
      });
    });

    describe('a deleted folder', () => {
      test('is not accessible by id, path, search or any mutation', async () => {
        const [id, inside] = (await tree.createChain(['Buried', 'Treasure', 'Coin'])) as [string, string];
        const spot = await tree.create('Spot');
        await tree.delete(id);
        for (const each of [id, inside]) {
          const query = 'query($id: ID!){folder(id: $id){id} node(id: $id){id}}';
          assert.deepEqual(await tree.query(query, { id: each }), { folder: null, node: null });
          const inputs: [string, object][] = [
            ['updateFolder', { id: each, name: 'x' }],
            ['moveFolder', { id: each, parentId: spot }],
            ['moveFolder', { id: spot, parentId: each }],
            ['deleteFolder', { id: each, recursive: true }],
            ['createFolder', { parentId: each, name: 'x' }],
            ['importFolders', { parentId: each, tree: [{ name: 'x' }] }],
            ['grantAccess', { folderId: each, userId: (await tree.person({})).id, level: 'READ' }],
          ];
          for (const [name, input] of inputs) {
            const { extensions } = await tree.readMutationError(name, { ...input });
            assert.equal(extensions.code, 'NOT_FOUND', name);
          }
          const { extensions } = await tree.readError(`{exportFolders(id: "${each}"){path}}`);
          assert.equal(extensions.code, 'NOT_FOUND');
        }
        assert.equal(
          (await tree.readMutationError('restoreFolder', { id: inside })).extensions.code,
          'NOT_FOUND',
        );
        for (const path of ['/Buried', '/Buried/Treasure']) {
          assert.deepEqual(await tree.query('query($path: String){folder(path: $path){id}}', { path }), {
            folder: null,
          });
        }
        assert.deepEqual(await tree.search('treasure'), []);
      });
    });

    describe('restoring', () => {
      test('includes all descendants, their grants and the subfolder count of the parent', async () => {
        const [top, id, inside] = (await tree.createChain(['House', 'Attic', 'Trunk'])) as [
          string,
          string,
          string,
        ];
        await tree.mutate('updateFolder', { id, title: 'Up there', properties: { dusty: true } });
        const { authToken } = await tree.person({ [inside]: 'WRITE' });
        await tree.delete(id);
        assert.equal(await tree.find(inside, 'id', authToken), null);
        assert.deepEqual(await tree.find(top, 'folders{totalCount}'), { folders: { totalCount: 0 } });
        const payload = await tree.mutate('restoreFolder', { id }, 'folder{path title properties version}');
        assert.deepEqual(payload, {
          folder: { path: '/House/Attic', title: 'Up there', properties: { dusty: true }, version: 4 },
        });
        assert.deepEqual(await tree.paths(top), ['Attic', 'Attic/Trunk']);
        assert.deepEqual(await tree.find(top, 'folders{totalCount}'), { folders: { totalCount: 1 } });
        assert.deepEqual(await tree.find(inside, 'accessLevel', authToken), { accessLevel: 'WRITE' });
        assert.ok(!(await names()).includes('Attic'));
        assert.equal((await tree.readMutationError('restoreFolder', { id })).extensions.code, 'NOT_FOUND');
      });

      test('requires another name if the old one is taken', async () => {
        const [top, id] = (await tree.createChain(['Row', 'Seat', 'Cushion'])) as [string, string];
        await tree.delete(id);
        await tree.create('Seat', top);
        const error = await tree.readMutationError('restoreFolder', { id });
        assert.equal(error.extensions.code, 'CONFLICT');
        assert.match(error.message, /"Seat" is already in use/);
        assert.equal(
          (await tree.readMutationError('restoreFolder', { id, name: 'Seat' })).extensions.code,
          'CONFLICT',
        );
        await tree.mutate('restoreFolder', { id, name: 'Seat 2' });
        assert.deepEqual(await tree.paths(top), ['Seat', 'Seat 2', 'Seat 2/Cushion']);
      });

      test('requires another parent while the old one is deleted', async () => {
        const [outer, inner, leaf] = (await tree.createChain(['Outer', 'Inner', 'Leaf'])) as [
          string,
          string,
          string,
        ];
        const other = await tree.create('Elsewhere');
        await tree.delete(leaf);
        await tree.delete(inner);
        await tree.delete(outer);
        const error = await tree.readMutationError('restoreFolder', { id: leaf });
        assert.equal(error.extensions.code, 'CONFLICT');
        assert.match(error.message, /parentId/);
        assert.equal(
          (await tree.readMutationError('restoreFolder', { id: leaf, parentId: inner })).extensions.code,
          'NOT_FOUND',
        );
        await tree.mutate('restoreFolder', { id: leaf, parentId: other });
        assert.deepEqual(await tree.paths(other), ['Leaf']);
        await tree.mutate('restoreFolder', { id: outer });
        await tree.mutate('restoreFolder', { id: inner });
        assert.deepEqual(await tree.paths(outer), ['Inner']);
      });

      test('requires WRITE on another parent, and raises no access level', async () => {
        const [from, id] = (await tree.createChain(['Origin', 'Chest'])) as [string, string];
        const [readable, managed] = [await tree.create('Readable'), await tree.create('Managed')];
        const { authToken } = await tree.person({ [from]: 'WRITE', [readable]: 'READ', [managed]: 'MANAGE' });
        const move = await tree.readMutationError('moveFolder', { id, parentId: managed }, authToken);
        assert.equal(move.extensions.code, 'FORBIDDEN');
        await tree.delete(id);
        for (const parentId of [readable, managed]) {
          const { extensions } = await tree.readMutationError('restoreFolder', { id, parentId }, authToken);
          assert.equal(extensions.code, 'FORBIDDEN');
        }
      });
    });

    describe('purging', () => {
      test('prevents a restore after the retention time, even before the rows are removed', async () => {
        const days = 3;
        const shortRetention = await TreeTestbed.start(kind, { settings: { TRASH_DAYS: String(days) } });
        try {
          const [restored, purged] = [
            await shortRetention.create('Kept'),
            await shortRetention.create('Lost'),
          ];
          for (const id of [restored, purged]) await shortRetention.delete(id);
          await shortRetention.advanceDays(days - 1 / 86_400);
          await shortRetention.server.purge();
          await shortRetention.mutate('restoreFolder', { id: restored });
          shortRetention.server.clock.advanceSeconds(1);
          assert.equal(
            (await shortRetention.readMutationError('restoreFolder', { id: purged })).extensions.code,
            'NOT_FOUND',
          );
          assert.deepEqual(await shortRetention.query('{trash{items{folderId}}}'), { trash: { items: [] } });
          const { folders } = await countRows(shortRetention.server.database.url);
          await shortRetention.server.purge();
          assert.equal((await countRows(shortRetention.server.database.url)).folders, folders - 1);
          assert.equal(
            (await shortRetention.readMutationError('restoreFolder', { id: purged })).extensions.code,
            'NOT_FOUND',
          );
          assert.deepEqual(await shortRetention.paths(), ['Kept']);
        } finally {
          await shortRetention.stop();
        }
      });

      test('removes a large subtree and its grants, and nothing else', async () => {
        const { url } = tree.server.database;
        await tree.advanceDays(31);
        await tree.server.purge();
        const before = await countRows(url);
        const neighbor = await tree.create('Neighbor');
        const id = await tree.create('Forest');
        const paths = Array.from({ length: 3_000 }, (_, index) =>
          index < 30 ? `${index}` : `${index % 30}/${index}`,
        );
        await tree.import(paths, id);
        const granted = [id, await tree.idOf('/Forest/7'), await tree.idOf('/Forest/7/37')];
        await tree.person({
          ...Object.fromEntries(granted.map((each) => [each, 'WRITE'])),
          [neighbor]: 'READ',
        });
        const grown = await countRows(url);
        assert.equal(grown.folders, before.folders + 3_002);
        assert.equal(grown.grants, before.grants + 4);
        await tree.delete(id);
        await tree.server.purge();
        assert.deepEqual(await countRows(url), grown);
        await tree.advanceDays(30);
        const snapshot = await tree.snapshot();
        for (let left = Infinity; ;) {
          await tree.server.purge();
          const { folders } = await countRows(url);
          if (folders === left) break;
          left = folders;
        }
        const remaining = await countRows(url);
        assert.equal(remaining.folders, before.folders + 1);
        assert.equal(remaining.grants, before.grants + 1);
        assert.deepEqual(await tree.snapshot(), snapshot);
      });
    });
  });
}
