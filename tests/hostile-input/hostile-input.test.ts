/** Damaged HTTP, JSON, GraphQL and WebSocket input: never a 5xx, never an error in the log, never a secret, and all works on. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { formatCommand } from '../fuzz/subject.ts';
import { selectLength } from '../support/run-length.ts';
import { findings } from './findings.ts';
import type { HostileRequest } from './hostile-request.ts';
import { describeFailure, requestsOf, runRequests } from './requests-run.ts';

const count = selectLength({ short: 480, long: 960 });

for (const kind of databaseKinds) {
  const isHarmless = async (requests: readonly HostileRequest[], again = '') => {
    const { failure } = await runRequests(kind, requests);
    assert.ok(!failure, failure && `${describeFailure(failure)}\n${again}`);
  };

  describe(`hostile input on ${kind.name}`, () => {
    test(`does nothing that it once did: ${findings.map(({ title }) => title).join('; ')}`, () =>
      isHarmless(findings.flatMap(({ requests }) => requests)));

    for (const seed of [1]) {
      test(`in ${count} random requests of seed ${seed} is refused or served, and all works on`, () =>
        isHarmless(requestsOf(seed, count), `To try it again: ${formatCommand('requests', seed, count)}`));
    }
  });
}
