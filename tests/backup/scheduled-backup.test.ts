/** Backups that a server makes by itself: what they are, who sees how they do, and what a full disk or a stop leaves. */

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

interface Logged {
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
      tree.testbed.database.url,
      Array.from({ length: 1_000 }, (_, place) => `Folder ${place}`),
    );
  });
  after(async () => {
    await tree.stop();
    rmSync(folder, { recursive: true });
  });

  const backups = () => join(folder, 'backups');
  const there = () => readdirSync(backups()).sort();
  const logged = (level: number) =>
    tree.testbed.logLines.map((line) => JSON.parse(line) as Logged).filter((line) => line.level === level);
  const health = async () => {
    const { server } = await tree.query<{ server: { health: { name: string }[] } }>(
      '{server{health{name isOk detail}}}',
    );
    return server.health.find(({ name }) => name === 'backup');
  };

  test('are files for their owner, each with a line in the log, and seen by administrators', async () => {
    assert.deepEqual(await health(), {
      name: 'backup',
      isOk: true,
      detail: 'The first backup is about to be made.',
    });
    await tree.testbed.purge();
    assert.deepEqual(there(), ['espalier-2026-03-01T12-00-00Z.db']);
    const file = join(backups(), there()[0]!);
    const { mode, size } = statSync(file);
    assert.equal(mode & 0o777, 0o600);
    assert.equal(statSync(backups()).mode & 0o777, 0o700);
    const { bytes, durationMs, ...line } = logged(info).find(({ msg }) => msg.includes('backup'))!;
    assert.deepEqual([line.file, bytes, durationMs], [file, size, 0]);
    assert.deepEqual(await health(), {
      name: 'backup',
      isOk: true,
      detail: 'The last backup is of 2026-03-01T12:00:00.000Z.',
    });
  });

  test('that a full disk ends leave nothing, and are made when there is room again', async () => {
    tree.testbed.clock.advanceSeconds(3_600);
    const { authToken } = await tree.testbed.logIn();
    tree.authToken = authToken;
    await withWriteLimit(200_000, () => tree.testbed.purge());
    assert.deepEqual(there(), ['espalier-2026-03-01T12-00-00Z.db']);
    const told = logged(warning).find(({ msg }) => msg.startsWith('the scheduled backup failed'))!;
    assert.match(told.why!, /^The backup cannot be written to .*(full|disk I\/O error)\.$/);
    assert.match(
      JSON.stringify(await health()),
      /"isOk":false,.*The last good one is of 2026-03-01T12:00:00/,
    );
    tree.testbed.clock.advanceSeconds(15 * 60);
    await tree.testbed.purge();
    assert.deepEqual(there(), ['espalier-2026-03-01T12-00-00Z.db', 'espalier-2026-03-01T13-15-00Z.db']);
  });

  test('are given up when the server is gone, and nothing of them is left', async () => {
    const from = tree.testbed.database.url.slice('sqlite:'.length);
    const args = ['--conditions=espalier-source', program, from, join(folder, 'given-up.db')];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    child.disconnect();
    const [code] = (await once(child, 'exit')) as [number];
    assert.equal(code, 0);
    assert.deepEqual(readdirSync(folder), ['backups']);
  });

  test('tell their server that they go on, while they are copied and before they are checked', async () => {
    const from = tree.testbed.database.url.slice('sqlite:'.length);
    await insertFolders(
      tree.testbed.database.url,
      Array.from({ length: 6_000 }, (_, place) => `More ${place}`),
    );
    const args = ['--conditions=espalier-source', program, from, join(folder, 'told.db')];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const told: unknown[] = [];
    child.on('message', (report: { doing?: string }) => told.push(report.doing ?? Object.keys(report)[0]));
    await Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
    const pages = statSync(join(folder, 'told.db')).size / 4_096;
    rmSync(join(folder, 'told.db'));
    assert.ok(pages > 600, String(pages));
    assert.deepEqual([...new Set(told)], ['copy', 'check', 'made']);
  });

  test('are given up when the server is stopped, and nothing half is left', async () => {
    const other = await Testbed.start(sqlite, { settings: { BACKUP_FOLDER: join(folder, 'other') } });
    const making = other.purge();
    const found = () => readdirSync(join(folder, 'other'));
    await eventually(() => found().length > 0, 'a backup was begun');
    await other.stop();
    await making;
    assert.deepEqual(
      found().filter((name) => !name.endsWith('.db')),
      [],
    );
  });

  test('of another installation in the folder stop the start, and are not touched', async () => {
    const database = { url: `sqlite:${join(folder, 'another.db')}`, remove: () => Promise.resolve() };
    await assert.rejects(
      Testbed.start(sqlite, { database, settings: { BACKUP_FOLDER: backups() } }),
      /there is a backup of another installation\. Give each a folder of its own\. .* look at ESPALIER_DATABASE_URL; .* by espalier restore \S+Z\.db --replace\.$/,
    );
    assert.equal(there().length, 2);
  });

  test('of two that began with one empty folder, the one that finds the other there says so, and makes none', async () => {
    const shared = join(folder, 'shared');
    const start = (name: string) =>
      Testbed.start(sqlite, {
        database: { url: `sqlite:${join(folder, name)}`, remove: () => Promise.resolve() },
        settings: { BACKUP_FOLDER: shared },
      });
    const [one, other] = [await start('one.db'), await start('other.db')];
    await one.purge();
    await other.purge();
    assert.equal(readdirSync(shared).length, 1);
    assert.ok(other.logLines.some((line) => /the scheduled backup failed.*/.test(line)));
    const backupOf = async (bed: Testbed) =>
      (await bed.send('GET', '/readyz?verbose')).json<{ checks: { backup: string } }>().checks.backup;
    assert.deepEqual([await backupOf(one), await backupOf(other)], ['ok', 'failed']);
    await one.stop();
    await other.stop();
  });
});
