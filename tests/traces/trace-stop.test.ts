/** Real processes that send traces: how they end when nobody takes them, and who of several workers they are of. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sqlite } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { administrator, NodeProcess } from '../many-nodes/node-process.ts';
import { WorkersBed } from '../workers/workers-bed.ts';
import { TraceCollector } from './trace-collector.ts';

/** The lines about traces, of each worker or of the only process. */
function told({ log }: NodeProcess) {
  interface Line {
    readonly worker?: number;
    readonly msg: string;
    readonly spans?: number;
  }
  const lines = log.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as Line).filter(({ msg }) => msg.startsWith('traces '));
}

test('a node whose collector refuses connections ends with 0, and says how many spans were lost', async () => {
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
    const [away, lost] = told(node);
    assert.equal(away?.msg, 'traces cannot be sent, and are dropped');
    assert.equal(lost?.msg, 'traces were lost: they could not be sent');
    // The request, and what a login reads and writes at the least.
    assert.ok(lost.spans! >= 4);
  } finally {
    await node.kill();
    await database.remove();
  }
});

test('spans of two workers say whose they are; a collector that never answers holds none of them', async () => {
  const collector = await TraceCollector.start();
  const bed = await WorkersBed.start(sqlite, { TRACES_URL: collector.url });
  const { node } = bed;
  try {
    const { authToken } = await bed.logIn();
    await bed.connectToEach(authToken);
    const asked = () => collector.spans.filter(({ name }) => name === 'POST /graphql');
    const workers = () => new Set(asked().map(({ resource }) => resource['espalier.worker']));
    await eventually(() => workers().size === 2, 'spans of both');
    assert.deepEqual([...workers()].sort(), [1, 2]);
    const instances = new Set(
      asked().map(({ resource }) => `${resource['espalier.worker']} ${resource['service.instance.id']}`),
    );
    assert.equal(instances.size, 2);

    collector.isSilent = true;
    await bed.connectToEach(authToken);
    assert.equal(await node.stop(), true);
    assert.match(node.output, /\nStopped\.\n$/);
    const lines = told(node);
    for (const worker of [1, 2]) {
      const own = lines.filter((line) => line.worker === worker);
      assert.deepEqual(
        own.map(({ msg }) => msg),
        ['traces cannot be sent, and are dropped', 'traces were lost: they could not be sent'],
      );
      assert.ok(own[1]!.spans! > 0);
    }
  } finally {
    await bed.stop();
    await collector.stop();
  }
});
