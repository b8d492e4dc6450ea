/** Doctor checks of scheduled backups, the metrics port and the trace collector. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createPlainServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { makeBackup } from '../../../server/src/maintenance/backup/backup.ts';
import { checkBackups } from '../../../server/src/cli/doctor/file-checks.ts';
import { checkSettings, checkTelemetry } from '../../../server/src/cli/doctor/machine-checks.ts';
import { readSettings } from '../../../server/src/config/config.ts';
import { sqlite } from '../../support/databases.ts';
import { findFreePort } from '../../support/free-port.ts';
import { Testbed } from '../../support/testbed.ts';
import { runDoctorCheck } from './doctor-findings.ts';

describe("the doctor's backup check", () => {
  let testbed: Testbed;
  let file: string;
  let folder: string;
  before(async () => {
    testbed = await Testbed.start(sqlite);
    file = testbed.database.url.slice('sqlite:'.length);
  });
  after(() => testbed.stop());
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'espalier-doctor-backups-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const runChecks = (settings: Record<string, string> = {}, url?: string) =>
    runDoctorCheck(checkBackups, {
      settings: { DATABASE_URL: testbed.database.url, BACKUP_FOLDER: folder, ...settings },
      url,
    });
  const createBackup = (day: string) =>
    makeBackup({ from: file, to: join(folder, `espalier-${day}T10-00-00Z.db`), isReplacing: false });

  test('accepts recent and private backups with enough free space', async () => {
    await createBackup('2026-03-02');
    const lines = await runChecks();
    assert.equal(lines.length, 3, lines.join('\n'));
    assert.match(
      lines[0]!,
      /^ok: The newest backup in .* is from 2026-03-02T10:00:00\.000Z, 2 hours ago; the server makes one every 24 hours\.$/,
    );
    assert.match(
      lines[1]!,
      /^ok: [\d,]+ MB are free for backups; the next backup needs [\d.]+ [kM]B, and all 7/,
    );
    assert.equal(lines[2], 'ok: Only their owner can read the backups.');
  });

  test('reports late backups as a problem if a server runs, otherwise as a warning', async () => {
    await createBackup('2026-03-01');
    assert.match(
      (await runChecks())[0]!,
      /^warning: .* 26 hours ago; .* Fix: The server makes the next backup when/,
    );
    assert.match(
      (await runChecks({}, testbed.url))[0]!,
      /^problem: .* 26 hours ago; .* Fix: See the log of the server/,
    );
    assert.match((await runChecks({ BACKUP_EVERY_HOURS: '25' }, testbed.url))[0]!, /^ok: /);
  });

  test('warns that there is no backup yet and creates no folder', async () => {
    const missingFolder = join(folder, 'deep', 'backups');
    const lines = await runChecks({ BACKUP_FOLDER: missingFolder });
    assert.equal(lines.length, 2, lines.join('\n'));
    assert.match(
      lines[0]!,
      /^warning: There is no backup in .*backups yet\. Fix: The server makes the first/,
    );
    assert.ok(!existsSync(join(folder, 'deep')));
    await runChecks();
    assert.deepEqual(readdirSync(folder), []);
  });

  test('reports a lack of space before a backup fails', async () => {
    // A sparse file can be larger than the disk.
    const largeFile = join(folder, 'large.db');
    copyFileSync(file, largeFile);
    truncateSync(largeFile, 4 * 2 ** 40);
    const lines = await runChecks({
      DATABASE_URL: `sqlite:${largeFile}`,
      BACKUP_FOLDER: join(folder, 'backups'),
    });
    assert.match(lines[1]!, /^problem: [\d,]+ MB are free .* needs 4,194,304 MB, .* Fix: Free some space/);
  });

  test('warns about backups that others can read or add', async () => {
    await createBackup('2026-03-02');
    chmodSync(join(folder, 'espalier-2026-03-02T10-00-00Z.db'), 0o640);
    chmodSync(folder, 0o770);
    const lines = (await runChecks()).slice(2);
    assert.deepEqual(lines, [
      `warning: Other users of this machine can read 1 of 1 backup. A backup contains the keys that sign tokens. Fix: chmod 600 ${folder}/espalier-*.db`,
      `warning: Other users can create files in ${folder}, which the server would treat as backups. Fix: chmod go-w ${folder}`,
    ]);
  });

  test('reports backups of another installation and unreadable ones', async () => {
    const other = await Testbed.start(sqlite);
    await createBackup('2026-03-02');
    const lines = await runChecks({ DATABASE_URL: other.database.url });
    await other.stop();
    assert.match(lines[0]!, /^problem: .*espalier-2026-03-02T10-00-00Z\.db is a backup of another install/);
    writeFileSync(join(folder, 'espalier-2026-03-02T11-00-00Z.db'), 'rubbish', { mode: 0o600 });
    assert.match((await runChecks())[0]!, /^problem: Cannot read .*T11-00-00Z\.db as a backup/);
  });

  test('reports an invalid backup folder', async () => {
    writeFileSync(join(folder, 'file'), '');
    for (const path of [join(folder, 'file'), join(folder, 'file', 'backups')]) {
      assert.deepEqual(await runChecks({ BACKUP_FOLDER: path }), [
        `problem: ESPALIER_BACKUP_FOLDER is ${path}, but ${folder}/file is not a folder. Fix: Set another folder. Until then, the server does not start.`,
      ]);
    }
  });

  test('skips backups that are not configured', async () => {
    assert.match((await runChecks({ BACKUP_FOLDER: '' })).join(), /^skipped: The server makes no backups/);
    const postgres = { DATABASE_URL: 'postgres://host/espalier', BACKUP_FOLDER: '' };
    assert.match((await runChecks(postgres)).join(), /^skipped: Espalier does not back up PostgreSQL/);
  });
});

describe("the doctor's metrics and traces check", () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });
  const listen = async (server: Server) => {
    servers.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const runChecks = async (settings: Record<string, string>, url?: string) =>
    runDoctorCheck(checkTelemetry, { settings, url });

  test('skips metrics and traces that are not configured', async () => {
    assert.deepEqual(await runChecks({}), [
      'skipped: No metrics are served: ESPALIER_METRICS_PORT is not set.',
      'skipped: No traces are sent: ESPALIER_TRACES_URL is not set.',
    ]);
    assert.match(
      (await runChecks({ METRICS_PORT: '0' }))[0]!,
      /^skipped: The server chooses the metrics port/,
    );
  });

  test('distinguishes a free metrics port, our own server and another program', async () => {
    const port = await findFreePort();
    const METRICS_PORT = String(port);
    assert.equal(
      (await runChecks({ METRICS_PORT }))[0],
      `ok: The port for metrics is free: http://127.0.0.1:${port}/metrics.`,
    );
    const testbed = await Testbed.start(sqlite, { settings: { METRICS_PORT } });
    assert.equal(
      (await runChecks({ METRICS_PORT, METRICS_HOST: '0.0.0.0' }))[0],
      `ok: Metrics of Espalier 0.0.0-test can be read at http://127.0.0.1:${port}/metrics.`,
    );
    const without = await runChecks({ METRICS_PORT: String(await findFreePort()) }, testbed.url);
    await testbed.stop();
    assert.match(without[0]!, /^warning: A server responds at .* but serves no metrics at /);
    const other = await listen(createServer((_, response) => response.writeHead(404).end()));
    assert.match(
      (await runChecks({ METRICS_PORT: String(other) }))[0]!,
      /^problem: The program at .* is not Espalier \(status 404\)\. Fix: Stop the other program, or set/,
    );
    const mailPort = await listen(createPlainServer((socket) => socket.end('220 mail\r\n')));
    assert.match(
      (await runChecks({ METRICS_PORT: String(mailPort) }))[0]!,
      /^problem: Cannot read metrics at .*: another program uses the port\./,
    );
  });

  test('reads only the start of an endless response', async () => {
    const metrics = 'espalier_build_info{version="1.2.3"} 1\n';
    const port = await listen(
      createServer((_, response) => {
        response.write(metrics);
        const fill = () => {
          while (response.write(metrics.repeat(10_000)));
        };
        response.on('drain', fill);
        fill();
      }),
    );
    assert.equal(
      (await runChecks({ METRICS_PORT: String(port) }))[0],
      `ok: Metrics of Espalier 1.2.3 can be read at http://127.0.0.1:${port}/metrics.`,
    );
  });

  test('warns about metrics that other machines can read, as the server does at startup', () => {
    const environment = { ESPALIER_METRICS_PORT: '9464', ESPALIER_METRICS_HOST: '0.0.0.0' };
    const { settings, warnings } = readSettings({ environment });
    const texts = checkSettings(settings, warnings).map(({ state, text }) => `${state}: ${text}`);
    assert.match(texts.join('\n'), /^warning: Metrics are served on 0\.0\.0\.0 to every client/m);
  });

  test('sends the collector an empty request with the configured headers, and reports at most a warning', async () => {
    const requests: IncomingMessage[] = [];
    const bodies: string[] = [];
    let status = 200;
    const port = await listen(
      createServer((request, response) => {
        requests.push(request);
        void request.toArray().then((chunks) => {
          bodies.push(Buffer.concat(chunks as Buffer[]).toString());
          response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
        });
      }),
    );
    const TRACES_URL = `http://127.0.0.1:${port}/v1/traces`;
    const settings = { TRACES_URL, TRACES_HEADERS: 'authorization=Bearer%20collectors-own' };
    assert.equal((await runChecks(settings))[1], `ok: The collector at ${TRACES_URL} accepts traces.`);
    assert.equal(requests[0]!.method, 'POST');
    assert.equal(requests[0]!.headers.authorization, 'Bearer collectors-own');
    assert.deepEqual(bodies, ['{"resourceSpans":[]}']);
    for (const [collectorStatus, expected] of [
      [401, /^warning: .* returns 401: it requires authentication\. Fix: Set ESPALIER_TRACES_HEADERS_/],
      [404, /^warning: .* returns 404\. Fix: Set ESPALIER_TRACES_URL to its address for OTLP over HTTP/],
    ] as const) {
      status = collectorStatus;
      const line = (await runChecks(settings))[1]!;
      assert.match(line, expected);
      assert.ok(!line.includes('collectors-own'));
    }
    servers.splice(0).forEach((server) => server.close());
    assert.match(
      (await runChecks(settings))[1]!,
      /^warning: Cannot reach a collector at .*: no program listens/,
    );
  });
});
