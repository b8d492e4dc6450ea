/**
 * Backups that a server makes by itself: their files, how the server reports their state, and what happens on a full
 * disk and when the server stops.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { databaseFolder } from '../runner/database-folder.ts';
import { sqlite } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { insertFolders } from '../support/stored-rows.ts';
import { Testbed } from '../support/testbed.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';
import { withWriteLimit } from '../support/write-limit.ts';

interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly file?: string;
  readonly bytes?: number;
  readonly durationMs?: number;
  readonly why?: string;
}

const [info, warning] = [30, 40];
const program = fileURLToPath(
  new URL('../../server/src/maintenance/backup/backup-program.ts', import.meta.url),
);

describe('the scheduled backups of a server on SQLite', () => {
  let folder: string;
  let tree: TreeTestbed;
  before(async () => {
    folder = mkdtempSync(join(databaseFolder(), 'espalier-scheduled-'));
    tree = await TreeTestbed.start(sqlite, {
      settings: { BACKUP_FOLDER: backups(), BACKUP_EVERY_HOURS: '1' },
    });
    await insertFolders(
      tree.server.database.url,
      Array.from({ length: 1_000 }, (_, index) => `Folder ${index}`),
    );
  });
  after(async () => {
    await tree.stop();
    rmSync(folder, { recursive: true });
  });

  const backups = () => join(folder, 'backups');
  const listBackups = () => readdirSync(backups()).sort();
  const readLogLines = (level: number) =>
    tree.server.logLines.map((line) => JSON.parse(line) as LogLine).filter((line) => line.level === level);
  const readHealth = async () => {
    const { server } = await tree.query<{ server: { health: { name: string }[] } }>(
      '{server{health{name isOk detail}}}',
    );
    return server.health.find(({ name }) => name === 'backup');
  };

  test('are readable by their owner only, logged, and visible to administrators', async () => {
    assert.deepEqual(await readHealth(), {
      name: 'backup',
      isOk: true,
      detail: 'The first backup starts soon.',
    });
    await tree.server.purge();
    assert.deepEqual(listBackups(), ['espalier-2026-03-01T12-00-00Z.db']);
    const file = join(backups(), listBackups()[0]!);
    const { mode, size } = statSync(file);
    assert.equal(mode & 0o777, 0o600);
    assert.equal(statSync(backups()).mode & 0o777, 0o700);
    const { bytes, durationMs, ...line } = readLogLines(info).find(({ msg }) => msg.includes('backup'))!;
    assert.deepEqual([line.file, bytes, durationMs], [file, size, 0]);
    assert.deepEqual(await readHealth(), {
      name: 'backup',
      isOk: true,
      detail: 'The last backup is from 2026-03-01T12:00:00.000Z.',
    });
  });

  test('leave no files on a full disk, and are made again once there is space', async () => {
    tree.server.clock.advanceSeconds(3_600);
    const { authToken } = await tree.server.logIn();
    tree.authToken = authToken;
    await withWriteLimit(200_000, () => tree.server.purge());
    assert.deepEqual(listBackups(), ['espalier-2026-03-01T12-00-00Z.db']);
    const logLine = readLogLines(warning).find(({ msg }) => msg.startsWith('The scheduled backup failed'))!;
    assert.match(logLine.why!, /^Cannot write the backup to .*(full|disk I\/O error)\.$/);
    assert.match(
      JSON.stringify(await readHealth()),
      /"isOk":false,.*The last backup is from 2026-03-01T12:00:00/,
    );
    tree.server.clock.advanceSeconds(15 * 60);
    await tree.server.purge();
    assert.deepEqual(listBackups(), ['espalier-2026-03-01T12-00-00Z.db', 'espalier-2026-03-01T13-15-00Z.db']);
  });

  test('are abandoned without leftovers when the server process has ended', async () => {
    const source = tree.server.database.url.slice('sqlite:'.length);
    const args = ['--conditions=espalier-source', program, source, join(folder, 'given-up.db')];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    child.disconnect();
    const [code] = (await once(child, 'exit')) as [number];
    assert.equal(code, 0);
    assert.deepEqual(readdirSync(folder), ['backups']);
  });

  test('report their progress to the server while copying and before checking', async () => {
    const from = tree.server.database.url.slice('sqlite:'.length);
    await insertFolders(
      tree.server.database.url,
      Array.from({ length: 6_000 }, (_, index) => `More ${index}`),
    );
    const args = ['--conditions=espalier-source', program, from, join(folder, 'copy.db')];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const reports: unknown[] = [];
    child.on('message', (report: { progress?: string }) =>
      reports.push(report.progress ?? Object.keys(report)[0]),
    );
    await Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
    const pages = statSync(join(folder, 'copy.db')).size / 4_096;
    rmSync(join(folder, 'copy.db'));
    assert.ok(pages > 600, String(pages));
    assert.deepEqual([...new Set(reports)], ['copy', 'check', 'backup']);
  });

  test('are abandoned without partial files when the server stops', async () => {
    const other = await Testbed.start(sqlite, { settings: { BACKUP_FOLDER: join(folder, 'other') } });
    const backupRun = other.purge();
    const listFiles = () => readdirSync(join(folder, 'other'));
    await eventually(() => listFiles().length > 0, 'a backup was begun');
    await other.stop();
    await backupRun;
    assert.deepEqual(
      listFiles().filter((name) => !name.endsWith('.db')),
      [],
    );
  });

  test('prevent the server from starting, and stay unchanged, if they belong to another installation', async () => {
    const database = { url: `sqlite:${join(folder, 'another.db')}`, remove: () => Promise.resolve() };
    await assert.rejects(
      Testbed.start(sqlite, { database, settings: { BACKUP_FOLDER: backups() } }),
      / is a backup of another installation\. Set another folder, .* check whether ESPALIER_DATABASE_URL names its database\. .* run: espalier restore \S+Z\.db --replace$/,
    );
    assert.equal(listBackups().length, 2);
  });

  test('fail for a second installation that starts with the same empty folder', async () => {
    const sharedFolder = join(folder, 'shared');
    const start = (name: string) =>
      Testbed.start(sqlite, {
        database: { url: `sqlite:${join(folder, name)}`, remove: () => Promise.resolve() },
        settings: { BACKUP_FOLDER: sharedFolder },
      });
    const [one, other] = [await start('one.db'), await start('other.db')];
    await one.purge();
    await other.purge();
    assert.equal(readdirSync(sharedFolder).length, 1);
    assert.ok(other.logLines.some((line) => /The scheduled backup failed/.test(line)));
    const backupOf = async (testbed: Testbed) =>
      (await testbed.send('GET', '/readyz?verbose')).json<{ checks: { backup: string } }>().checks.backup;
    assert.deepEqual([await backupOf(one), await backupOf(other)], ['ok', 'failed']);
    await one.stop();
    await other.stop();
  });
});
