/**
 * The folder of a server's scheduled backups. Their names contain the time at which each was started. Files with other names
 * are never changed.
 */

import { randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { openDatabaseFile } from '../../database/sqlite/backup.ts';
import { codeOf } from '../../database/sqlite/errors.ts';
import { makePrivateFolder } from '../../database/sqlite/file.ts';
import { readSetting } from '../../database/installation-values.ts';
import { StartError } from '../../config/start-error.ts';

export interface StoredBackup {
  readonly file: string;
  readonly startedAt: number;
}

const ownName = /^espalier-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z\.db(\.unfinished-[0-9a-f]{8}(-\w+)?)?$/;
/** An unfinished backup of this age was left by a crash: none takes a day. */
const leftAfterMs = 24 * 60 * 60 * 1_000;

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
      throw new StartError(
        `ESPALIER_BACKUP_FOLDER names ${this.path}, into which nothing can be written: ${(cause as Error).message}.`,
        { cause },
      );
    }
  }

  /** The name has the time in seconds, and sorts by time. */
  fileFor(now: number): string {
    const time = new Date(now).toISOString().slice(0, 19).replaceAll(':', '-');
    return join(this.path, `espalier-${time}Z.db`);
  }

  /** The newest first. A backup with a future time comes from a wrong clock: it is ignored and never deleted. */
  list(now: number): Promise<StoredBackup[]> {
    return listBackups(this.path, now);
  }

  /** Deletes all but the newest backups, and files that crashes have left. */
  async prune(now: number, keep: number): Promise<void> {
    const own = await ownFilesIn(this.path, now);
    const left = own.filter(({ isComplete, startedAt }) => !isComplete && now - startedAt > leftAfterMs);
    const old = own.filter(({ isComplete }) => isComplete).slice(keep);
    for (const { file } of [...old, ...left]) await rm(file, { force: true });
  }

  /** Deletes the files of a failed backup. */
  async removeUnfinished(file: string): Promise<void> {
    for (const name of await readdir(this.path)) {
      const path = join(this.path, name);
      if (path.startsWith(`${file}.unfinished-`)) await rm(path, { force: true });
    }
  }

  /** Two installations in one folder would delete the backups of each other. */
  async requireInstallation(installation: string, now: number): Promise<void> {
    const [newest] = await this.list(now);
    const other = newest && (await readInstallation(newest.file));
    if (other === undefined || other === installation) return;
    throw new StartError(
      `ESPALIER_BACKUP_FOLDER names ${this.path}, and ${newest!.file} there is a backup of another installation. Give each a folder of its own. If there should be no other, the database is not where you think: look at ESPALIER_DATABASE_URL; a file that is lost is brought back by espalier restore ${newest!.file} --replace.`,
    );
  }
}

/** The complete backups, the newest first. */
export async function listBackups(folder: string, now: number): Promise<StoredBackup[]> {
  return (await ownFilesIn(folder, now)).filter(({ isComplete }) => isComplete);
}

async function ownFilesIn(
  folder: string,
  now: number,
): Promise<(StoredBackup & { readonly isComplete: boolean })[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: Error) => {
    throw new StartError(`The folder ${folder} cannot be read: ${cause.message}.`, { cause });
  });
  return entries
    .flatMap((entry) => {
      const [, day, hour, minute, second, unfinished] = ownName.exec(entry.name) ?? [];
      const startedAt = Date.parse(`${day}T${hour}:${minute}:${second}Z`);
      if (!entry.isFile() || !(startedAt <= now)) return [];
      return [{ file: join(folder, entry.name), startedAt: startedAt, isComplete: unfinished === undefined }];
    })
    .toSorted((one, other) => other.startedAt - one.startedAt);
}

/** The name of the installation. Undefined if the file cannot be read, which `espalier restore` reports. */
export async function readInstallation(file: string): Promise<string | undefined> {
  try {
    const stored = openDatabaseFile(file);
    try {
      return await readSetting(stored, 'issuer');
    } finally {
      stored.close();
    }
  } catch (error) {
    if (codeOf(error)) return undefined;
    throw error;
  }
}
