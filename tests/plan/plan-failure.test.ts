/** A query plan that fails unexpectedly: the client gets the right answer, and the operator learns of it. */

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { InstantWriter } from '../../server/src/graph/plan/json-text.ts';
import { databaseKinds } from '../support/databases.ts';
import { Scrape } from '../metrics/scrape.ts';
import { Testbed } from '../support/testbed.ts';

for (const kind of databaseKinds) {
  test(`a query plan that fails on ${kind.name} is logged and counted once, and graphql-js answers`, async (context) => {
    const bed = await Testbed.start(kind, { settings: { METRICS_PORT: '0' }, mayPlansFail: true });
    context.after(() => bed.stop());
    const { authToken } = await bed.logIn();
    const ask = async () => (await bed.query('{folder{name createdAt folders{totalCount}}}', authToken)).text;
    const failures = async () =>
      (await Scrape.of(bed.metricsUrl!)).number('espalier_query_plan_failures_total');
    const first = await ask();
    assert.equal(await ask(), first);
    assert.equal(await failures(), 0);

    const failing = mock.method(InstantWriter.prototype, 'write', () => {
      throw new TypeError('injected');
    });
    assert.equal(await ask(), first);
    failing.mock.restore();

    assert.equal(await failures(), 1);
    const lines = bed.logLines.filter((line) => line.includes('a query plan failed'));
    assert.equal(lines.length, 1);
    assert.match(lines[0]!, /injected/);
    assert.equal(await ask(), first);
    assert.equal(await failures(), 1);
  });
}
