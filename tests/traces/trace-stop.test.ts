/** Node processes that send traces: how they stop without a collector, and which worker their spans name. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sqlite } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { administrator, NodeProcess } from '../many-nodes/node-process.ts';
import { WorkersTestbed } from '../workers/workers-testbed.ts';
import { TraceCollector } from './trace-collector.ts';

/** Returns the log lines about traces of each worker or of the only process. */
function readTraceLines({ log }: NodeProcess) {
  interface LogLine {
    readonly worker?: number;
    readonly msg: string;
    readonly spans?: number;
  }
  const lines = log.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as LogLine).filter(({ msg }) => /\btraces /i.test(msg));
}

test('a node whose collector refuses connections exits with 0 and logs the number of lost spans', async () => {
  const database = await sqlite.createForServer();
  const settings = { TRACES_URL: 'http://127.0.0.1:9/v1/traces' };
  const node = await NodeProcess.start({ databaseUrl: database.url, settings });
  try {
    const login = await fetch(`${node.url}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(administrator),
    });
    assert.equal(login.status, 200);
    assert.equal(await node.stop(), true);
    assert.match(node.output, /\nStopped\.\n$/);
    const [unreachableLine, lossLine] = readTraceLines(node);
    assert.equal(
      unreachableLine?.msg,
      'Traces cannot be sent and are dropped. Check the collector and ESPALIER_TRACES_URL.',
    );
    assert.equal(lossLine?.msg, 'Some traces were lost, because the collector did not accept them.');
    // At least the request and the statements of a login.
    assert.ok(lossLine.spans! >= 4);
  } finally {
    await node.kill();
    await database.remove();
  }
});

test('two workers name themselves in spans, and do not wait for a silent collector when they stop', async () => {
  const collector = await TraceCollector.start();
  const testbed = await WorkersTestbed.start(sqlite, { TRACES_URL: collector.url });
  const { node } = testbed;
  try {
    const { authToken } = await testbed.logIn();
    await testbed.connectToEach(authToken);
    const querySpans = () => collector.spans.filter(({ name }) => name === 'POST /graphql');
    const workers = () => new Set(querySpans().map(({ resource }) => resource['espalier.worker']));
    await eventually(() => workers().size === 2, 'spans of both workers');
    assert.deepEqual([...workers()].sort(), [1, 2]);
    const instances = new Set(
      querySpans().map(({ resource }) => `${resource['espalier.worker']} ${resource['service.instance.id']}`),
    );
    assert.equal(instances.size, 2);

    collector.isSilent = true;
    await testbed.connectToEach(authToken);
    assert.equal(await node.stop(), true);
    assert.match(node.output, /\nStopped\.\n$/);
    const lines = readTraceLines(node);
    for (const worker of [1, 2]) {
      const workerLines = lines.filter((line) => line.worker === worker);
      assert.deepEqual(
        workerLines.map(({ msg }) => msg),
        [
          'Traces cannot be sent and are dropped. Check the collector and ESPALIER_TRACES_URL.',
          'Some traces were lost, because the collector did not accept them.',
        ],
      );
      assert.ok(workerLines[1]!.spans! > 0);
    }
  } finally {
    await testbed.stop();
    await collector.stop();
  }
});
