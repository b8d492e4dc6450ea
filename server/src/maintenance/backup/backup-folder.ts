/**
 * The folder of a server's scheduled backups. The name of a backup contains the time at which it was started. Files with other
 * names are never changed.
 */

import { randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { openDatabaseFile } from '../../database/sqlite/backup.ts';
import { sqliteCodeOf } from '../../database/sqlite/faults.ts';
import { makePrivateFolder } from '../../database/sqlite/file.ts';
import { readInstallationValue } from '../../database/installation-values.ts';
import { StartError, fileError } from '../../config/start-error.ts';

export interface StoredBackup {
  readonly file: string;
  readonly startedAt: number;
}

// An unfinished file can have -journal, -wal or -shm files of SQLite.
const ownName = /^espalier-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z\.db(\.unfinished-[0-9a-f]{8}(-\w+)?)?$/;
/** An unfinished file of this age was left by a crash, because no backup takes a day. */
const abandonedAfterMs = 24 * 60 * 60 * 1_000;

export class BackupFolder {
  readonly path: string;

  /** Creates a missing folder; refuses one that cannot be written. */
  constructor(path: string) {
    this.path = resolve(path);
    try {
      makePrivateFolder(this.path);
      const probe = join(this.path, `.espalier-${randomBytes(8).toString('hex')}`);
      closeSync(openSync(probe, 'wx', 0o600));
      rmSync(probe);
    } catch (cause) {
      throw fileError(`Cannot write to the folder ${this.path} of ESPALIER_BACKUP_FOLDER`, cause);
    }
  }

  /** The name contains the time in seconds. The order of the names is the order of the times. */
  fileFor(now: number): string {
    const time = new Date(now).toISOString().slice(0, 19).replaceAll(':', '-');
    return join(this.path, `espalier-${time}Z.db`);
  }

  /** Deletes files that crashes have left, and all backups except the newest `keep`. */
  async prune(now: number, keep: number): Promise<void> {
    const files = await ownFilesIn(this.path, now);
    const abandonedFiles = files.filter(
      ({ isComplete, startedAt }) => !isComplete && now - startedAt > abandonedAfterMs,
    );
    const oldBackups = files.filter(({ isComplete }) => isComplete).slice(keep);
    for (const { file } of [...oldBackups, ...abandonedFiles]) await rm(file, { force: true });
  }

  /** Deletes the files of a failed backup. */
  async removeUnfinished(file: string): Promise<void> {
    for (const name of await readdir(this.path)) {
      const path = join(this.path, name);
      if (path.startsWith(`${file}.unfinished-`)) await rm(path, { force: true });
    }
  }

  /** Refuses a folder with backups of another installation: the two installations would delete each other's backups. */
  async requireInstallation(installation: string, now: number): Promise<void> {
    const [newest] = await listBackups(this.path, now);
    const other = newest && (await readInstallation(newest.file));
    if (other === undefined || other === installation) return;
    throw new StartError(
      `${newest!.file} in the folder of ESPALIER_BACKUP_FOLDER is a backup of another installation. Set another folder, because each installation needs its own. If you have only one installation, check whether ESPALIER_DATABASE_URL names its database. To recover a lost database from this backup, run: espalier restore ${newest!.file} --replace`,
    );
  }
}

/**
 * The complete backups, the newest first. A backup with a future time comes from a wrong clock: it is ignored and never
 * deleted.
 */
export async function listBackups(folder: string, now: number): Promise<StoredBackup[]> {
  return (await ownFilesIn(folder, now)).filter(({ isComplete }) => isComplete);
}

async function ownFilesIn(
  folder: string,
  now: number,
): Promise<(StoredBackup & { readonly isComplete: boolean })[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: Error) => {
    throw fileError(`Cannot read the folder ${folder}`, cause);
  });
  return entries
    .flatMap((entry) => {
      const match = ownName.exec(entry.name);
      if (!match || !entry.isFile()) return [];
      const [, day, hour, minute, second, unfinished] = match;
      const startedAt = Date.parse(`${day}T${hour}:${minute}:${second}Z`);
      // NaN if the name contains an impossible time, such as month 13.
      if (Number.isNaN(startedAt) || startedAt > now) return [];
      return [{ file: join(folder, entry.name), startedAt, isComplete: unfinished === undefined }];
    })
    .toSorted((one, other) => other.startedAt - one.startedAt);
}

/** The name of the installation. Undefined if the file cannot be read, which `espalier restore` reports. */
export async function readInstallation(file: string): Promise<string | undefined> {
  try {
    const database = openDatabaseFile(file);
    try {
      return await readInstallationValue(database, 'issuer');
    } finally {
      database.close();
    }
  } catch (error) {
    if (sqliteCodeOf(error)) return undefined;
    throw error;
  }
}
