/** Random logins, refreshes, logouts and all that can happen to a token, compared with a model of the contract's state table. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { againBy } from '../fuzz/subject.ts';
import { selectLength } from '../support/run-length.ts';
import { describeFailure, operationsOf, runOperations } from './token-run.ts';

const steps = selectLength({ short: 100, long: 200 });

for (const kind of databaseKinds) {
  describe(`tokens on ${kind.name}`, () => {
    // One of each window in which a refresh can be repeated: none, a short one, a long one.
    for (const seed of [3, 4, 5]) {
      test(`get what the model says in each of ${steps} random operations of seed ${seed}`, async () => {
        const { failure } = await runOperations(kind, operationsOf(seed, steps));
        const again = `To try it again: ${againBy('tokens', seed, steps)}`;
        assert.ok(!failure, failure && `${describeFailure(failure)}\n${again}`);
      });
    }
  });
}
