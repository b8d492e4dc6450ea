/**
 * Random changes, reads and paging by several users, compared with a simple model of the tree and its grants;
 * `npm run fuzz -- tree --steps 10000` does it for longer.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { databaseKinds, roundsOn } from '../databases.ts';
import { againBy } from '../fuzz/subject.ts';
import { describeFailure, operationsOf, runOperations } from './random-run.ts';

for (const kind of databaseKinds) {
  const steps = roundsOn(kind, 1_000);
  describe(`the tree on ${kind.name}`, () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      test(`is what the model says after each of ${steps} random operations of seed ${seed}`, async () => {
        const { failure } = await runOperations(kind, operationsOf(seed, steps));
        const again = `To try it again: ${againBy('tree', seed, steps)}`;
        assert.ok(!failure, failure && `${describeFailure(failure)}\n${again}`);
      });
    }
  });
}
