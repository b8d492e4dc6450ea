/** Watched trees on a server with random changes between any two responses. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { watchTree, type WatchedTree } from '../../client/src/tree/watched-tree.ts';
import { selectLength } from '../support/run-length.ts';
import { ModelServer, operations } from './model-server.ts';

/** Asserts that every folder is reachable from the watched folder exactly once. */
function assertIsTree(watched: WatchedTree): void {
  const seen = new Set<string>();
  const walk = (id: string, parentId: string | null | undefined) => {
    assert.ok(!seen.has(id) && watched.get(id)!.parentId === parentId, id);
    seen.add(id);
    for (const child of watched.children(id)) walk(child.id, id);
  };
  if (watched.root) walk(watched.root.id, watched.root.parentId);
  assert.equal(seen.size, watched.size);
}

async function assertValidAfterEachChange(watched: WatchedTree): Promise<void> {
  let failure: unknown;
  watched.onChange(() => {
    try {
      assertIsTree(watched);
    } catch (error) {
      failure ??= error;
    }
  });
  await watched.closed;
  if (failure) throw failure as Error;
}

function listSubtree(watched: WatchedTree, id: string): unknown[] {
  return [watched.get(id), ...watched.children(id).flatMap((child) => listSubtree(watched, child.id))];
}

async function waitUntilCaughtUp(watched: WatchedTree, server: ModelServer): Promise<void> {
  while (watched.cursor !== server.head) await new Promise(setImmediate);
}

describe('a watched tree', () => {
  const runs = selectLength({ short: { incremental: 5, all: 2 }, long: { incremental: 25, all: 8 } });
  for (const name of ['incremental', 'all'] as const) {
    test(`is a valid tree after each change, and finally equals the tree of the server, with ${name} operations`, async () => {
      const operationLists = fc.array(operations[name], { minLength: 100, maxLength: 200, size: 'max' });
      await fc.assert(
        fc.asyncProperty(operationLists, fc.integer({ min: 2, max: 12 }), async (changes, pageSize) => {
          const server = new ModelServer(changes);
          const watched = await watchTree(server.client, { pageSize });
          assertIsTree(watched);
          const validity = assertValidAfterEachChange(watched);
          await waitUntilCaughtUp(watched, server);
          assert.deepEqual(listSubtree(watched, '1'), server.subtree('1'));
          watched.close();
          await validity;
        }),
        { numRuns: runs[name], endOnFailure: true },
      );
    });
  }
});
