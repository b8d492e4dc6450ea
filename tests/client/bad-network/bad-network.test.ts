/** The client hides the faults of a bad network from its caller. `npm run lab -- chaos-client` runs longer. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { databaseKinds } from '../../support/databases.ts';
import { selectLength } from '../../support/run-length.ts';
import { runOnBadNetwork } from './bad-network-run.ts';

for (const kind of databaseKinds) {
  describe(`the client on a bad network, with auth tokens of two seconds, on ${kind.name}`, () => {
    test('completes every call, applies each change once, and keeps the watched tree up to date', async (t) => {
      const operations = selectLength({ short: 120, long: 300 });
      const tally = await runOnBadNetwork({ kind, operations, seed: 7, percent: 15 });
      t.diagnostic(tally.summary().replaceAll('\n', '; '));
      assert.deepEqual(tally.violations, []);
      for (const name of ['session: refresh', 'network: reply lost', 'network: socket closed']) {
        assert.ok(tally.counts.get(name)! > 0, `${name}: none`);
      }
      assert.equal(tally.counts.get('session: ended'), undefined);
    });
  });
}
