/** Cursors that a client made by hand, with the right checksum: they lead to a place or are refused, and never break. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { toCursor } from '../../server/src/folders/cursor.ts';
import { databaseKinds } from '../databases.ts';
import { TreeBed } from './tree-bed.ts';

const id = '019c1407-aa00-7abc-8def-0123456789ab';
const keys = [0, 1, 3, 6, 7, 8, 18, 40, 3_000].map((length) => Buffer.alloc(length, 0xff));

for (const kind of databaseKinds) {
  describe(`crafted cursors on ${kind.name}`, () => {
    let tree: TreeBed;
    let rootId: string;

    before(async () => {
      tree = await TreeBed.start(kind);
      await tree.import(['a', 'b', 'c/d']);
      rootId = await tree.idOf('/');
    });
    after(() => tree.stop());

    test('are answered with a page or with BAD_INPUT, in every list', async () => {
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
          const { errors } = await tree.body(query(toCursor(list, { id, key })));
          for (const { extensions } of errors ?? []) {
            assert.equal(extensions.code, 'BAD_INPUT', `${list} with ${key.length} bytes`);
          }
        }
      }
    });

    test('a cursor of everything below is not one of some levels below', async () => {
      const { folder } = await tree.ask<{ folder: { descendants: { edges: { cursor: string }[] } } }>(
        '{folder{descendants{edges{cursor}}}}',
      );
      for (const { cursor } of folder.descendants.edges) {
        const error = await tree.refusal(`{folder{descendants(depth: 1, after: "${cursor}"){items{id}}}}`);
        assert.equal(error.extensions.code, 'BAD_INPUT');
      }
    });

    test('a bad cursor is refused once, whatever is selected', async () => {
      const selection = '{totalCount items{id} pageInfo{endCursor}}';
      for (const query of [
        `{folder{descendants(after: "bad")${selection}}}`,
        `{search(text: "abc", after: "bad")${selection}}`,
      ]) {
        const { errors } = await tree.body(query);
        assert.equal(errors?.length, 1, query);
        assert.equal(errors[0]!.extensions.code, 'BAD_INPUT');
      }
    });
  });
}
