/** Killing nodes and restarting the database loses no acknowledged change. `npm run lab -- chaos` runs longer. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { postgres } from '../support/databases.ts';
import { selectLength } from '../support/run-length.ts';
import { runChaos } from './chaos/faults.ts';

const nodes = selectLength({ short: 2, long: 3 });
const timeout = selectLength({ short: 180_000, long: 600_000 });

describe(`${nodes} nodes under load on ${postgres.name}`, { timeout }, () => {
  test(
    'keep every acknowledged change when each node is killed and the database stops and crashes',
    { timeout },
    async (t) => {
      const { violations, tally } = await runChaos({
        nodes,
        rounds: 1,
        restarts: 2,
        isThorough: false,
        pauseMs: 500,
        seed: 5,
      });
      t.diagnostic(tally.summary().replaceAll('\n', '; '));
      assert.deepEqual(violations, []);
      for (const name of [
        'changes of folders acknowledged',
        'refreshes acknowledged',
        'sessions ended',
        'reads',
      ]) {
        assert.ok(tally.counts.get(name)! > 0, `the run counted no ${name}`);
      }
    },
  );
});
