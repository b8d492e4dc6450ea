/**
 * Damaged HTTP, JSON, GraphQL and WebSocket input never causes a 5xx, an error in the log or a leaked secret,
 * and the server keeps working.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { formatCommand } from '../fuzz/subject.ts';
import { selectLength } from '../support/run-length.ts';
import { findings } from './findings.ts';
import type { HostileRequest } from './hostile-request.ts';
import { describeFailure, generateRequests, runRequests } from './requests-run.ts';

const count = selectLength({ short: 480, long: 960 });

for (const kind of databaseKinds) {
  const assertHarmless = async (requests: readonly HostileRequest[], again = '') => {
    const { failure } = await runRequests(kind, requests);
    assert.ok(!failure, failure && `${describeFailure(failure)}\n${again}`);
  };

  describe(`hostile input on ${kind.name}`, () => {
    test(`causes none of the earlier faults: ${findings.map(({ title }) => title).join('; ')}`, () =>
      assertHarmless(findings.flatMap(({ requests }) => requests)));

    for (const seed of [1]) {
      test(`is refused or served in ${count} random requests of seed ${seed}, and the server keeps working`, () =>
        assertHarmless(
          generateRequests(seed, count),
          `To try it again: ${formatCommand('requests', seed, count)}`,
        ));
    }
  });
}
