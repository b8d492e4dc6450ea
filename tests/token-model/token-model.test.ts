/**
 * Random logins, refreshes, logouts and other events, compared with a model of the contract's state table.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { formatCommand } from '../fuzz/subject.ts';
import { selectLength } from '../support/run-length.ts';
import { describeFailure, generateOperations, runOperations } from './token-run.ts';

const steps = selectLength({ short: 100, long: 200 });

for (const kind of databaseKinds) {
  describe(`tokens on ${kind.name}`, () => {
    // One seed for each retry window of a refresh: none, a short one, a long one.
    for (const seed of [3, 4, 5]) {
      test(`get the responses of the model in each of ${steps} random operations of seed ${seed}`, async () => {
        const { failure } = await runOperations(kind, generateOperations(seed, steps));
        const again = `To try it again: ${formatCommand('tokens', seed, steps)}`;
        assert.ok(!failure, failure && `${describeFailure(failure)}\n${again}`);
      });
    }
  });
}
