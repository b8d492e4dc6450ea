/** Offsets in lists, the position of a folder among its siblings, and the number of descendants. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../../support/databases.ts';
import { childrenQuery, createPager, namesOf } from './folder-pages.ts';
import { TreeTestbed } from '../tree-testbed.ts';

for (const kind of databaseKinds) {
  describe(`positions and counts on ${kind.name}`, () => {
    let tree: TreeTestbed;
    let id: string;
    let hidden: string;
    const names = Array.from({ length: 12 }, (_, index) => `Floor ${index + 1}`);
    const { readList, assertRefused } = createPager(() => tree, childrenQuery);

    before(async () => {
      tree = await TreeTestbed.start(kind);
      id = await tree.create('House');
      await tree.import(names.toReversed(), id);
      await tree.import(['Floor 5/Room/Desk/Drawer', 'Floor 5/Hall'], await createWing());
      hidden = await tree.idOf('/House/Floor 3');
    });
    after(() => tree.stop());

    const createWing = () => tree.create('Wing');
    const readPosition = async (name: string, authToken?: string) => {
      const folder = await tree.find<{ position: number }>(
        await tree.idOf(`/House/${name}`),
        'position',
        authToken,
      );
      return folder?.position;
    };

    test('`skip` omits folders from the start or after a cursor', async () => {
      const all = await readList({ id });
      for (const skip of [0, 1, 5, 11, 12, 2_000_000_000]) {
        const page = await readList({ id, first: 3, skip });
        assert.deepEqual(page.edges, all.edges.slice(skip, skip + 3));
        assert.equal(page.pageInfo.hasPreviousPage, skip > 0);
        assert.equal(page.pageInfo.hasNextPage, skip + 3 < 12);
        assert.equal(page.totalCount, 12);
      }
      const from = await readList({ id, first: 2, skip: 3, after: all.edges[1]!.cursor });
      assert.deepEqual(namesOf(from), names.slice(5, 7));
      const orderBy = { field: 'NAME', direction: 'DESC' };
      assert.deepEqual(namesOf(await readList({ id, first: 1, skip: 2, orderBy })), ['Floor 10']);
      const filter = { nameContains: '1' };
      assert.deepEqual(namesOf(await readList({ id, first: 2, skip: 1, filter })), ['Floor 10', 'Floor 11']);
    });

    test('an invalid `skip` is refused', async () => {
      const { edges } = await readList({ id });
      await assertRefused({ id, first: 1, skip: -1 });
      await assertRefused({ id, skip: 1 });
      await assertRefused({ id, last: 1, skip: 1 });
      await assertRefused({ id, first: 1, skip: 1, before: edges[3]!.cursor });
    });

    test('`position` counts the siblings before a folder in natural order', async () => {
      assert.equal(await readPosition('Floor 1'), 0);
      assert.equal(await readPosition('Floor 10'), 9);
      const root = await tree.query<{ folder: unknown }>('{folder{position folders{items{position}}}}');
      assert.deepEqual(root, {
        folder: { position: 0, folders: { items: [{ position: 0 }, { position: 1 }] } },
      });
    });

    test('`position` and `skip` count only siblings that the viewer sees', async () => {
      const reader = await tree.person({ [id]: 'READ', [hidden]: 'NONE' });
      assert.equal(await readPosition('Floor 2', reader.authToken), 1);
      assert.equal(await readPosition('Floor 3', reader.authToken), undefined);
      assert.equal(await readPosition('Floor 10', reader.authToken), 8);
      const page = await readList({ id, first: 2, skip: 1 }, reader.authToken);
      assert.deepEqual(namesOf(page), ['Floor 2', 'Floor 4']);
      const levels = Object.fromEntries(
        await Promise.all(
          ['Floor 2', 'Floor 7', 'Floor 11'].map(
            async (name) => [await tree.idOf(`/House/${name}`), 'READ'] as const,
          ),
        ),
      );
      const guest = await tree.person(levels);
      assert.equal(await readPosition('Floor 11', guest.authToken), 2);
      assert.deepEqual(namesOf(await readList({ id, first: 5, skip: 1 }, guest.authToken)), [
        'Floor 7',
        'Floor 11',
      ]);
    });

    test('the number of descendants at each depth is correct after moves and deletions', async () => {
      const countDescendants = async (id: string, depth: number | null, authToken?: string) => {
        const query = 'query($id: ID, $depth: Int){folder(id: $id){descendants(depth: $depth){totalCount}}}';
        const response = await tree.query<{ folder: { descendants: { totalCount: number } } }>(
          query,
          { id: id, depth },
          authToken,
        );
        return response.folder.descendants.totalCount;
      };
      const id = await tree.idOf('/Wing');
      const counts = async () => Promise.all([1, 2, 3, 4, null].map((depth) => countDescendants(id, depth)));
      assert.deepEqual(await counts(), [1, 3, 4, 5, 5]);
      const { authToken } = await tree.person({ [id]: 'READ' });
      assert.equal(await countDescendants(id, null, authToken), 5);
      await tree.move(await tree.idOf('/Wing/Floor 5/Room/Desk'), id);
      assert.deepEqual(await counts(), [2, 5, 5, 5, 5]);
      await tree.delete(await tree.idOf('/Wing/Desk'));
      assert.deepEqual(await counts(), [1, 3, 3, 3, 3]);
      const closed = await tree.person({ [id]: 'READ', [await tree.idOf('/Wing/Floor 5/Hall')]: 'NONE' });
      assert.equal(await countDescendants(id, null, closed.authToken), 2);
    });
  });
}
