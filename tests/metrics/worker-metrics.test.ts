/** Several workers tell Prometheus as one, at one port. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sqlite } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { WorkersBed } from '../workers/workers-bed.ts';
import { Scrape } from './scrape.ts';

test('what two workers have counted is told as one number', async () => {
  const bed = await WorkersBed.start(sqlite, { METRICS_PORT: '0', LOG_LEVEL: 'debug' });
  const stopped: number[] = [];
  try {
    const [, metricsUrl] = /Metrics +(\S+)/.exec(bed.node.output)!;
    const { authToken } = await bed.logIn();
    const query = JSON.stringify({ query: '{folder{name}}' });
    const head = `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer ${authToken}\r\nContent-Length: ${query.length}\r\n\r\n`;
    const before = await Scrape.of(metricsUrl!);
    const labels = { method: 'POST', route: '/graphql', status: '200' };
    const answered = (scrape: Scrape) => scrape.number('espalier_http_request_duration_seconds', labels) ?? 0;
    for (const connection of await bed.connectToEach(authToken)) {
      for (let times = 0; times < 2; times++) {
        assert.equal((await connection.exchange(head + query))?.status, 200);
      }
    }
    const after = await Scrape.of(metricsUrl!);
    // To find one connection to each, some queries are needed: at least one for each.
    assert.ok(answered(after) - answered(before) >= 6);
    assert.equal(after.number('espalier_workers'), 2);
    assert.equal(after.number('espalier_build_info'), 1);
    assert.equal(after.number('espalier_ready'), 1);
    assert.equal(after.number('espalier_logins_total', { outcome: 'ok' }), 1);

    await eventually(() => bed.processes.length === 2, 'both have logged something');
    const [one, two] = bed.processes;
    stopped.push(one!, two!);
    process.kill(one!, 'SIGSTOP');
    const late = await Scrape.of(metricsUrl!);
    assert.ok(answered(late) >= answered(after), 'what one that hangs has counted is not forgotten');
    process.kill(two!, 'SIGSTOP');
    assert.equal((await fetch(metricsUrl!)).status, 500);
    process.kill(two!, 'SIGCONT');

    process.kill(one!, 'SIGKILL');
    await bed.node.waitForOutput('a worker serves again');
    // They may be too busy to answer at first.
    const isBoth = () =>
      Scrape.of(metricsUrl!).then(
        (scrape) => scrape.number('espalier_workers') === 2,
        () => false,
      );
    await eventually(isBoth, 'both answer');
    const replaced = await Scrape.of(metricsUrl!);
    assert.ok(answered(replaced) >= answered(after), 'nor what one that has ended had counted');
    assert.equal(replaced.number('espalier_logins_total', { outcome: 'ok' }), 1);
  } finally {
    // Else they would outlive the node, and hold its output open.
    for (const each of stopped) ignoringGone(() => process.kill(each, 'SIGCONT'));
    await bed.stop();
  }
});

function ignoringGone(work: () => void): void {
  try {
    work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
