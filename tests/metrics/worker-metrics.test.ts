/** Several workers report their metrics at one port. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sqlite } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { WorkersTestbed } from '../workers/workers-testbed.ts';
import { Scrape } from './scrape.ts';

test('one port reports the sum of the metrics of two workers', async () => {
  const testbed = await WorkersTestbed.start(sqlite, { METRICS_PORT: '0', LOG_LEVEL: 'debug' });
  const suspendedPids: number[] = [];
  try {
    const [, metricsUrl] = /Metrics +(\S+)/.exec(testbed.node.output)!;
    const { authToken } = await testbed.logIn();
    const query = JSON.stringify({ query: '{folder{name}}' });
    const head = `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer ${authToken}\r\nContent-Length: ${query.length}\r\n\r\n`;
    const before = await Scrape.of(metricsUrl!);
    const labels = { method: 'POST', route: '/graphql', status: '200' };
    const countResponses = (scrape: Scrape) =>
      scrape.number('espalier_http_request_duration_seconds', labels) ?? 0;
    for (const connection of await testbed.connectToEach(authToken)) {
      for (let times = 0; times < 2; times++) {
        assert.equal((await connection.exchange(head + query))?.status, 200);
      }
    }
    const after = await Scrape.of(metricsUrl!);
    // `connectToEach` sends at least one query to each worker, in addition to the four above.
    assert.ok(countResponses(after) - countResponses(before) >= 6);
    assert.equal(after.number('espalier_workers'), 2);
    assert.equal(after.number('espalier_build_info'), 1);
    assert.equal(after.number('espalier_ready'), 1);
    assert.equal(after.number('espalier_logins_total', { outcome: 'ok' }), 1);

    await eventually(() => testbed.workerPids.length === 2, 'both workers have written a log line');
    const [one, two] = testbed.workerPids;
    suspendedPids.push(one!, two!);
    process.kill(one!, 'SIGSTOP');
    const scrapeWithoutWorker = await Scrape.of(metricsUrl!);
    assert.ok(
      countResponses(scrapeWithoutWorker) >= countResponses(after),
      'the counts of a suspended worker are kept',
    );
    process.kill(two!, 'SIGSTOP');
    assert.equal((await fetch(metricsUrl!)).status, 500);
    process.kill(two!, 'SIGCONT');

    process.kill(one!, 'SIGKILL');
    await testbed.node.waitForOutput('a worker is ready again');
    // The workers may be too busy to respond at first.
    const areBothCounted = () =>
      Scrape.of(metricsUrl!).then(
        (scrape) => scrape.number('espalier_workers') === 2,
        () => false,
      );
    await eventually(areBothCounted, 'both workers respond');
    const laterScrape = await Scrape.of(metricsUrl!);
    assert.ok(countResponses(laterScrape) >= countResponses(after), 'the counts of an ended worker are kept');
    assert.equal(laterScrape.number('espalier_logins_total', { outcome: 'ok' }), 1);
  } finally {
    // A suspended worker would outlive the node and hold its output open.
    for (const each of suspendedPids) ignoreMissingProcess(() => process.kill(each, 'SIGCONT'));
    await testbed.stop();
  }
});

function ignoreMissingProcess(work: () => void): void {
  try {
    work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
