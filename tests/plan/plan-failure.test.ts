/**
 * If a query plan fails unexpectedly, the client gets the right response, and the server logs and counts the
 * failure.
 */

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { InstantWriter } from '../../server/src/graph/plan/plan-run.ts';
import { databaseKinds } from '../support/databases.ts';
import { Scrape } from '../metrics/scrape.ts';
import { Testbed } from '../support/testbed.ts';

for (const kind of databaseKinds) {
  test(`a failing query plan is logged and counted once, and graphql-js returns the response, on ${kind.name}`, async (context) => {
    const testbed = await Testbed.start(kind, { settings: { METRICS_PORT: '0' }, mayPlansFail: true });
    context.after(() => testbed.stop());
    const { authToken } = await testbed.logIn();
    const execute = async () =>
      (await testbed.query('{folder{name createdAt folders{totalCount}}}', authToken)).text;
    const failures = async () =>
      (await Scrape.of(testbed.metricsUrl!)).number('espalier_query_plan_failures_total');
    const first = await execute();
    assert.equal(await execute(), first);
    assert.equal(await failures(), 0);

    const failing = mock.method(InstantWriter.prototype, 'write', () => {
      throw new TypeError('injected');
    });
    assert.equal(await execute(), first);
    failing.mock.restore();

    assert.equal(await failures(), 1);
    const lines = testbed.logLines.filter((line) => line.includes('A query plan failed'));
    assert.equal(lines.length, 1);
    assert.match(lines[0]!, /injected/);
    assert.equal(await execute(), first);
    assert.equal(await failures(), 1);
  });
}
