import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { StartError } from '../../config/start-error.ts';
import type { BackupOrder } from './backup-process.ts';
import { ScheduledBackup } from './scheduled-backup.ts';

const hourMs = 3_600_000;

describe('a server with scheduled backups', () => {
  let folder: string;
  let now: number;
  let orders: string[];
  let logged: { level: string; text: string; fields: Record<string, unknown> }[];
  let work: (order: BackupOrder) => Promise<void>;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-scheduled-'));
    now = Date.parse('2026-03-01T12:00:00.250Z');
    orders = [];
    logged = [];
    work = () => Promise.resolve();
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const backupFolder = () => join(folder, 'backups');
  const files = () => readdirSync(backupFolder()).sort();
  const logTo = (level: string) => (fields: Record<string, unknown>, text: string) =>
    void logged.push({ level, text, fields });
  const open = async (input: { keep?: number; folder?: string; isMaker?: boolean } = {}) =>
    await ScheduledBackup.open({
      databaseFile: join(folder, 'espalier.db'),
      folder: input.folder ?? backupFolder(),
      settings: { backupEveryHours: 6, backupKeep: input.keep ?? 2 },
      installation: 'this',
      clock: { now: () => now },
      log: { info: logTo('info'), warn: logTo('warn') } as never,
      isMaker: input.isMaker ?? true,
      make: async (order) => {
        orders.push(order.to);
        await work(order);
        writeFileSync(order.to, 'whole');
        return {
          file: order.to,
          bytes: 5,
          schema: 8,
          folders: 1,
          users: 1,
          areKeysSealed: false,
          journalNumber: 1,
          lastChangeAt: 1,
        };
      },
    });

  test('makes the first backup immediately, and the next when the newest is old enough', async () => {
    const first = await open();
    assert.equal(statSync(backupFolder()).mode & 0o777, 0o700);
    assert.equal(first.lastBackupAt, undefined);
    assert.deepEqual(await first.state(), { isOk: true, detail: 'The first backup starts soon.' });
    await first.makeIfDue();
    assert.deepEqual(files(), ['espalier-2026-03-01T12-00-00Z.db']);
    assert.equal(first.lastBackupAt, Date.parse('2026-03-01T12:00:00Z'));
    assert.deepEqual(logged, [
      {
        level: 'info',
        text: 'backup complete',
        fields: { file: join(backupFolder(), 'espalier-2026-03-01T12-00-00Z.db'), bytes: 5, durationMs: 0 },
      },
    ]);
    now += 6 * hourMs - 1_000;
    await first.makeIfDue();
    const second = await open();
    assert.equal(second.lastBackupAt, Date.parse('2026-03-01T12:00:00Z'));
    await second.makeIfDue();
    assert.equal(orders.length, 1);
    now += 1_000;
    await second.makeIfDue();
    assert.deepEqual(files(), ['espalier-2026-03-01T12-00-00Z.db', 'espalier-2026-03-01T18-00-00Z.db']);
    assert.deepEqual(await second.state(), {
      isOk: true,
      detail: 'The last backup is from 2026-03-01T18:00:00.000Z.',
    });
  });

  test('deletes old backups, but no other files and no backups with a future time', async () => {
    mkdirSync(backupFolder());
    const others = [
      '.hidden',
      'espalier-2026-01-01T00-00-00Z.db.bak',
      'espalier-2026-13-01T00-00-00Z.db',
      'espalier-2027-01-01T00-00-00Z.db',
      'espalier-before-the-upgrade.db',
      'my-espalier-2026-01-01T00-00-00Z.db',
    ];
    for (const name of others) writeFileSync(join(backupFolder(), name), 'mine');
    mkdirSync(join(backupFolder(), 'espalier-2026-01-02T00-00-00Z.db'));
    const scheduled = await open();
    for (let round = 0; round < 4; round++) {
      await scheduled.makeIfDue();
      now += 6 * hourMs;
    }
    assert.deepEqual(
      files().filter((name) => !others.includes(name)),
      [
        'espalier-2026-01-02T00-00-00Z.db',
        'espalier-2026-03-02T00-00-00Z.db',
        'espalier-2026-03-02T06-00-00Z.db',
      ],
    );
    assert.equal(files().length, others.length + 3);
  });

  test('reports a failed backup, and retries after 15 minutes', async () => {
    const scheduled = await open();
    await scheduled.makeIfDue();
    now += 6 * hourMs;
    work = ({ to }) => {
      writeFileSync(`${to}.unfinished-0123abcd`, 'half');
      writeFileSync(`${to}.unfinished-0123abcd-journal`, 'half');
      return Promise.reject(new StartError('There is no room.'));
    };
    await scheduled.makeIfDue();
    assert.deepEqual(files(), ['espalier-2026-03-01T12-00-00Z.db']);
    const { level, text, fields } = logged.at(-1)!;
    assert.equal(level, 'warn');
    assert.match(text, /failed. The server retries in 15 minutes. Check the free space/);
    assert.deepEqual(fields, { folder: backupFolder(), why: 'There is no room.' });
    assert.deepEqual(await scheduled.state(), {
      isOk: false,
      detail: 'The backup failed: There is no room. The last backup is from 2026-03-01T12:00:00.000Z.',
    });
    now += 14 * 60_000;
    await scheduled.makeIfDue();
    assert.equal(orders.length, 2);
    assert.equal(scheduled.failedCount, 1);
    now += 60_000;
    work = () => Promise.resolve();
    await scheduled.makeIfDue();
    assert.deepEqual(files(), ['espalier-2026-03-01T12-00-00Z.db', 'espalier-2026-03-01T18-15-00Z.db']);
    assert.equal((await scheduled.state()).isOk, true);
    assert.equal(scheduled.failedCount, 1);
  });

  test('reports a missing folder, and uses it again when it is back', async () => {
    const scheduled = await open();
    rmSync(backupFolder(), { recursive: true });
    await scheduled.makeIfDue();
    assert.match(
      (await scheduled.state()).detail,
      /^The backup failed: Cannot read the folder .*: the folder does not exist/,
    );
    mkdirSync(backupFolder());
    now += 15 * 60_000;
    await scheduled.makeIfDue();
    assert.equal(files().length, 1);
  });

  test('deletes the unfinished files of a crash after a day', async () => {
    mkdirSync(backupFolder());
    writeFileSync(join(backupFolder(), 'espalier-2026-02-28T11-00-00Z.db.unfinished-0123abcd'), 'half');
    writeFileSync(join(backupFolder(), 'espalier-2026-03-01T11-00-00Z.db.unfinished-0123abcd'), 'half');
    await (await open()).makeIfDue();
    assert.deepEqual(files(), [
      'espalier-2026-03-01T11-00-00Z.db.unfinished-0123abcd',
      'espalier-2026-03-01T12-00-00Z.db',
    ]);
  });

  test('stops a running backup on shutdown, and starts no other backup', async () => {
    const scheduled = await open();
    work = ({ to, signal }) =>
      new Promise((_, reject) => {
        writeFileSync(`${to}.unfinished-0123abcd`, 'half');
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    const making = scheduled.makeIfDue();
    while (orders.length === 0) await new Promise(setImmediate);
    void scheduled.makeIfDue();
    await scheduled.stop();
    await making;
    await scheduled.makeIfDue();
    assert.deepEqual(files(), []);
    assert.deepEqual(logged, []);
    assert.equal(orders.length, 1);
    assert.equal(scheduled.failedCount, 0);
  });

  test('makes backups in one worker, and reports their state in all workers', async () => {
    const maker = await open();
    const other = await open({ isMaker: false });
    await other.makeIfDue();
    assert.deepEqual(files(), []);
    await maker.makeIfDue();
    assert.deepEqual(await other.state(), {
      isOk: true,
      detail: 'The last backup is from 2026-03-01T12:00:00.000Z.',
    });
    now += 7 * hourMs + 1_000;
    assert.deepEqual(await other.state(), {
      isOk: false,
      detail: 'The backup is overdue. The last backup is from 2026-03-01T12:00:00.000Z.',
    });
  });

  test('refuses to start with a folder that cannot be created', async () => {
    writeFileSync(join(folder, 'file'), '');
    for (const [input, expected] of [
      [{ folder: join(folder, 'file') }, /^Cannot write to the folder .*file of ESPALIER_BACKUP_FOLDER/],
      [{ folder: '/proc/backups' }, /^Cannot write to the folder \/proc\/backups of ESPALIER_BACKUP_FOLDER/],
    ] as const) {
      await assert.rejects(open(input), (error) => {
        assert.ok(error instanceof StartError);
        assert.match(error.message, expected);
        return true;
      });
    }
    assert.deepEqual(readdirSync(folder), ['file']);
  });
});
