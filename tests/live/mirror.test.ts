/** Random changes of the tree, of rights and of people, and mirrors of what each of them sees. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { databaseKinds, roundsOn } from '../databases.ts';
import { againBy } from '../fuzz/subject.ts';
import { lengthOf } from '../run-length.ts';
import { describeFailure, operationsOf, runOperations } from './mirror-run.ts';

for (const kind of databaseKinds) {
  const steps = roundsOn(kind, lengthOf({ short: 100, long: 300 }));
  describe(`mirrors of the tree on ${kind.name}`, () => {
    for (const seed of [1, 2, 3]) {
      test(`have what a fresh read shows, and nothing else was told, in ${steps} random operations of seed ${seed}`, async () => {
        const { failure } = await runOperations(kind, operationsOf(seed, steps));
        const again = `To try it again: ${againBy('live', seed, steps)}`;
        assert.ok(!failure, failure && `${describeFailure(failure)}\n${again}`);
      });
    }
  });
}
