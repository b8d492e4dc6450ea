/** The flat list of all descendants of a folder: its order, its pages, and its cursors after changes of the tree. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../../support/databases.ts';
import { childrenQuery, createPager, descendantsQuery, namesOf, type FolderPage } from './folder-pages.ts';
import { TreeTestbed } from '../tree-testbed.ts';

for (const kind of databaseKinds) {
  describe(`the list of descendants on ${kind.name}`, () => {
    let tree: TreeTestbed;
    let id: string;
    const { readList, pageForward, assertRefused } = createPager(() => tree, descendantsQuery);
    const { readList: readChildren, assertRefused: assertRefusedByChildren } = createPager(
      () => tree,
      childrenQuery,
    );
    const paths = [
      'A 2',
      'A 2/x',
      'A 2/x/deep',
      'A 2/x/deep/er',
      'A 2/y',
      'A 10',
      'b',
      'b/1',
      'b/2',
      'b/10',
      'C',
    ];

    before(async () => {
      tree = await TreeTestbed.start(kind);
      id = await tree.create('Descendants');
      await tree.import(paths.toReversed(), id);
    });
    after(() => tree.stop());

    const lastNames = paths.map((path) => path.split('/').at(-1)!);

    test('contains each folder directly before its own descendants, with its depth', async () => {
      const all = await readList({ id });
      assert.deepEqual(namesOf(all), lastNames);
      assert.deepEqual(
        all.edges.map(({ depth }) => depth),
        paths.map((path) => path.split('/').length),
      );
      assert.equal(all.totalCount, paths.length);
      assert.equal(all.pageInfo.hasNextPage, false);
      assert.equal(all.pageInfo.endCursor, all.edges.at(-1)!.cursor);
    });

    test('leaves out folders below the requested depth, also in its count', async () => {
      for (const depth of [1, 2, 3, 4, 9]) {
        const expected = paths.filter((path) => path.split('/').length <= depth);
        const all = await readList({ id, depth });
        assert.deepEqual(
          namesOf(all),
          expected.map((path) => path.split('/').at(-1)!),
        );
        assert.equal(all.totalCount, expected.length);
        assert.deepEqual(await pageForward({ id, depth }, 2), all.edges);
      }
    });

    test('is the same with every page size, with correct page info', async () => {
      const { edges } = await readList({ id });
      for (const first of [1, 2, 7, 11, 12]) {
        assert.deepEqual(await pageForward({ id }, first), edges);
      }
      const none = await readList({ id, first: 0 });
      assert.deepEqual([none.edges, none.pageInfo.hasNextPage], [[], true]);
    });

    test('is the same in pages for a viewer with limited access', async () => {
      const hidden = await tree.idOf('/Descendants/A 2/x');
      const open = await tree.idOf('/Descendants/A 2/x/deep/er');
      const { authToken } = await tree.person({ [id]: 'READ', [hidden]: 'NONE', [open]: 'READ' });
      const { edges, totalCount } = await readList({ id }, authToken);
      assert.deepEqual(
        edges.map(({ node }) => node.name),
        lastNames,
      );
      assert.equal(totalCount, edges.length);
      const { authToken: narrow } = await tree.person({ [id]: 'READ', [hidden]: 'NONE' });
      const seen = lastNames.filter((name) => !['x', 'deep', 'er'].includes(name));
      const fewer = await readList({ id }, narrow);
      assert.deepEqual(namesOf(fewer), seen);
      assert.equal(fewer.totalCount, seen.length);
      for (const first of [1, 2, 7]) {
        assert.deepEqual(await pageForward({ id }, first, narrow), fewer.edges);
      }
    });

    test('continues after a cursor whose folder was deleted or moved or has new siblings', async () => {
      const copy = await tree.create('Copy');
      const elsewhere = await tree.create('Elsewhere');
      await tree.import(paths, copy);
      const { edges } = await readList({ id: copy });
      const edgeOf = (name: string) => edges.find(({ node }) => node.name === name)!;
      const after = async (name: string) => namesOf(await readList({ id: copy, after: edgeOf(name).cursor }));
      const rest = ['A 10', 'b', '1', '2', '10', 'C'];
      await tree.create('deep 0', edgeOf('x').node.id);
      await tree.create('deep 2', edgeOf('x').node.id);
      await tree.create('A 3', copy);
      assert.deepEqual(await after('deep'), ['er', 'deep 0', 'deep 2', 'y', 'A 3', ...rest]);
      await tree.delete(edgeOf('deep').node.id);
      assert.deepEqual(await after('deep'), ['deep 0', 'deep 2', 'y', 'A 3', ...rest]);
      assert.deepEqual(await after('er'), ['deep 0', 'deep 2', 'y', 'A 3', ...rest]);
      await tree.move(edgeOf('A 2').node.id, elsewhere);
      for (const name of ['A 2', 'x', 'er', 'y']) assert.deepEqual(await after(name), ['A 3', ...rest]);
      await tree.delete(edgeOf('C').node.id);
      assert.deepEqual(await after('C'), []);
    });

    test('rejects invalid sizes, depths and cursors', async () => {
      const own = (await readList({ id, first: 1 })).pageInfo.endCursor!;
      const ofChildren = (await readChildren({ id, first: 1 })).pageInfo.endCursor!;
      const ofRoot = (await readList({ first: 1 })).pageInfo.endCursor!;
      const { search } = await tree.query<{ search: FolderPage }>(
        '{search(text: "deep"){pageInfo{endCursor}}}',
      );
      const refused = [{ first: -1 }, { depth: 0 }, { depth: -1 }, { after: '' }, { after: 'x' }];
      const cursors = [ofChildren, ofRoot, search.pageInfo.endCursor!, `${own}A`, own.slice(0, -4)];
      for (const variables of [...refused, ...cursors.map((after) => ({ after }))]) {
        await assertRefused({ id, ...variables });
      }
      for (const after of [own, ofRoot, search.pageInfo.endCursor!])
        await assertRefusedByChildren({ id, after });
    });

    test('is empty for a folder without subfolders', async () => {
      const empty = await readList({ id: await tree.idOf('/Descendants/C') });
      assert.deepEqual(empty, {
        edges: [],
        totalCount: 0,
        pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
      });
    });

    test('may fill a page up to the maximum size of a response', async () => {
      const small = await TreeTestbed.start(kind, { settings: { MAX_FOLDERS: '10' } });
      try {
        await small.import(Array.from({ length: 12 }, (_, index) => `Folder ${index}`));
        const page = (first: number) =>
          `{folder{descendants(first: ${first}){items{name} pageInfo{hasNextPage}}}}`;
        const { folder } = await small.query<{
          folder: { descendants: { items: unknown[]; pageInfo: { hasNextPage: boolean } } };
        }>(page(10));
        assert.equal(folder.descendants.items.length, 10);
        assert.equal(folder.descendants.pageInfo.hasNextPage, true);
        const error = await small.readError(page(11));
        assert.equal(error.extensions.code, 'TOO_EXPENSIVE');
      } finally {
        await small.stop();
      }
    });
  });
}
