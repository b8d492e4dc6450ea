/** Exports the descendants of a folder and imports them elsewhere. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { TreeTestbed, type ListedFolder } from './tree-testbed.ts';

const exportQuery =
  'query($id: ID, $depth: Int){exportFolders(id: $id, depth: $depth){path title icon description properties}}';
const createList = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));
/** Distributes the folders evenly over 50 parents. */
const spreadPaths = (count: number, word: string) =>
  createList(count, (index) => (index < 50 ? `${word} ${index}` : `${word} ${index % 50}/${word} ${index}`));

for (const kind of databaseKinds) {
  describe(`an export on ${kind.name}`, () => {
    let tree: TreeTestbed;

    before(async () => {
      tree = await TreeTestbed.start(kind);
    });
    after(() => tree.stop());

    const exportFolder = async (id: string, depth?: number) =>
      (await tree.query<{ exportFolders: ListedFolder[] }>(exportQuery, { id, depth })).exportFolders;

    test('creates the same folders when it is imported elsewhere', async () => {
      const id = await tree.create('Original');
      const list = spreadPaths(1_300, 'leaf').map((path, index) => ({
        path,
        title: index % 3 ? `Title ${index}` : null,
        icon: index % 4 ? '🍂' : null,
        description: index % 5 ? 'one\ntwo' : null,
        properties: index % 7 ? { place: index, nested: { list: [index, null] } } : null,
      }));
      await tree.import(list, id);
      const first = await exportFolder(id);
      assert.equal(first.length, 1_300);
      const byPath = (one: ListedFolder, other: ListedFolder) => (one.path < other.path ? -1 : 1);
      assert.deepEqual(first.toSorted(byPath), list.toSorted(byPath));
      const copy = await tree.create('Copy');
      await tree.import(first.toReversed(), copy);
      assert.deepEqual(await exportFolder(copy), first);
    });

    test('has at most the requested depth, and is refused for a depth below 1', async () => {
      const id = await tree.create('Deep');
      await tree.import(['a/b/c', 'd'], id);
      assert.deepEqual(
        (await exportFolder(id, 1)).map(({ path }) => path),
        ['a', 'd'],
      );
      assert.deepEqual(
        (await exportFolder(id, 2)).map(({ path }) => path),
        ['a', 'a/b', 'd'],
      );
      for (const depth of [0, -1]) {
        assert.equal((await tree.readError(exportQuery, { id, depth })).extensions.code, 'BAD_INPUT');
      }
    });

    test('has a configurable maximum size, like an import', async () => {
      const small = await TreeTestbed.start(kind, {
        settings: { MAX_IMPORT_FOLDERS: '50', MAX_EXPORT_FOLDERS: '60' },
      });
      try {
        assert.equal(await small.import(spreadPaths(50, 'first')), 50);
        const paths = createList(51, (index) => ({ path: `second ${index}` }));
        for (const input of [
          { list: paths },
          { list: [{ path: 'x/'.repeat(51) }] },
          { tree: paths.map(({ path }) => ({ name: path })) },
        ]) {
          const { extensions, message } = await small.readMutationError('importFolders', input);
          assert.deepEqual(extensions, {
            code: 'TOO_EXPENSIVE',
            field: 'importFolders',
            cost: 51,
            limit: 50,
          });
          assert.match(message, /at most 50 folders/);
        }
        assert.equal(await small.import(createList(10, (index) => `third ${index}`)), 10);
        assert.equal((await small.paths()).length, 60);
        await small.create('one more');
        const { extensions } = await small.readError('{exportFolders{path}}');
        assert.deepEqual(extensions, {
          code: 'TOO_EXPENSIVE',
          field: 'exportFolders',
          cost: 61,
          limit: 60,
        });
      } finally {
        await small.stop();
      }
    });
  });
}
