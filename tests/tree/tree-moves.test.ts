/** Moving and deleting folders, and telling beforehand what a move would do; what is refused leaves the tree as it was. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../databases.ts';
import type { Variables } from '../graph-bed.ts';
import { TreeBed } from './tree-bed.ts';

for (const kind of databaseKinds) {
  describe(`moving and deleting on ${kind.name}`, () => {
    let tree: TreeBed;
    let rootId: string;

    before(async () => {
      tree = await TreeBed.start(kind);
      rootId = await tree.idOf('/');
    });
    after(() => tree.stop());

    const code = async (name: string, input: Variables, authToken?: string) =>
      (await tree.refused(name, input, authToken)).extensions.code;

    describe('move', () => {
      test('takes along all that is inside, and answers with the folder where it is now', async () => {
        const [from, moved] = (await tree.createChain(['From', 'Moved', 'One', 'Two'])) as [string, string];
        const to = await tree.create('To');
        const payload = await tree.run(
          'moveFolder',
          { id: moved, parentId: to },
          'isDryRun folderCount accessChanges{items{before}} folder{path version parent{name}}',
        );
        assert.deepEqual(payload, {
          isDryRun: false,
          folderCount: 3,
          accessChanges: { items: [] },
          folder: { path: '/To/Moved', version: 2, parent: { name: 'To' } },
        });
        assert.deepEqual(await tree.paths(to), ['Moved', 'Moved/One', 'Moved/One/Two']);
        assert.deepEqual(await tree.paths(from), []);
        assert.deepEqual(await tree.find(from, 'version folders{totalCount}'), {
          version: 1,
          folders: { totalCount: 0 },
        });
      });

      test('a folder cannot be moved into itself nor into anything inside it', async () => {
        const chain = await tree.createChain(['Ring', 'Ring child', 'Ring grandchild']);
        for (const parentId of chain) {
          const error = await tree.refused('moveFolder', { id: chain[0], parentId });
          assert.equal(error.extensions.code, 'CYCLE');
          assert.equal(await code('moveFolder', { id: chain[0], parentId, dryRun: true }), 'CYCLE');
        }
      });

      test('a name that is not free where it goes is refused', async () => {
        const [from, id] = (await tree.createChain(['Left', 'Same'])) as [string, string];
        const [to] = (await tree.createChain(['Right', 'Same'])) as [string];
        assert.equal(await code('moveFolder', { id, parentId: to }), 'CONFLICT');
        assert.equal(await code('moveFolder', { id, parentId: to, dryRun: true }), 'CONFLICT');
        await tree.run('updateFolder', { id, name: 'Other' });
        await tree.move(id, to);
        assert.deepEqual(await tree.paths(to), ['Other', 'Same']);
        assert.deepEqual(await tree.paths(from), []);
      });

      test('needs WRITE on the folder, on where it is and on where it goes', async () => {
        const [from, id] = (await tree.createChain(['Origin', 'Luggage'])) as [string, string];
        const to = await tree.create('Goal');
        const move = { id, parentId: to };
        const levels: [Record<string, string>, string][] = [
          [{ [from]: 'READ', [to]: 'WRITE' }, 'FORBIDDEN'],
          [{ [from]: 'READ', [id]: 'WRITE', [to]: 'WRITE' }, 'FORBIDDEN'],
          [{ [from]: 'WRITE', [id]: 'READ', [to]: 'WRITE' }, 'FORBIDDEN'],
          [{ [from]: 'WRITE', [to]: 'READ' }, 'FORBIDDEN'],
          [{ [from]: 'WRITE' }, 'NOT_FOUND'],
          [{ [to]: 'WRITE' }, 'NOT_FOUND'],
          [{ [from]: 'WRITE', [to]: 'MANAGE' }, 'FORBIDDEN'],
        ];
        for (const [given, expected] of levels) {
          const { authToken } = await tree.person(given);
          assert.equal(await code('moveFolder', move, authToken), expected, JSON.stringify(given));
        }
        const [freshFrom, freshId] = (await tree.createChain(['Start', 'Bag'])) as [string, string];
        const freshTo = await tree.create('End');
        const { authToken } = await tree.person({ [freshFrom]: 'WRITE', [freshTo]: 'WRITE' });
        const allowed = { id: freshId, parentId: freshTo };
        assert.equal(await tree.outcome('moveFolder', allowed, authToken), 'OK');
      });
    });

    describe('delete', () => {
      test('a folder without sub-folders goes at once, one with sub-folders only when told so', async () => {
        const [top, id, leaf] = (await tree.createChain(['Pile', 'Heap', 'Leaf'])) as [
          string,
          string,
          string,
        ];
        const error = await tree.refused('deleteFolder', { id: top });
        assert.equal(error.extensions.code, 'CONFLICT');
        assert.match(error.message, /a sub-folder\. .*recursive: true/);
        await tree.create('Second', top);
        assert.match((await tree.refused('deleteFolder', { id: top })).message, /2 sub-folders/);
        const one = await tree.run('deleteFolder', { id: leaf }, 'folderId folderCount');
        assert.deepEqual(one, { folderId: leaf, folderCount: 1 });
        await tree.createChain(['Leaf', 'Inner'], id);
        const all = await tree.run('deleteFolder', { id: top, recursive: true }, 'folderId folderCount');
        assert.deepEqual(all, { folderId: top, folderCount: 5 });
        assert.equal(await tree.find(top, 'id'), null);
      });

      test('frees the name at once', async () => {
        await tree.delete(await tree.create('Again'));
        await tree.delete(await tree.create('Again'));
        await tree.create('Again');
      });

      test('needs WRITE on the folder and on where it is', async () => {
        const [top, id] = (await tree.createChain(['Shelf', 'Book'])) as [string, string];
        const levels: [Record<string, string>, string][] = [
          [{ [top]: 'READ' }, 'FORBIDDEN'],
          [{ [top]: 'READ', [id]: 'MANAGE' }, 'FORBIDDEN'],
          [{ [id]: 'MANAGE' }, 'FORBIDDEN'],
          [{ [top]: 'WRITE', [id]: 'READ' }, 'FORBIDDEN'],
          [{ [top]: 'WRITE', [id]: 'NONE' }, 'NOT_FOUND'],
          [{}, 'NOT_FOUND'],
        ];
        for (const [given, expected] of levels) {
          const { authToken } = await tree.person(given);
          assert.equal(await code('deleteFolder', { id }, authToken), expected, JSON.stringify(given));
        }
        const { authToken } = await tree.person({ [top]: 'WRITE' });
        assert.equal(await tree.outcome('deleteFolder', { id }, authToken), 'OK');
      });
    });

    test('the root can be neither moved nor deleted nor restored', async () => {
      const parentId = await tree.create('Pot');
      assert.equal(await code('moveFolder', { id: rootId, parentId }), 'BAD_INPUT');
      assert.equal(await code('moveFolder', { id: rootId, parentId: rootId }), 'BAD_INPUT');
      assert.equal(await code('deleteFolder', { id: rootId, recursive: true }), 'BAD_INPUT');
      assert.equal(await code('restoreFolder', { id: rootId }), 'NOT_FOUND');
    });

    describe('a dry run', () => {
      const selection =
        'isDryRun folderCount accessChanges{totalCount items{user{username} before after}} folder{path version}';

      test('tells who gains and who loses, by their own grants and by those of groups, and changes nothing', async () => {
        const [from, id, inner] = (await tree.createChain(['Vault', 'Case', 'Paper'])) as [
          string,
          string,
          string,
        ];
        const to = await tree.create('Lobby');
        const gains = await tree.person({ [to]: 'READ' });
        const loses = await tree.person({ [from]: 'WRITE' });
        const loweredByGroup = await tree.person({ [from]: 'MANAGE' });
        await tree.person({ [from]: 'READ', [to]: 'READ' });
        await tree.person({ [from]: 'READ', [to]: 'MANAGE', [id]: 'WRITE' });
        await tree.person({ [inner]: 'READ' });
        const { group } = await tree.run<{ group: { id: string } }>(
          'createGroup',
          { name: 'Lobby' },
          'group{id}',
        );
        await tree.run('addToGroup', { groupId: group.id, userIds: [loweredByGroup.id] });
        await tree.run('grantAccess', { folderId: to, groupId: group.id, level: 'READ' });
        const before = await tree.snapshot();
        const move = { id, parentId: to };
        const accessChanges = [
          { user: { username: gains.username }, before: 'NONE', after: 'READ' },
          { user: { username: loses.username }, before: 'WRITE', after: 'NONE' },
          { user: { username: loweredByGroup.username }, before: 'MANAGE', after: 'READ' },
        ];
        assert.deepEqual(await tree.run('moveFolder', { ...move, dryRun: true }, selection), {
          isDryRun: true,
          folderCount: 2,
          accessChanges: { totalCount: 3, items: accessChanges },
          folder: { path: '/Vault/Case', version: 1 },
        });
        assert.deepEqual(await tree.snapshot(), before);
        assert.equal(await tree.find(id, 'id', gains.authToken), null);
        assert.deepEqual(await tree.run('moveFolder', move, selection), {
          isDryRun: false,
          folderCount: 2,
          accessChanges: { totalCount: 3, items: accessChanges },
          folder: { path: '/Lobby/Case', version: 2 },
        });
        assert.deepEqual(await tree.find(id, 'id', gains.authToken), { id });
        assert.equal(await tree.find(id, 'id', loses.authToken), null);
      });

      test('tells whoever does not manage everything only how many folders they see moving', async () => {
        const [from, id, hidden] = (await tree.createChain(['Desk', 'Map', 'Private'])) as [
          string,
          string,
          string,
        ];
        await tree.create('Public', id);
        const to = await tree.create('Table');
        const { authToken } = await tree.person({ [from]: 'WRITE', [hidden]: 'NONE', [to]: 'WRITE' });
        const payload = await tree.run(
          'moveFolder',
          { id, parentId: to, dryRun: true },
          selection,
          authToken,
        );
        assert.deepEqual(payload, {
          isDryRun: true,
          folderCount: 2,
          accessChanges: null,
          folder: { path: '/Desk/Map', version: 1 },
        });
      });
    });
  });
}
