/** The folder helpers of the client against a real server. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createClient, type CallOptions, type Folders, type RunDocument } from '@espalier/client';
import { createFolders } from '../../client/src/folders.ts';
import { databaseKinds } from '../support/databases.ts';
import { administrator, Testbed } from '../support/testbed.ts';

async function namesOf(folders: AsyncIterable<{ readonly name: string }>): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of folders) names.push(name);
  return names;
}

async function readFirst<Item>(items: AsyncIterable<Item>): Promise<Item> {
  for await (const item of items) return item;
  throw new Error('The list is empty.');
}

for (const kind of databaseKinds) {
  describe(`the folder helpers on ${kind.name}`, () => {
    let testbed: Testbed;
    let folders: Folders;
    let queryCount = 0;

    before(async () => {
      testbed = await Testbed.start(kind, { settings: { MAX_FOLDERS: '20' } });
      const client = createClient({ url: testbed.url });
      await client.login(administrator);
      const countQuery = (document: string, variables: object, options: CallOptions) => {
        queryCount++;
        return client.query(document, { ...variables }, options);
      };
      folders = createFolders({ ...client, query: countQuery as RunDocument });
      const floors = Array.from({ length: 30 }, (_, floor) => ({ path: `Places/Floor ${floor}` }));
      const list = [...floors, { path: 'Places/Floor 3/Room', title: 'A room' }];
      assert.equal((await folders.importList(list)).createdCount, 32);
    });
    after(() => testbed.stop());

    test('find a folder by id and by path, or return undefined', async () => {
      const root = await folders.root();
      assert.deepEqual([root.path, root.depth, root.parentId], ['/', 0, null]);
      const room = (await folders.byPath('/Places/Floor 3/Room'))!;
      assert.deepEqual(
        [room.title, room.depth, room.icon, room.properties, room.accessLevel, room.version],
        ['A room', 3, null, {}, 'MANAGE', 1],
      );
      assert.deepEqual(await folders.byId(room.id), room);
      assert.equal(await folders.byPath('/Nowhere'), undefined);
      assert.equal(await folders.byId(room.id.replace(/^./, 'f')), undefined);
    });

    test('list in natural order, and reduce the page size if a page is too expensive', async () => {
      const { id } = (await folders.byPath('/Places'))!;
      queryCount = 0;
      const children = folders.children(id, { pageSize: 10 });
      for (let count = 0; count < 10; count++) await children.next();
      assert.equal(queryCount, 1);
      assert.equal((await readFirst(children)).name, 'Floor 10');
      assert.equal(queryCount, 2);
      const names = await namesOf(folders.children(id));
      assert.deepEqual([names.length, names[2], names[29]], [30, 'Floor 2', 'Floor 29']);
    });

    test('list descendants with their depth, optionally up to a maximum depth', async () => {
      const { id } = await folders.root();
      const depths: number[] = [];
      for await (const { depth } of folders.descendants(id)) depths.push(depth);
      assert.deepEqual([depths.length, Math.max(...depths), depths[0]], [32, 3, 1]);
      assert.deepEqual(await namesOf(folders.descendants(id, { depth: 1 })), ['Places']);
    });

    test('reject with NOT_FOUND if the folder does not exist', async () => {
      const { id } = await folders.root();
      const unknownId = id.replace(/^./, 'f');
      await assert.rejects(folders.children(unknownId).next(), { code: 'NOT_FOUND' });
      await assert.rejects(folders.descendants(unknownId).next(), { code: 'NOT_FOUND' });
      await assert.rejects(folders.delete(unknownId), { code: 'NOT_FOUND' });
    });

    test('search the whole tree or inside a folder', async () => {
      assert.deepEqual((await namesOf(folders.search('Floor 2', { pageSize: 3 }))).slice(0, 3), [
        'Floor 2',
        'Floor 20',
        'Floor 21',
      ]);
      const { id: under } = (await folders.byPath('/Places/Floor 3'))!;
      assert.equal((await readFirst(folders.search('room', { under }))).path, '/Places/Floor 3/Room');
    });

    test('create, change, move, delete and restore', async () => {
      const { id: rootId } = await folders.root();
      const created = await folders.create({ name: 'New', properties: { seats: 3 }, icon: 'chair' });
      assert.deepEqual([created.path, created.parentId, created.properties], ['/New', rootId, { seats: 3 }]);
      const { id } = created;
      const changed = await folders.update(id, { title: 'Newer', icon: null, expectedVersion: 1 });
      assert.deepEqual([changed.title, changed.icon, changed.version], ['Newer', null, 2]);
      await assert.rejects(folders.update(id, { title: 'x', expectedVersion: 1 }), { code: 'CONFLICT' });
      const { id: parentId } = (await folders.byPath('/Places/Floor 1'))!;
      assert.equal((await folders.move(id, parentId)).path, '/Places/Floor 1/New');
      await assert.rejects(folders.move(parentId, id), { code: 'CYCLE' });
      const renamed = await folders.move(id, rootId, { name: 'Newest', expectedVersion: 3 });
      assert.deepEqual([renamed.path, renamed.version], ['/Newest', 4]);
      await assert.rejects(folders.move(id, rootId, { name: 'Places' }), { code: 'CONFLICT' });
      await folders.move(id, parentId, { name: 'New' });
      await assert.rejects(folders.delete(parentId), { code: 'CONFLICT' });
      assert.equal(await folders.delete(parentId, { recursive: true }), 2);
      const trashed = await readFirst(folders.trash({ pageSize: 1 }));
      assert.deepEqual([trashed.folderId, trashed.name], [parentId, 'Floor 1']);
      assert.equal(trashed.formerParentId, (await folders.byPath('/Places'))!.id);
      const restored = await folders.restore(parentId, { parentId: rootId, name: 'Floor one' });
      assert.equal(restored.path, '/Floor one');
      assert.deepEqual(await namesOf(folders.trash()), []);
    });

    test('set favorites, and list favorites and recent folders', async () => {
      const first = await folders.create({ name: 'Favorite 10' });
      const second = await folders.create({ name: 'Favorite 9' });
      for (const { id } of [first, second]) await folders.setFavorite(id, true);
      assert.deepEqual(await namesOf(folders.favorites({ pageSize: 1 })), ['Favorite 9', 'Favorite 10']);
      await folders.setFavorite(second.id, false);
      assert.deepEqual(await namesOf(folders.favorites()), ['Favorite 10']);
      for (const { id } of [first, second, first]) await folders.visit(id);
      const recent = await folders.recent();
      assert.deepEqual(
        recent.map(({ path }) => path),
        ['/Favorite 10', '/Favorite 9'],
      );
      assert.deepEqual(await namesOf(folders.shared()), []);
    });

    test('list who has access to a folder', async () => {
      const { id } = await folders.create({ name: 'Shown' });
      const { user, level, grant } = await readFirst(folders.effectiveAccess(id));
      assert.deepEqual([user.username, level, grant], [administrator.username, 'MANAGE', null]);
    });

    test('duplicate a folder', async () => {
      const { id, parentId } = await folders.create({ name: 'Twin', title: 'The twin' });
      await folders.create({ parentId: id, name: 'Inside' });
      const twin = await folders.duplicate(id);
      assert.deepEqual([twin.path, twin.title, twin.parentId], ['/Twin (copy)', 'The twin', parentId]);
      assert.deepEqual(await namesOf(folders.children(twin.id)), ['Inside']);
      const inside = await folders.duplicate(id, { parentId: twin.id, name: 'Third', expectedVersion: 1 });
      assert.equal(inside.path, '/Twin (copy)/Third');
      await assert.rejects(folders.duplicate(id, { name: 'Twin' }), { code: 'CONFLICT' });
    });

    test('purge a folder, and empty the trash', async () => {
      const ids: string[] = [];
      for (const name of ['Waste 1', 'Waste 2', 'Waste 3']) {
        const { id } = await folders.create({ name });
        await folders.delete(id);
        ids.push(id);
      }
      assert.equal((await readFirst(folders.trash())).accessLevel, 'MANAGE');
      await folders.purge(ids[1]!);
      await assert.rejects(folders.purge(ids[1]!), { code: 'NOT_FOUND' });
      assert.deepEqual((await namesOf(folders.trash())).toSorted(), ['Waste 1', 'Waste 3']);
      assert.equal(await folders.emptyTrash({ deletedBefore: new Date(0) }), 0);
      assert.equal(await folders.emptyTrash(), 2);
      assert.deepEqual(await namesOf(folders.trash()), []);
    });

    test('import a tree and export it again', async () => {
      const { id: parentId } = await folders.create({ name: 'Copied' });
      const tree = [{ name: 'a', title: 'A', folders: [{ name: 'b', properties: { x: 1 } }] }];
      const counts = { createdCount: 2, updatedCount: 0, keptCount: 0, isDryRun: false };
      assert.deepEqual(await folders.importTree(tree, { parentId }), counts);
      const exported = await folders.export(parentId);
      assert.deepEqual(
        exported.map(({ path, title, properties }) => [path, title, properties]),
        [
          ['a', 'A', null],
          ['a/b', null, { x: 1 }],
        ],
      );
      assert.equal((await folders.export(parentId, { depth: 1 })).length, 1);
    });

    test('merge an import with existing folders, after a dry run', async () => {
      const { id: parentId, version } = await folders.create({ name: 'Merged' });
      await folders.importList([{ path: 'a/b', title: 'B' }], { parentId });
      const list = [{ path: 'a/b', title: 'Bee' }, { path: 'a/c' }];
      await assert.rejects(folders.importList(list, { parentId }), { code: 'CONFLICT' });
      const options = { parentId, onExisting: 'UPDATE', expectedVersion: version } as const;
      const counts = { createdCount: 1, updatedCount: 1, keptCount: 1 };
      const planned = await folders.importList(list, { ...options, dryRun: true });
      assert.deepEqual(planned, { ...counts, isDryRun: true });
      assert.deepEqual(await folders.importList(list, options), { ...counts, isDryRun: false });
      const exported = await folders.export(parentId);
      assert.deepEqual(
        exported.map(({ path, title }) => [path, title]),
        [
          ['a', null],
          ['a/b', 'Bee'],
          ['a/c', null],
        ],
      );
    });
  });
}
