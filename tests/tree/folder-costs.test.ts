/**
 * The query cost of filters, `skip` and `position`. The server charges before it reads, and the cost depends
 * only on visible folders.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { TreeTestbed } from './tree-testbed.ts';

const maxScanned = 2;
const names = Array.from({ length: 12 }, (_, index) => `Floor ${index + 1}`);

for (const kind of databaseKinds) {
  describe(`the cost of lists and positions on ${kind.name}`, () => {
    let tree: TreeTestbed;
    let house: string;
    const statements: string[] = [];

    before(async () => {
      tree = await TreeTestbed.start(kind, {
        settings: { MAX_SCANNED: String(maxScanned) },
        onStatement: (text) => void statements.push(text),
      });
      house = await tree.create('House');
      await tree.import(names, house);
    });
    after(() => tree.stop());

    const floor = (number: number) => tree.idOf(`/House/Floor ${number}`);
    const readCost = async (selection: string, id: string, authToken?: string) => {
      const query = `query($id: ID){folder(id: $id){${selection}}}`;
      const { extensions } = await tree.readError(query, { id }, authToken);
      const { code, cost } = extensions as { code: string; cost?: number };
      assert.equal(code, 'TOO_EXPENSIVE', selection);
      return cost;
    };

    test('does not reveal hidden folders', async () => {
      const at = await floor(2);
      const reader = await tree.person({ [house]: 'READ', [await floor(3)]: 'NONE' });
      const guest = await tree.person({ [at]: 'READ', [await floor(7)]: 'READ', [await floor(11)]: 'READ' });
      const seen = [
        [tree.authToken, 12],
        [reader.authToken, 11],
        [guest.authToken, 3],
      ] as const;
      for (const [authToken, count] of seen) {
        assert.equal(await readCost('position', at, authToken), count);
        for (const selection of [
          'folders(first: 1, skip: 100){items{name}}',
          'folders(filter: {nameContains: "1"}){items{name}}',
          'folders(filter: {nameContains: "1"}){totalCount}',
        ]) {
          assert.equal(await readCost(selection, house, authToken), count, selection);
        }
      }
      const all = 'folders{items{position}}';
      assert.equal(await readCost(all, house), 12 * 12);
      assert.equal(await readCost(all, house, reader.authToken), 11 * 11);
      assert.equal(await readCost(all, house, guest.authToken), 3, 'a passage is read once');
    });

    test('is charged for all folders of a level before any statement reads their subfolders', async () => {
      const street = await tree.create('Street');
      const inside = ['A', 'B', 'C', 'D'];
      await tree.import(
        inside.flatMap((each) => [`${each}/1`, `${each}/2`, `${each}/3`]),
        street,
      );
      const withChildren = (selection: string) => `folders{items{${selection}}}`;
      statements.length = 0;
      await tree.find(street, withChildren('folders{totalCount}'));
      const ownStatements = [...statements];
      assert.ok(ownStatements.length > 0);
      const costs = {
        'folders(first: 1, skip: 1){items{name}}': 4,
        'folders(first: 1, skip: 9){edges{cursor}}': 12,
        'folders(first: 1, skip: 2){pageInfo{hasPreviousPage}}': 8,
        'folders(filter: {nameContains: "1"}){items{name}}': 12,
        'folders(filter: {nameContains: "1"}){totalCount}': 12,
        'folders(first: 1, skip: 1, filter: {nameContains: "1"}){items{name}}': 16,
      };
      for (const [selection, cost] of Object.entries(costs)) {
        statements.length = 0;
        assert.equal(await readCost(withChildren(selection), street), cost, selection);
        assert.deepEqual(statements, ownStatements, selection);
      }
    });
  });
}
