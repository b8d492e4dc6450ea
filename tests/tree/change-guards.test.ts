/**
 * Guards that can refuse a change: the expected version and the maximum depth of the tree. Also checks the
 * number of statements of a change.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import type { Variables } from '../support/graph-testbed.ts';
import { TreeTestbed } from './tree-testbed.ts';

const steps = (count: number) => Array.from({ length: count }, (_, index) => String(index + 1));

for (const kind of databaseKinds) {
  describe(`the guards of changes on ${kind.name}`, () => {
    let tree: TreeTestbed;
    const statements: string[] = [];

    before(async () => {
      tree = await TreeTestbed.start(kind, { onStatement: (text) => void statements.push(text) });
    });
    after(() => tree.stop());

    describe('the expected version', () => {
      /** The input of each mutation. `id` is the folder with the expected version, which is 3. */
      const changes: Readonly<Record<string, (id: string, other: string) => Variables>> = {
        createFolder: (id) => ({ parentId: id, name: 'New' }),
        importFolders: (id) => ({ parentId: id, list: [{ path: 'a/b' }] }),
        updateFolder: (id) => ({ id, title: 'New' }),
        moveFolder: (id, other) => ({ id, parentId: other }),
        deleteFolder: (id) => ({ id }),
      };
      for (const [name, inputOf] of Object.entries(changes)) {
        test(`guards \`${name}()\``, async () => {
          const id = await tree.create(`Versioned for ${name}`);
          const other = await tree.create(`Goal of ${name}`);
          for (const title of ['two', 'three']) await tree.mutate('updateFolder', { id, title });
          const input = inputOf(id, other);
          for (const expectedVersion of [2, 4, 0, -1, 2_147_483_647]) {
            const error = await tree.readMutationError(name, { ...input, expectedVersion });
            assert.deepEqual(error.extensions, { code: 'CONFLICT', version: 3 });
            assert.match(error.message, new RegExp(`version is 3, not ${expectedVersion}`));
          }
          assert.equal(await tree.outcome(name, { ...input, expectedVersion: 3 }), 'OK');
        });
      }

      test('guards `restoreFolder()`, with the version that the trash reports', async () => {
        const id = await tree.create('Versioned and restored');
        tree.server.clock.advanceSeconds(1);
        await tree.delete(id);
        const { trash } = await tree.query<{ trash: { items: { folderId: string; version: number }[] } }>(
          '{trash(first: 1){items{folderId version}}}',
        );
        assert.deepEqual(trash.items, [{ folderId: id, version: 2 }]);
        const error = await tree.readMutationError('restoreFolder', { id, expectedVersion: 1 });
        assert.deepEqual(error.extensions, { code: 'CONFLICT', version: 2 });
        await tree.mutate('restoreFolder', { id, expectedVersion: 2 });
        assert.equal(await tree.version(id), 3);
      });

      test('is not checked for a user who may not write', async () => {
        const id = await tree.create('Not theirs');
        const { authToken } = await tree.person({ [id]: 'READ' });
        const error = await tree.readMutationError(
          'updateFolder',
          { id, title: 'x', expectedVersion: 7 },
          authToken,
        );
        assert.deepEqual(error.extensions, { code: 'FORBIDDEN' });
      });
    });

    describe('the maximum depth of the tree', () => {
      let deepest: string;

      before(async () => {
        await tree.import([steps(256).join('/')]);
        deepest = await tree.idOf(`/${steps(256).join('/')}`);
      });

      const assertTooDeep = async (name: string, input: Variables) => {
        const error = await tree.readMutationError(name, input);
        assert.equal(error.extensions.code, 'BAD_INPUT', name);
        assert.match(error.message, /256 levels deep/);
      };

      test('is 256 levels for `createFolder()`, `importFolders()` and `moveFolder()`', async () => {
        assert.deepEqual(await tree.find(deepest, 'depth'), { depth: 256 });
        const id = await tree.create('Leaf');
        await assertTooDeep('createFolder', { parentId: deepest, name: 'Too deep' });
        await assertTooDeep('importFolders', { parentId: deepest, list: [{ path: 'Too deep' }] });
        await assertTooDeep('importFolders', { list: [{ path: ['top', ...steps(256)].join('/') }] });
        await assertTooDeep('moveFolder', { id, parentId: deepest });
        await assertTooDeep('moveFolder', { id, parentId: deepest, dryRun: true });
      });

      test('does not prevent any read of the deepest folder', async () => {
        const folder = await tree.find<{ ancestors: unknown[]; path: string }>(
          deepest,
          'path ancestors{name}',
        );
        assert.equal(folder!.ancestors.length, 256);
        assert.equal(folder!.path, `/${steps(256).join('/')}`);
        const top = await tree.idOf('/1');
        assert.equal((await tree.paths(top)).length, 255);
        const below = `query($id: ID){folder(id: $id){descendants{totalCount edges{depth}}}}`;
        const { folder: all } = await tree.query<{
          folder: { descendants: { totalCount: number; edges: { depth: number }[] } };
        }>(below, { id: top });
        assert.equal(all.descendants.totalCount, 255);
        assert.equal(all.descendants.edges.at(-1)!.depth, 255);
        await tree.delete(top);
        await tree.mutate('restoreFolder', { id: top });
      });

      test('is not exceeded by moving a folder with descendants', async () => {
        const [id] = await tree.createChain(['Two', 'Levels']);
        const parentId = await tree.idOf(`/${steps(255).join('/')}`);
        await assertTooDeep('moveFolder', { id, parentId });
      });

      test('is not exceeded by restoring a folder elsewhere', async () => {
        const id = await tree.create('To be restored');
        await tree.delete(id);
        await assertTooDeep('restoreFolder', { id, parentId: deepest });
      });
    });

    describe('the cost of a change', () => {
      const list = (folders: number) =>
        steps(folders / 10).flatMap((top) => [
          `Subtree/${top}`,
          ...steps(9).map((leaf) => `Subtree/${top}/${leaf}`),
        ]);
      const writes = () => statements.filter((text) => /^\s*(insert|update|delete)/i.test(text));

      async function measure(folders: number) {
        const home = await tree.create(`Home of ${folders}`);
        const goal = await tree.create(`Goal of ${folders}`);
        assert.equal(await tree.import(list(folders), home), folders + 1);
        const id = await tree.idOf(`/Home of ${folders}/Subtree`);
        const changes: [string, Variables][] = [
          ['updateFolder', { id, name: 'Renamed' }],
          ['moveFolder', { id, parentId: goal }],
          ['deleteFolder', { id, recursive: true }],
          ['restoreFolder', { id }],
        ];
        const costs: { name: string; all: number; writes: string[] }[] = [];
        for (const [name, input] of changes) {
          statements.length = 0;
          await tree.mutate(name, input);
          costs.push({ name, all: statements.length, writes: writes() });
        }
        assert.equal((await tree.paths(goal)).length, folders + 1);
        return costs;
      }

      test('is the same small number of statements for any number of descendants', async () => {
        const few = await measure(10);
        for (const each of few) assert.ok(each.writes.length <= 8, JSON.stringify(each));
        assert.deepEqual(await measure(5_000), few);
      });
    });
  });
}
