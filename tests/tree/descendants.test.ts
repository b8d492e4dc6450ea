/** All below a folder as one flat list, in pages, while others change it. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../databases.ts';
import { children, createPager, descendants, namesOf, type FolderPage } from './folder-pages.ts';
import { TreeBed } from './tree-bed.ts';

for (const kind of databaseKinds) {
  describe(`all below a folder on ${kind.name}`, () => {
    let tree: TreeBed;
    let id: string;
    const { list, forward, isRefused } = createPager(() => tree, descendants);
    const { list: childList, isRefused: isRefusedByChildren } = createPager(() => tree, children);
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
      tree = await TreeBed.start(kind);
      id = await tree.create('Descendants');
      await tree.import(paths.toReversed(), id);
    });
    after(() => tree.stop());

    const lastNames = paths.map((path) => path.split('/').at(-1)!);

    test('each folder stands right before what is inside it, with its depth', async () => {
      const all = await list({ id });
      assert.deepEqual(namesOf(all), lastNames);
      assert.deepEqual(
        all.edges.map(({ depth }) => depth),
        paths.map((path) => path.split('/').length),
      );
      assert.equal(all.totalCount, paths.length);
      assert.equal(all.pageInfo.hasNextPage, false);
      assert.equal(all.pageInfo.endCursor, all.edges.at(-1)!.cursor);
    });

    test('a depth leaves out what is deeper, and its count as well', async () => {
      for (const depth of [1, 2, 3, 4, 9]) {
        const shown = paths.filter((path) => path.split('/').length <= depth);
        const all = await list({ id, depth });
        assert.deepEqual(
          namesOf(all),
          shown.map((path) => path.split('/').at(-1)!),
        );
        assert.equal(all.totalCount, shown.length);
        assert.deepEqual(await forward({ id, depth }, 2), all.edges);
      }
    });

    test('pages of any size give the same list, and know where it ends', async () => {
      const { edges } = await list({ id });
      for (const first of [1, 2, 7, 11, 12]) {
        assert.deepEqual(await forward({ id }, first), edges);
      }
      const none = await list({ id, first: 0 });
      assert.deepEqual([none.edges, none.pageInfo.hasNextPage], [[], true]);
    });

    test('pages give the same list to whoever does not see all of it', async () => {
      const hidden = await tree.idOf('/Descendants/A 2/x');
      const open = await tree.idOf('/Descendants/A 2/x/deep/er');
      const { authToken } = await tree.person({ [id]: 'READ', [hidden]: 'NONE', [open]: 'READ' });
      const { edges, totalCount } = await list({ id }, authToken);
      assert.deepEqual(
        edges.map(({ node }) => node.name),
        lastNames,
      );
      assert.equal(totalCount, edges.length);
      const { authToken: narrow } = await tree.person({ [id]: 'READ', [hidden]: 'NONE' });
      const seen = lastNames.filter((name) => !['x', 'deep', 'er'].includes(name));
      const fewer = await list({ id }, narrow);
      assert.deepEqual(namesOf(fewer), seen);
      assert.equal(fewer.totalCount, seen.length);
      for (const first of [1, 2, 7]) {
        assert.deepEqual(await forward({ id }, first, narrow), fewer.edges);
      }
    });

    test('a cursor keeps its place when its folder, or one above, is deleted or moved or others come', async () => {
      const copy = await tree.create('Copy');
      const elsewhere = await tree.create('Elsewhere');
      await tree.import(paths, copy);
      const { edges } = await list({ id: copy });
      const at = (name: string) => edges.find(({ node }) => node.name === name)!;
      const after = async (name: string) => namesOf(await list({ id: copy, after: at(name).cursor }));
      const rest = ['A 10', 'b', '1', '2', '10', 'C'];
      await tree.create('deep 0', at('x').node.id);
      await tree.create('deep 2', at('x').node.id);
      await tree.create('A 3', copy);
      assert.deepEqual(await after('deep'), ['er', 'deep 0', 'deep 2', 'y', 'A 3', ...rest]);
      await tree.delete(at('deep').node.id);
      assert.deepEqual(await after('deep'), ['deep 0', 'deep 2', 'y', 'A 3', ...rest]);
      assert.deepEqual(await after('er'), ['deep 0', 'deep 2', 'y', 'A 3', ...rest]);
      await tree.move(at('A 2').node.id, elsewhere);
      for (const name of ['A 2', 'x', 'er', 'y']) assert.deepEqual(await after(name), ['A 3', ...rest]);
      await tree.delete(at('C').node.id);
      assert.deepEqual(await after('C'), []);
    });

    test('sizes, depths and cursors that make no sense are refused', async () => {
      const own = (await list({ id, first: 1 })).pageInfo.endCursor!;
      const ofChildren = (await childList({ id, first: 1 })).pageInfo.endCursor!;
      const ofRoot = (await list({ first: 1 })).pageInfo.endCursor!;
      const { search } = await tree.ask<{ search: FolderPage }>(
        '{search(text: "deep"){pageInfo{endCursor}}}',
      );
      const refused = [{ first: -1 }, { depth: 0 }, { depth: -1 }, { after: '' }, { after: 'x' }];
      const cursors = [ofChildren, ofRoot, search.pageInfo.endCursor!, `${own}A`, own.slice(0, -4)];
      for (const variables of [...refused, ...cursors.map((after) => ({ after }))]) {
        await isRefused({ id, ...variables });
      }
      for (const after of [own, ofRoot, search.pageInfo.endCursor!]) await isRefusedByChildren({ id, after });
    });

    test('a folder without anything inside has an empty list', async () => {
      const empty = await list({ id: await tree.idOf('/Descendants/C') });
      assert.deepEqual(empty, {
        edges: [],
        totalCount: 0,
        pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
      });
    });

    test('a page may be as large as an answer, and not larger', async () => {
      const small = await TreeBed.start(kind, { settings: { MAX_FOLDERS: '10' } });
      try {
        await small.import(Array.from({ length: 12 }, (_, place) => `Folder ${place}`));
        const page = (first: number) =>
          `{folder{descendants(first: ${first}){items{name} pageInfo{hasNextPage}}}}`;
        const { folder } = await small.ask<{
          folder: { descendants: { items: unknown[]; pageInfo: { hasNextPage: boolean } } };
        }>(page(10));
        assert.equal(folder.descendants.items.length, 10);
        assert.equal(folder.descendants.pageInfo.hasNextPage, true);
        const error = await small.refusal(page(11));
        assert.equal(error.extensions.code, 'TOO_EXPENSIVE');
      } finally {
        await small.stop();
      }
    });
  });
}
