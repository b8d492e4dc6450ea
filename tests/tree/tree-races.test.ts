/** Concurrent changes of the tree, through one server and through two servers on the same database. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { databaseKinds } from '../support/databases.ts';
import type { Variables } from '../support/graph-testbed.ts';
import { selectLength } from '../support/run-length.ts';
import { TreeTestbed } from './tree-testbed.ts';

const rounds = selectLength({ short: 8, long: 25 });

/** Counts how often each outcome occurs. */
function countOutcomes(outcomes: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

for (const kind of databaseKinds) {
  for (const servers of [1, 2]) {
    describe(`races on ${kind.name} with ${servers === 1 ? 'one server' : 'two servers'}`, () => {
      const trees: TreeTestbed[] = [];
      let tree: TreeTestbed;
      let rootId: string;

      before(async () => {
        tree = await TreeTestbed.start(kind);
        trees.push(tree);
        const { database, clock } = tree.server;
        while (trees.length < servers) trees.push(await TreeTestbed.start(kind, { database, clock }));
        rootId = await tree.idOf('/');
      });
      after(async () => {
        for (const each of trees.toReversed()) await each.stop();
      });

      /** Sends all changes concurrently, and alternates between the servers. */
      const race = (changes: readonly (readonly [name: string, input: Variables])[]) =>
        Promise.all(changes.map(([name, input], index) => trees[index % servers]!.outcome(name, input)));

      test('let exactly one of two moves win if both together would create a cycle', async () => {
        const [one, other] = [await tree.create('One'), await tree.create('Other')];
        for (let round = 0; round < rounds; round++) {
          const outcomes = await race([
            ['moveFolder', { id: one, parentId: other }],
            ['moveFolder', { id: other, parentId: one }],
          ]);
          assert.deepEqual(countOutcomes(outcomes), { OK: 1, CYCLE: 1 });
          const [moved, parent] = outcomes[0] === 'OK' ? [one, other] : [other, one];
          assert.deepEqual(await tree.find(moved, 'parent{id} depth'), { parent: { id: parent }, depth: 2 });
          await tree.move(moved, rootId);
        }
        assert.deepEqual((await tree.paths()).toSorted(), ['One', 'Other']);
      });

      test('let exactly two of three moves win if all three would create a cycle', async () => {
        const ids = [await tree.create('A'), await tree.create('B'), await tree.create('C')];
        for (let round = 0; round < rounds; round++) {
          const moves = ids.map(
            (id, index) => ['moveFolder', { id, parentId: ids[(index + 1) % 3] }] as const,
          );
          assert.deepEqual(countOutcomes(await race(moves)), { OK: 2, CYCLE: 1 });
          for (const id of ids) await tree.move(id, rootId);
        }
      });

      test('create exactly one of 20 folders with the same name', async () => {
        const parentId = await tree.create('Same');
        const outcomes = await race(
          Array.from({ length: 20 }, (_, index) => [
            'createFolder',
            { parentId, name: index % 2 ? 'Caf\u00e9' : 'Cafe\u0301' },
          ]),
        );
        assert.deepEqual(countOutcomes(outcomes), { OK: 1, CONFLICT: 19 });
        assert.deepEqual(await tree.paths(parentId), ['Café']);
        assert.deepEqual(await tree.find(parentId, 'folders{totalCount}'), { folders: { totalCount: 1 } });
      });

      test('apply exactly one of 20 updates that expect the same version', async () => {
        const id = await tree.create('Versioned');
        for (let version = 1; version <= 5; version++) {
          const outcomes = await race(
            Array.from({ length: 20 }, (_, index) => [
              'updateFolder',
              { id, title: `${version}.${index}`, expectedVersion: version },
            ]),
          );
          assert.deepEqual(countOutcomes(outcomes), { OK: 1, CONFLICT: 19 });
          const winner = outcomes.indexOf('OK');
          assert.deepEqual(await tree.find(id, 'title version'), {
            title: `${version}.${winner}`,
            version: version + 1,
          });
        }
      });

      test('let exactly one of several imports, moves, renames and restores to the same name win', async () => {
        for (let round = 0; round < rounds; round++) {
          const parentId = await tree.create(`Contested ${round}`);
          const away = await tree.create(`Away ${round}`);
          const moved = await tree.create('Prize', away);
          const renamed = await tree.create('Second', parentId);
          const deleted = await tree.create('Prize', parentId);
          await tree.delete(deleted);
          const outcomes = await race([
            ['importFolders', { parentId, list: [{ path: 'Prize/inside' }] }],
            ['moveFolder', { id: moved, parentId }],
            ['updateFolder', { id: renamed, name: 'Prize' }],
            ['restoreFolder', { id: deleted }],
            ['createFolder', { parentId, name: 'Prize' }],
          ]);
          assert.deepEqual(countOutcomes(outcomes), { OK: 1, CONFLICT: 4 });
          const names = (await tree.paths(parentId)).filter((path) => !path.includes('/'));
          assert.equal(names.filter((name) => name === 'Prize').length, 1);
          const { totalCount } = (await tree.find<{ folders: { totalCount: number } }>(
            parentId,
            'folders{totalCount}',
          ))!.folders;
          assert.equal(totalCount, names.length);
        }
      });

      test('either delete an empty folder or create a subfolder in it', async () => {
        for (let round = 0; round < rounds; round++) {
          const parentId = await tree.create(`Brim ${round}`);
          const [deleted, created] = await race([
            ['deleteFolder', { id: parentId }],
            ['createFolder', { parentId, name: 'Drop' }],
          ]);
          const expected = deleted === 'OK' ? ['OK', 'NOT_FOUND'] : ['CONFLICT', 'OK'];
          assert.deepEqual([deleted, created], expected);
          assert.equal((await tree.find(parentId, 'id')) === null, deleted === 'OK');
        }
      });

      test('delete a new subfolder with its parent, or do not create it', async () => {
        for (let round = 0; round < rounds; round++) {
          const id = await tree.create(`Tide ${round}`);
          const creations = Array.from(
            { length: 6 },
            (_, index) => ['createFolder', { parentId: id, name: `Wave ${index}` }] as const,
          );
          const outcomes = await race([
            ...creations.slice(0, 3),
            ['deleteFolder', { id, recursive: true }],
            ...creations.slice(3),
          ]);
          assert.equal(outcomes.splice(3, 1)[0], 'OK');
          await tree.mutate('restoreFolder', { id });
          const expected = outcomes.flatMap((outcome, index) => (outcome === 'OK' ? [`Wave ${index}`] : []));
          assert.deepEqual(await tree.paths(id), expected);
        }
      });

      test('delete a folder once, and restore it once', async () => {
        const id = await tree.create('Once');
        const times = <T>(item: T) => Array.from({ length: 10 }, () => item);
        assert.deepEqual(countOutcomes(await race(times(['deleteFolder', { id }]))), { OK: 1, NOT_FOUND: 9 });
        assert.deepEqual(countOutcomes(await race(times(['restoreFolder', { id }]))), {
          OK: 1,
          NOT_FOUND: 9,
        });
        assert.equal(await tree.version(id), 3);
      });

      test('leave every stored count equal to the number of listed folders', async () => {
        const top = await tree.create('Storm');
        const ids = await Promise.all(
          Array.from({ length: 12 }, (_, index) => tree.create(`Gust ${index}`, top)),
        );
        const id = fc.constantFrom(...ids);
        const parentId = fc.constantFrom(top, ...ids);
        const name = fc.constantFrom('u', 'v', 'w');
        const change = fc.oneof(
          fc.tuple(fc.constant('createFolder'), fc.record({ parentId, name })),
          fc.tuple(fc.constant('updateFolder'), fc.record({ id, name })),
          fc.tuple(fc.constant('moveFolder'), fc.record({ id, parentId })),
          fc.tuple(fc.constant('deleteFolder'), fc.record({ id, recursive: fc.boolean() })),
          fc.tuple(fc.constant('restoreFolder'), fc.record({ id })),
          fc.tuple(fc.constant('restoreFolder'), fc.record({ id, parentId, name })),
          fc.tuple(
            fc.constant('importFolders'),
            fc.record({ parentId, tree: fc.constant([{ name: 'v', folders: [{ name: 'u' }] }]) }),
          ),
        );
        const expectedOutcomes = ['OK', 'CONFLICT', 'CYCLE', 'NOT_FOUND'];
        await fc.assert(
          fc.asyncProperty(fc.array(change, { minLength: 10, maxLength: 30 }), async (changes) => {
            for (const outcome of await race(changes)) assert.ok(expectedOutcomes.includes(outcome), outcome);
            await assertConsistent();
          }),
          { numRuns: selectLength({ short: 8, long: 20 }), endOnFailure: true },
        );
        for (const each of ids) await tree.outcome('restoreFolder', { id: each, parentId: top, name: each });
        await assertConsistent();
        const failures = trees.flatMap(({ server }) =>
          server.logLines.filter((line) => line.includes('failed')),
        );
        assert.deepEqual(failures, []);

        async function assertConsistent(): Promise<void> {
          interface ListedFolder {
            id: string;
            path: string;
            folders: { totalCount: number; items: { id: string }[] };
          }
          const listFields = 'id path folders{totalCount items{id}}';
          const { folder } = await tree.query<{
            folder: ListedFolder & { descendants: { items: ListedFolder[]; totalCount: number } };
          }>(`{folder{${listFields} descendants{totalCount items{${listFields}}}}}`);
          const all = [folder, ...folder.descendants.items];
          for (const { path, folders } of all) assert.equal(folders.totalCount, folders.items.length, path);
          assert.equal(new Set(all.map((each) => each.id)).size, folder.descendants.totalCount + 1);
        }
      });
    });
  }
}
