/** Moves and deletes folders, and previews moves. A refused change leaves the tree unchanged. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import type { Variables } from '../support/graph-testbed.ts';
import { TreeTestbed } from './tree-testbed.ts';

for (const kind of databaseKinds) {
  describe(`moving and deleting on ${kind.name}`, () => {
    let tree: TreeTestbed;
    let rootId: string;

    before(async () => {
      tree = await TreeTestbed.start(kind);
      rootId = await tree.idOf('/');
    });
    after(() => tree.stop());

    const refusalCode = async (name: string, input: Variables, authToken?: string) =>
      (await tree.readMutationError(name, input, authToken)).extensions.code;

    describe('`moveFolder()`', () => {
      test('takes all descendants along, and returns the folder at its new location', async () => {
        const [from, moved] = (await tree.createChain(['From', 'Moved', 'One', 'Two'])) as [string, string];
        const to = await tree.create('To');
        const payload = await tree.mutate(
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

      test('rejects a move of a folder into itself or one of its descendants', async () => {
        const chain = await tree.createChain(['Ring', 'Ring child', 'Ring grandchild']);
        for (const parentId of chain) {
          const error = await tree.readMutationError('moveFolder', { id: chain[0], parentId });
          assert.equal(error.extensions.code, 'CYCLE');
          assert.equal(await refusalCode('moveFolder', { id: chain[0], parentId, dryRun: true }), 'CYCLE');
        }
      });

      test('rejects a name that is taken at the destination', async () => {
        const [from, id] = (await tree.createChain(['Left', 'Same'])) as [string, string];
        const [to] = (await tree.createChain(['Right', 'Same'])) as [string];
        assert.equal(await refusalCode('moveFolder', { id, parentId: to }), 'CONFLICT');
        assert.equal(await refusalCode('moveFolder', { id, parentId: to, dryRun: true }), 'CONFLICT');
        await tree.mutate('updateFolder', { id, name: 'Other' });
        await tree.move(id, to);
        assert.deepEqual(await tree.paths(to), ['Other', 'Same']);
        assert.deepEqual(await tree.paths(from), []);
      });

      test('requires WRITE on the folder, on its parent and on the destination', async () => {
        const [from, id] = (await tree.createChain(['Origin', 'Luggage'])) as [string, string];
        const to = await tree.create('Goal');
        const move = { id, parentId: to };
        const cases: [Record<string, string>, string][] = [
          [{ [from]: 'READ', [to]: 'WRITE' }, 'FORBIDDEN'],
          [{ [from]: 'READ', [id]: 'WRITE', [to]: 'WRITE' }, 'FORBIDDEN'],
          [{ [from]: 'WRITE', [id]: 'READ', [to]: 'WRITE' }, 'FORBIDDEN'],
          [{ [from]: 'WRITE', [to]: 'READ' }, 'FORBIDDEN'],
          [{ [from]: 'WRITE' }, 'NOT_FOUND'],
          [{ [to]: 'WRITE' }, 'NOT_FOUND'],
          [{ [from]: 'WRITE', [to]: 'MANAGE' }, 'FORBIDDEN'],
        ];
        for (const [levels, expected] of cases) {
          const { authToken } = await tree.person(levels);
          assert.equal(await refusalCode('moveFolder', move, authToken), expected, JSON.stringify(levels));
        }
        const [freshFrom, freshId] = (await tree.createChain(['Start', 'Bag'])) as [string, string];
        const freshTo = await tree.create('End');
        const { authToken } = await tree.person({ [freshFrom]: 'WRITE', [freshTo]: 'WRITE' });
        const allowed = { id: freshId, parentId: freshTo };
        assert.equal(await tree.outcome('moveFolder', allowed, authToken), 'OK');
      });
    });

    describe('`moveFolder()` with a new name', () => {
      const journalOf = async (folderId: string) => {
        const query = `query($folderId: ID!){journal(filter: {folderId: $folderId}, first: 1){
          items{kind before after formerAncestorIds} totalCount}}`;
        type Entries = { items: object[]; totalCount: number };
        return (await tree.query<{ journal: Entries }>(query, { folderId })).journal;
      };

      test('moves and renames in one change, with one journal entry', async () => {
        const [from, id] = (await tree.createChain(['Quay', 'Boat', 'Cabin'])) as [string, string];
        const to = await tree.create('Dock');
        // Each step alone would be refused.
        await tree.create('Ship', from);
        await tree.create('Boat', to);
        const input = { id, parentId: to, name: 'Ship', expectedVersion: 1 };
        const payload = await tree.mutate('moveFolder', input, 'folderCount folder{path name version}');
        assert.deepEqual(payload, {
          folderCount: 2,
          folder: { path: '/Dock/Ship', name: 'Ship', version: 2 },
        });
        assert.deepEqual(await tree.paths(to), ['Boat', 'Ship', 'Ship/Cabin']);
        assert.deepEqual(await tree.paths(from), ['Ship']);
        assert.deepEqual((await tree.search('ship', to))[0], 'Ship');
        const { items, totalCount } = await journalOf(id);
        assert.equal(totalCount, 2);
        assert.deepEqual(items[0], {
          kind: 'MOVE_FOLDER',
          before: { parentId: from, name: 'Boat' },
          after: { parentId: to, name: 'Ship' },
          formerAncestorIds: [rootId, from],
        });
      });

      test('only renames a folder if the destination is its current parent', async () => {
        const [parentId, id] = (await tree.createChain(['Yard', 'Old'])) as [string, string];
        await tree.mutate('moveFolder', { id, parentId, name: 'New' });
        assert.deepEqual(await tree.paths(parentId), ['New']);
        assert.deepEqual((await journalOf(id)).items, [
          { kind: 'UPDATE_FOLDER', before: { name: 'Old' }, after: { name: 'New' }, formerAncestorIds: null },
        ]);
        await tree.mutate('moveFolder', { id, parentId, name: 'New' });
        await tree.mutate('moveFolder', { id, parentId, name: null });
        assert.equal((await journalOf(id)).totalCount, 2);
      });

      test('refuses and allows the same names in a dry run as in the move', async () => {
        const [from, id] = (await tree.createChain(['Bay', 'Crab'])) as [string, string];
        await tree.create('Fish', from);
        const to = await tree.create('Cove');
        await tree.create('Crab', to);
        await tree.create('Eel', to);
        const cases: [Variables, string][] = [
          [{ parentId: to }, 'CONFLICT'],
          [{ parentId: to, name: 'Eel' }, 'CONFLICT'],
          [{ parentId: from, name: 'Fish' }, 'CONFLICT'],
          [{ parentId: to, name: '' }, 'BAD_INPUT'],
          [{ parentId: to, name: 'a/b' }, 'BAD_INPUT'],
          [{ parentId: to, name: 'a\u0000b' }, 'BAD_INPUT'],
          [{ parentId: to, name: 'n'.repeat(256) }, 'BAD_INPUT'],
          [{ parentId: to, name: 'Fish', expectedVersion: 7 }, 'CONFLICT'],
          [{ parentId: id, name: 'Fish' }, 'CYCLE'],
        ];
        for (const [move, expected] of cases) {
          for (const dryRun of [true, false]) {
            const input = { id, ...move, dryRun };
            assert.equal(await refusalCode('moveFolder', input), expected, JSON.stringify(input));
          }
        }
        const before = await tree.snapshot();
        const allowed = { id, parentId: to, name: 'Fish' };
        assert.equal(await tree.outcome('moveFolder', { ...allowed, dryRun: true }), 'OK');
        assert.deepEqual(await tree.snapshot(), before);
        assert.equal(await tree.outcome('moveFolder', allowed), 'OK');
        assert.deepEqual(await tree.paths(to), ['Crab', 'Eel', 'Fish']);
      });

      test('requires the same rights as without a new name', async () => {
        const [from, id] = (await tree.createChain(['Pier', 'Net'])) as [string, string];
        const to = await tree.create('Beach');
        const { authToken } = await tree.person({ [from]: 'READ', [id]: 'MANAGE', [to]: 'WRITE' });
        for (const parentId of [to, from]) {
          const move = { id, parentId, name: 'Web' };
          assert.equal(await refusalCode('moveFolder', move, authToken), 'FORBIDDEN');
        }
      });

      test('publishes a move, a creation or a deletion, depending on what the viewer sees', async () => {
        const [from, id] = (await tree.createChain(['North', 'Gull'])) as [string, string];
        const to = await tree.create('South');
        const both = await tree.person({ [from]: 'READ', [to]: 'READ' });
        const onlyFrom = await tree.person({ [from]: 'READ' });
        const onlyTo = await tree.person({ [to]: 'READ' });
        const { cursor } = await tree.query<{ cursor: string }>('{cursor}');
        await tree.mutate('moveFolder', { id, parentId: to, name: 'Tern' });
        const changesOf = async ({ authToken }: { authToken: string }) => {
          const query =
            'query($after: String!){changes(after: $after){items{kind folderId folder{path} oldParent{name}}}}';
          type Data = { changes: { items: object[] } };
          return (await tree.query<Data>(query, { after: cursor }, authToken)).changes.items;
        };
        const folder = { path: '/South/Tern' };
        const moved = { kind: 'MOVE', folderId: id, folder };
        assert.deepEqual(await changesOf(both), [{ ...moved, oldParent: { name: 'North' } }]);
        assert.deepEqual(await changesOf(onlyTo), [{ ...moved, kind: 'CREATE', oldParent: null }]);
        assert.deepEqual(await changesOf(onlyFrom), [
          { kind: 'DELETE', folderId: id, folder: null, oldParent: null },
        ]);
      });
    });

    describe('`deleteFolder()`', () => {
      test('deletes a folder with subfolders only if `recursive` is set', async () => {
        const [top, id, leaf] = (await tree.createChain(['Pile', 'Heap', 'Leaf'])) as [
          string,
          string,
          string,
        ];
        const error = await tree.readMutationError('deleteFolder', { id: top });
        assert.equal(error.extensions.code, 'CONFLICT');
        assert.match(error.message, /a subfolder\. .*recursive: true/);
        await tree.create('Second', top);
        assert.match((await tree.readMutationError('deleteFolder', { id: top })).message, /2 subfolders/);
        const one = await tree.mutate('deleteFolder', { id: leaf }, 'folderId folderCount');
        assert.deepEqual(one, { folderId: leaf, folderCount: 1 });
        await tree.createChain(['Leaf', 'Inner'], id);
        const all = await tree.mutate('deleteFolder', { id: top, recursive: true }, 'folderId folderCount');
        assert.deepEqual(all, { folderId: top, folderCount: 5 });
        assert.equal(await tree.find(top, 'id'), null);
      });

      test('frees the name immediately', async () => {
        await tree.delete(await tree.create('Again'));
        await tree.delete(await tree.create('Again'));
        await tree.create('Again');
      });

      test('requires WRITE on the folder and on its parent', async () => {
        const [top, id] = (await tree.createChain(['Shelf', 'Book'])) as [string, string];
        const cases: [Record<string, string>, string][] = [
          [{ [top]: 'READ' }, 'FORBIDDEN'],
          [{ [top]: 'READ', [id]: 'MANAGE' }, 'FORBIDDEN'],
          [{ [id]: 'MANAGE' }, 'FORBIDDEN'],
          [{ [top]: 'WRITE', [id]: 'READ' }, 'FORBIDDEN'],
          [{ [top]: 'WRITE', [id]: 'NONE' }, 'NOT_FOUND'],
          [{}, 'NOT_FOUND'],
        ];
        for (const [levels, expected] of cases) {
          const { authToken } = await tree.person(levels);
          assert.equal(
            await refusalCode('deleteFolder', { id }, authToken),
            expected,
            JSON.stringify(levels),
          );
        }
        const { authToken } = await tree.person({ [top]: 'WRITE' });
        assert.equal(await tree.outcome('deleteFolder', { id }, authToken), 'OK');
      });
    });

    test('rejects moving, deleting and restoring the root', async () => {
      const parentId = await tree.create('Pot');
      assert.equal(await refusalCode('moveFolder', { id: rootId, parentId }), 'BAD_INPUT');
      assert.equal(await refusalCode('moveFolder', { id: rootId, parentId: rootId }), 'BAD_INPUT');
      assert.equal(await refusalCode('deleteFolder', { id: rootId, recursive: true }), 'BAD_INPUT');
      assert.equal(await refusalCode('restoreFolder', { id: rootId }), 'NOT_FOUND');
    });

    describe('a dry run', () => {
      const selection =
        'isDryRun folderCount accessChanges{totalCount items{user{username} before after}} folder{path version}';

      test('reports which users gain or lose access, and changes nothing', async () => {
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
        const { group } = await tree.mutate<{ group: { id: string } }>(
          'createGroup',
          { name: 'Lobby' },
          'group{id}',
        );
        await tree.mutate('addToGroup', { groupId: group.id, userIds: [loweredByGroup.id] });
        await tree.mutate('grantAccess', { folderId: to, groupId: group.id, level: 'READ' });
        const before = await tree.snapshot();
        const move = { id, parentId: to };
        const accessChanges = [
          { user: { username: gains.username }, before: 'NONE', after: 'READ' },
          { user: { username: loses.username }, before: 'WRITE', after: 'NONE' },
          { user: { username: loweredByGroup.username }, before: 'MANAGE', after: 'READ' },
        ];
        assert.deepEqual(await tree.mutate('moveFolder', { ...move, dryRun: true }, selection), {
          isDryRun: true,
          folderCount: 2,
          accessChanges: { totalCount: 3, items: accessChanges },
          folder: { path: '/Vault/Case', version: 1 },
        });
        assert.deepEqual(await tree.snapshot(), before);
        assert.equal(await tree.find(id, 'id', gains.authToken), null);
        assert.deepEqual(await tree.mutate('moveFolder', move, selection), {
          isDryRun: false,
          folderCount: 2,
          accessChanges: { totalCount: 3, items: accessChanges },
          folder: { path: '/Lobby/Case', version: 2 },
        });
        assert.deepEqual(await tree.find(id, 'id', gains.authToken), { id });
        assert.equal(await tree.find(id, 'id', loses.authToken), null);
      });

      test('reports only the number of visible folders to a user who does not manage all of them', async () => {
        const [from, id, hidden] = (await tree.createChain(['Desk', 'Map', 'Private'])) as [
          string,
          string,
          string,
        ];
        await tree.create('Public', id);
        const to = await tree.create('Table');
        const { authToken } = await tree.person({ [from]: 'WRITE', [hidden]: 'NONE', [to]: 'WRITE' });
        const payload = await tree.mutate(
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
