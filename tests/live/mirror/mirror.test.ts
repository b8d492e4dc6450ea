/** Random changes of the tree, of rights and of people, with mirrors for each person. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { databaseKinds, scaleRounds } from '../../support/databases.ts';
import { formatCommand } from '../../fuzz/subject.ts';
import { selectLength } from '../../support/run-length.ts';
import { describeFailure, generateOperations, runOperations } from './mirror-run.ts';

for (const kind of databaseKinds) {
  const steps = scaleRounds(kind, selectLength({ short: 60, long: 300 }));
  describe(`mirrors of the tree on ${kind.name}`, () => {
    for (const seed of [1, 2, 3]) {
      test(`equal a fresh read after ${steps} random operations of seed ${seed}, and receive no hidden folder`, async () => {
        const { failure } = await runOperations(kind, generateOperations(seed, steps));
        const hint = `To reproduce this: ${formatCommand('live', seed, steps)}`;
        assert.ok(!failure, failure && `${describeFailure(failure)}\n${hint}`);
      });
    }
  });
}
