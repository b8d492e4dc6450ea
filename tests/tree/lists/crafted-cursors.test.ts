/**
 * Cursors that a client crafts with a valid checksum. The server returns a page or refuses them, and never
 * fails.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { toCursor } from '../../../server/src/folders/folder-slice.ts';
import { databaseKinds } from '../../support/databases.ts';
import { TreeTestbed } from '../tree-testbed.ts';

const id = '019c1407-aa00-7abc-8def-0123456789ab';
const keys = [0, 1, 3, 6, 7, 8, 18, 40, 3_000].map((length) => Buffer.alloc(length, 0xff));

for (const kind of databaseKinds) {
  describe(`crafted cursors on ${kind.name}`, () => {
    let tree: TreeTestbed;
    let rootId: string;

    before(async () => {
      tree = await TreeTestbed.start(kind);
      await tree.import(['a', 'b', 'c/d']);
      rootId = await tree.idOf('/');
    });
    after(() => tree.stop());

    test('return a page or BAD_INPUT in every list', async () => {
      const lists: Record<string, (cursor: string) => string> = {
        trash: (cursor) => `{trash(after: "${cursor}"){items{folderId} pageInfo{hasPreviousPage}}}`,
        [`descendants ${rootId} all`]: (cursor) => `{folder{descendants(after: "${cursor}"){items{id}}}}`,
        'search  abc': (cursor) => `{search(text: "abc", after: "${cursor}"){items{id}}}`,
      };
      for (const field of ['NAME', 'CREATED', 'UPDATED']) {
        lists[`children ${rootId} ${field}`] = (cursor) =>
          `{folder{folders(after: "${cursor}", orderBy: {field: ${field}}){items{id} pageInfo{hasPreviousPage hasNextPage}}}}`;
      }
      for (const [list, query] of Object.entries(lists)) {
        for (const key of keys) {
          const { errors } = await tree.execute(query(toCursor(list, { id, key })));
          for (const { extensions } of errors ?? []) {
            assert.equal(extensions.code, 'BAD_INPUT', `${list} with ${key.length} bytes`);
          }
        }
      }
    });

    test('are refused by `descendants` with a depth if they come from `descendants` without a depth', async () => {
      const { folder } = await tree.query<{ folder: { descendants: { edges: { cursor: string }[] } } }>(
        '{folder{descendants{edges{cursor}}}}',
      );
      for (const { cursor } of folder.descendants.edges) {
        const error = await tree.readError(`{folder{descendants(depth: 1, after: "${cursor}"){items{id}}}}`);
        assert.equal(error.extensions.code, 'BAD_INPUT');
      }
    });

    test('cause one error, whatever fields are selected', async () => {
      const selection = '{totalCount items{id} pageInfo{endCursor}}';
      for (const query of [
        `{folder{descendants(after: "bad")${selection}}}`,
        `{search(text: "abc", after: "bad")${selection}}`,
      ]) {
        const { errors } = await tree.execute(query);
        assert.equal(errors?.length, 1, query);
        assert.equal(errors[0]!.extensions.code, 'BAD_INPUT');
      }
    });
  });
}
