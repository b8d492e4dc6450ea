/** The subfolders of a folder, filtered and in every order. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../../support/databases.ts';
import { childrenQuery, createPager, namesOf, type FolderPage } from './folder-pages.ts';
import { TreeTestbed } from '../tree-testbed.ts';

for (const kind of databaseKinds) {
  describe(`lists of subfolders on ${kind.name}`, () => {
    let tree: TreeTestbed;
    let id: string;
    const { readList, pageForward, pageBackward, assertRefused } = createPager(() => tree, childrenQuery);
    let middle: string;
    const names = [
      '100%',
      '100 per cent',
      'a_b',
      'axb',
      'back\\slash',
      'Émile',
      'emil 2',
      'emil 10',
      'ſtraße',
      "O'Hara",
    ];

    before(async () => {
      tree = await TreeTestbed.start(kind);
      id = await tree.create('Listed');
      for (const [index, name] of names.entries()) {
        tree.server.clock.advanceSeconds(1);
        const inner = await tree.create(name, id);
        if (index % 3 === 0) await tree.create('inside', inner);
        if (index === 4) middle = new Date(tree.server.clock.now()).toISOString();
      }
      tree.server.clock.advanceSeconds(1);
      await tree.mutate('updateFolder', { id: await tree.idOf('/Listed/axb'), title: 'Latest' });
      tree.server.clock.advanceSeconds(1);
      await tree.mutate('updateFolder', { id: await tree.idOf('/Listed/100%'), title: 'Later still' });
    });
    after(() => tree.stop());

    const filters: [filter: object, found: readonly string[]][] = [
      [{}, names],
      [{ nameContains: '' }, names],
      [{ nameContains: '%' }, ['100%']],
      [{ nameContains: '_' }, ['a_b']],
      [{ nameContains: '\\' }, ['back\\slash']],
      [{ nameContains: "'" }, ["O'Hara"]],
      [{ nameContains: 'MIL' }, ['Émile', 'emil 2', 'emil 10']],
      [{ nameContains: 'strasse' }, ['ſtraße']],
      [{ nameContains: 'STRA' }, ['ſtraße']],
      [{ nameStartsWith: 'E\u0301M' }, ['Émile', 'emil 2', 'emil 10']],
      [{ nameStartsWith: '100%' }, ['100%']],
      [{ nameStartsWith: 'a_' }, ['a_b']],
      [{ nameStartsWith: 'mil' }, []],
      [{ hasChildren: true }, ['100%', 'axb', 'emil 2', "O'Hara"]],
      [{ hasChildren: false }, names.filter((_, index) => index % 3 !== 0)],
      [{ hasChildren: true, nameContains: 'mil' }, ['emil 2']],
      [{ hasChildren: false, nameStartsWith: 'e', nameContains: '1' }, ['emil 10']],
      [{ nameContains: null, hasChildren: null, updatedSince: null }, names],
    ];
    for (const [filter, found] of filters) {
      test(`contain the folders that match all of ${JSON.stringify(filter)}`, async () => {
        const all = await readList({ id, filter });
        assert.deepEqual(namesOf(all).toSorted(), found.toSorted());
        assert.equal(all.totalCount, found.length);
        assert.deepEqual(await pageForward({ id, filter }, 2), all.edges);
        assert.deepEqual(await pageBackward({ id, filter }, 3), all.edges);
      });
    }

    test('contain the folders that changed at or after the requested time', async () => {
      const since = async (updatedSince: string, more = {}) =>
        namesOf(await readList({ id, filter: { updatedSince, ...more } })).toSorted();
      const later = [...names.slice(4), 'axb', '100%'].toSorted();
      assert.deepEqual(await since(middle), later);
      assert.deepEqual(await since(middle.replace('Z', '+00:00')), later);
      assert.deepEqual(
        await since(middle, { hasChildren: true }),
        ['100%', 'axb', 'emil 2', "O'Hara"].toSorted(),
      );
      assert.deepEqual(await since('2999-01-01T00:00:00Z'), []);
      for (const bad of ['yesterday', '2026-01-01', '', '2026-13-01T00:00:00Z', 5]) {
        await assertRefused({ id, filter: { updatedSince: bad } });
      }
    });

    const created = names;
    const updated = names.filter((name) => !['axb', '100%'].includes(name)).concat('axb', '100%');
    const byName = [
      '100 per cent',
      '100%',
      'a_b',
      'axb',
      'back\\slash',
      'emil 2',
      'emil 10',
      'Émile',
      "O'Hara",
      'ſtraße',
    ];
    const orders: [field: string, expected: readonly string[]][] = [
      ['NAME', byName],
      ['CREATED', created],
      ['UPDATED', updated],
    ];
    for (const [field, expected] of orders) {
      for (const direction of ['ASC', 'DESC']) {
        test(`are the same in the order ${field} ${direction} without paging, paged forward and paged backward`, async () => {
          const orderBy = { field, direction };
          const all = await readList({ id, orderBy });
          assert.deepEqual(namesOf(all), direction === 'ASC' ? expected : expected.toReversed());
          for (const size of [1, 3, 10, 11]) {
            assert.deepEqual(await pageForward({ id, orderBy }, size), all.edges);
            assert.deepEqual(await pageBackward({ id, orderBy }, size), all.edges);
          }
          const { authToken } = await tree.person({ [id]: 'READ' });
          assert.deepEqual(await pageForward({ id, orderBy }, 4, authToken), all.edges);
        });
      }
    }

    test('reject a filter that no name can match', async () => {
      for (const filter of [
        { nameContains: 'a\0zzz' },
        { nameStartsWith: '\u0007' },
        { nameContains: '\ud800' },
        { nameStartsWith: 'x'.repeat(256) },
      ]) {
        const query = 'query($filter: FolderFilter){folder{folders(filter: $filter){totalCount}}}';
        assert.equal(
          (await tree.readError(query, { filter })).extensions.code,
          'BAD_INPUT',
          JSON.stringify(filter),
        );
      }
    });

    test('reject a cursor of another order, and first together with last', async () => {
      for (const [field] of orders) {
        const { edges } = await readList({ id, orderBy: { field }, first: 1 });
        for (const [other] of orders.filter(([each]) => each !== field)) {
          await assertRefused({ id, orderBy: { field: other }, after: edges[0]!.cursor });
          await assertRefused({ id, orderBy: { field: other }, before: edges[0]!.cursor });
        }
        await assertRefused({ id, orderBy: { field }, first: 1, last: 1 });
      }
    });

    test('do not charge for the page info of a page', async () => {
      const small = await TreeTestbed.start(kind, { settings: { MAX_FOLDERS: '10' } });
      try {
        await small.import(Array.from({ length: 9 }, (_, index) => `Folder ${index}`));
        const query =
          'query($after: String){folder{folders(first: 7, after: $after){items{name} pageInfo{hasNextPage endCursor}}}}';
        await small.query(query);
        const { folder } = await small.query<{ folder: { folders: FolderPage } }>(
          '{folder{folders(first: 1){pageInfo{endCursor}}}}',
        );
        await small.query(query, { after: folder.folders.pageInfo.endCursor });
      } finally {
        await small.stop();
      }
    });
  });
}
