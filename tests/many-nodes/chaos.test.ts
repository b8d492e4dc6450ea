/** Killed nodes and a restarted database lose nothing that was acknowledged; `npm run chaos` does it for longer. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { postgres } from '../databases.ts';
import { lengthOf } from '../run-length.ts';
import { runChaos } from './chaos/faults.ts';

const nodes = lengthOf({ short: 2, long: 3 });

describe(`${nodes} nodes under load on ${postgres.name}`, { timeout: 600_000 }, () => {
  test(
    'each is killed, the database is stopped and crashes, and all that was acknowledged is there',
    { timeout: 600_000 },
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
        assert.ok(tally.counts.get(name)! > 0, `${name}: none`);
      }
    },
  );
});
