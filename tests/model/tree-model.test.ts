/**
 * Random changes, reads and paging by several users, compared with a simple model of the tree and its grants.
 * `npm run test:long` and `npm run lab -- fuzz tree --steps 10000` run longer.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { databaseKinds, scaleRounds } from '../support/databases.ts';
import { formatCommand } from '../fuzz/subject.ts';
import { selectLength } from '../support/run-length.ts';
import { describeFailure, generateOperations, runOperations } from './random-run.ts';

const seeds = selectLength({ short: [1, 2, 3], long: [1, 2, 3, 4, 5] });

for (const kind of databaseKinds) {
  const steps = scaleRounds(kind, selectLength({ short: 250, long: 1_000 }));
  describe(`the tree on ${kind.name}`, () => {
    for (const seed of seeds) {
      test(`equals the model after each of ${steps} random operations of seed ${seed}`, async () => {
        const { failure } = await runOperations(kind, generateOperations(seed, steps));
        const again = `To reproduce this: ${formatCommand('tree', seed, steps)}`;
        assert.ok(!failure, failure && `${describeFailure(failure)}\n${again}`);
      });
    }
  });
}
