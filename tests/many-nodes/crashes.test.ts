/** A node that is killed loses nothing that was acknowledged; `npm run crashes` does it a hundred times. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sqlite } from '../databases.ts';
import { lengthOf } from '../run-length.ts';
import { runCrashes } from './chaos/crashes.ts';

const kills = lengthOf({ short: 3, long: 5 });

describe(`a node under load on ${sqlite.name}`, () => {
  test(`it is killed ${kills} times, and nothing that was acknowledged is lost or undone`, async (t) => {
    const { violations, tally } = await runCrashes({ kills, nodes: 1, seed: 8 });
    t.diagnostic(tally.summary().replaceAll('\n', '; '));
    assert.deepEqual(violations, []);
    assert.equal(tally.counts.get('nodes killed'), kills);
    for (const name of [
      'changes of folders acknowledged',
      'changes of people acknowledged',
      'people disabled',
      'refreshes acknowledged',
      'sessions ended',
      'spent pairs tried again at the end',
      'ended sessions tried again at the end',
    ]) {
      assert.ok(tally.counts.get(name)! > 0, `${name}: none`);
    }
  });
});
