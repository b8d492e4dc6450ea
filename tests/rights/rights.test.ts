/**
 * Compares the responses to concurrent actors with a simple model of rights.
 * `npm run lab -- fuzz rights --steps 10000` runs longer.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { selectLength } from '../support/run-length.ts';
import { runRights } from './rights-run.ts';
import { listTopologies } from './rights-subject.ts';

const steps = selectLength({ short: 150, long: 300 });

for (const kind of databaseKinds) {
  describe(`rights under concurrency on ${kind.name}`, () => {
    for (const [title, topology] of listTopologies(kind)) {
      test(`agree with the model, with ${title}`, async () => {
        const result = await runRights({ kind, ...topology, seed: 1, steps });
        assert.equal(result.difference, undefined);
        assert.ok(result.observations > steps / 2 && result.events > 0, JSON.stringify(result));
      });
    }
  });
}
