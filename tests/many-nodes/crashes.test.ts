/** Killing a node loses no acknowledged change. `npm run lab -- crashes` kills it a hundred times. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sqlite } from '../support/databases.ts';
import { selectLength } from '../support/run-length.ts';
import { runCrashes } from './chaos/crashes.ts';

const kills = selectLength({ short: 3, long: 5 });

describe(`a node under load on ${sqlite.name}`, () => {
  test(`loses no acknowledged change when it is killed ${kills} times`, async (t) => {
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
      'spent tokens tried again at the end',
      'ended sessions tried again at the end',
    ]) {
      assert.ok(tally.counts.get(name)! > 0, `the run counted no ${name}`);
    }
  });
});
