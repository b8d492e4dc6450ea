/** Exporting all that is inside a folder, and importing it elsewhere. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../databases.ts';
import { TreeBed, type ListedFolder } from './tree-bed.ts';

const exported =
  'query($id: ID, $depth: Int){exportFolders(id: $id, depth: $depth){path title icon description properties}}';
const numbered = <T>(count: number, make: (place: number) => T) =>
  Array.from({ length: count }, (_, place) => make(place));
/** 50 folders with as many in each as it takes. */
const spread = (count: number, word: string) =>
  numbered(count, (place) => (place < 50 ? `${word} ${place}` : `${word} ${place % 50}/${word} ${place}`));

for (const kind of databaseKinds) {
  describe(`exporting on ${kind.name}`, () => {
    let tree: TreeBed;

    before(async () => {
      tree = await TreeBed.start(kind);
    });
    after(() => tree.stop());

    const exportOf = async (id: string, depth?: number) =>
      (await tree.ask<{ exportFolders: ListedFolder[] }>(exported, { id, depth })).exportFolders;

    test('what is exported and imported elsewhere is the same', async () => {
      const id = await tree.create('Original');
      const list = spread(1_300, 'leaf').map((path, place) => ({
        path,
        title: place % 3 ? `Title ${place}` : null,
        icon: place % 4 ? '🍂' : null,
        description: place % 5 ? 'one\ntwo' : null,
        properties: place % 7 ? { place, nested: { list: [place, null] } } : null,
      }));
      await tree.import(list, id);
      const first = await exportOf(id);
      assert.equal(first.length, 1_300);
      const byPath = (one: ListedFolder, other: ListedFolder) => (one.path < other.path ? -1 : 1);
      assert.deepEqual(first.toSorted(byPath), list.toSorted(byPath));
      const copy = await tree.create('Copy');
      await tree.import(first.toReversed(), copy);
      assert.deepEqual(await exportOf(copy), first);
    });

    test('an export goes only as deep as told, and no less than one level', async () => {
      const id = await tree.create('Deep');
      await tree.import(['a/b/c', 'd'], id);
      assert.deepEqual(
        (await exportOf(id, 1)).map(({ path }) => path),
        ['a', 'd'],
      );
      assert.deepEqual(
        (await exportOf(id, 2)).map(({ path }) => path),
        ['a', 'a/b', 'd'],
      );
      for (const depth of [0, -1]) {
        assert.equal((await tree.refusal(exported, { id, depth })).extensions.code, 'BAD_INPUT');
      }
    });

    test('both have a size, which is a setting', async () => {
      const small = await TreeBed.start(kind, {
        settings: { MAX_IMPORT_FOLDERS: '50', MAX_EXPORT_FOLDERS: '60' },
      });
      try {
        assert.equal(await small.import(spread(50, 'first')), 50);
        const paths = numbered(51, (place) => ({ path: `second ${place}` }));
        for (const given of [
          { list: paths },
          { list: [{ path: 'x/'.repeat(51) }] },
          { tree: paths.map(({ path }) => ({ name: path })) },
        ]) {
          const { extensions, message } = await small.refused('importFolders', given);
          assert.deepEqual(extensions, {
            code: 'TOO_EXPENSIVE',
            field: 'importFolders',
            price: 51,
            budget: 50,
          });
          assert.match(message, /at most 50 folders/);
        }
        assert.equal(await small.import(numbered(10, (place) => `third ${place}`)), 10);
        assert.equal((await small.paths()).length, 60);
        await small.create('one more');
        const { extensions } = await small.refusal('{exportFolders{path}}');
        assert.deepEqual(extensions, {
          code: 'TOO_EXPENSIVE',
          field: 'exportFolders',
          price: 61,
          budget: 60,
        });
      } finally {
        await small.stop();
      }
    });
  });
}
