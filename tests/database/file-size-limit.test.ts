/**
 * A server under a file size limit (`ulimit -f`), as operators and service managers set it. It keeps running and
 * reports the cause.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse, ProbeResponse } from '@espalier/contract';
import { sqlite, type TestDatabase } from '../support/databases.ts';
import { runEspalier } from '../support/espalier-command.ts';
import { findFreePort } from '../support/free-port.ts';
import { mutation } from '../support/graph-testbed.ts';
import { administrator, NodeProcess } from '../many-nodes/node-process.ts';
import { Scrape } from '../metrics/scrape.ts';

const summary = 'The database has reached the file size limit of its process.';
const maxFileKilobytes = 400;

describe('a file size limit on SQLite', () => {
  let database: TestDatabase;
  before(async () => void (database = await sqlite.create()));
  after(() => database.remove());

  const post = async (node: NodeProcess, path: string, body: unknown, authToken = '') => {
    const answer = await fetch(node.url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(authToken && { authorization: `Bearer ${authToken}` }),
      },
      body: JSON.stringify(body),
    });
    return { status: answer.status, text: await answer.text() };
  };

  test('stops the first start with an error line that names the limit', async () => {
    const { code, errors } = await runEspalier(['serve'], {
      environment: { ESPALIER_DATABASE_URL: database.url, ESPALIER_PORT: '0' },
      maxFileBytes: 100 * 1024,
    });
    assert.equal(code, 1);
    assert.match(
      errors,
      /cannot be prepared: disk I\/O error\. The database has reached the file size limit/,
    );
  });

  test('is reported by probe, metrics, log and doctor after an import reaches it', async (t) => {
    const firstNode = await NodeProcess.start({ databaseUrl: database.url });
    assert.ok(await firstNode.stop());
    const metricsPort = await findFreePort();
    const node = await NodeProcess.start({
      databaseUrl: database.url,
      maxFileKilobytes,
      settings: { METRICS_PORT: String(metricsPort) },
    });
    t.after(() => node.kill());
    const { authToken } = JSON.parse((await post(node, '/login', administrator)).text) as LoginResponse;
    const folders = Array.from({ length: 3_000 }, (_, index) => ({ name: `Room ${index}` }));
    const importAll = () =>
      post(
        node,
        '/graphql',
        {
          query: mutation('importFolders', 'folderCount'),
          variables: { input: { tree: [{ name: 'House', folders }] } },
        },
        authToken,
      );
    const response = await importAll();
    assert.equal(response.status, 503);
    assert.ok(response.text.includes(summary), response.text);
    const probe = async () => {
      const answer = await fetch(`${node.url}/readyz?verbose`);
      assert.equal(answer.status, 200);
      return (await answer.json()) as ProbeResponse;
    };
    const { checks, reasons } = await probe();
    assert.equal(checks!['writes'], 'failed');
    assert.deepEqual(reasons, { writes: summary });
    const scrape = await Scrape.of(`http://127.0.0.1:${metricsPort}/metrics`);
    assert.equal(scrape.number('espalier_check_ok', { check: 'writes' }), 0);
    assert.equal(scrape.number('espalier_write_failures_total', { reason: 'file_size_limit' }), 1);
    await node.waitForOutput(
      `Changes fail: ${summary} (SQLITE_IOERR_WRITE: disk I/O error.) Raise the limit`,
    );
    const doctor = await runEspalier(['doctor', '--url', node.url], {
      environment: { ESPALIER_DATABASE_URL: database.url },
    });
    assert.equal(doctor.code, 1);
    assert.ok(doctor.output.includes(`Changes and logins fail: ${summary}`), doctor.output);

    execFileSync('prlimit', ['--pid', String(node.pid), '--fsize=unlimited:']);
    assert.equal((await importAll()).status, 200);
    const { checks: laterChecks, reasons: laterReasons } = await probe();
    assert.deepEqual([laterChecks!['writes'], laterReasons], ['ok', undefined]);
    assert.ok(await node.stop());
  });
});
