/**
 * The folder in which a server keeps its own backups. They are known by their names, which tell when each was begun;
 * whatever has another name is somebody else's, and never touched.
 */

import { randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { openDatabaseFile } from '../../database/sqlite/backup.ts';
import { codeOf } from '../../database/sqlite/errors.ts';
import { makePrivateFolder } from '../../database/sqlite/file.ts';
import { readSetting } from '../../database/stored-settings.ts';
import { StartError } from '../../config/start-error.ts';

export interface StoredBackup {
  readonly file: string;
  readonly startedAt: number;
}

const ownName = /^espalier-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z\.db(\.unfinished-[0-9a-f]{8}(-\w+)?)?$/;
/** Whoever began it is gone: the longest takes no day. */
const leftAfterMs = 24 * 60 * 60 * 1_000;

export class BackupFolder {
  readonly path: string;

  /** Made if it is missing; refused if nothing can be put into it. */
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

  /** To the second, and in the order of the alphabet. */
  fileFor(now: number): string {
    const time = new Date(now).toISOString().slice(0, 19).replaceAll(':', '-');
    return join(this.path, `espalier-${time}Z.db`);
  }

  /** The newest first. One of the future is of a clock that was wrong: it does not count, and is left alone. */
  list(now: number): Promise<StoredBackup[]> {
    return listBackups(this.path, now);
  }

  /** All but the newest so many go, and what crashes have left. */
  async prune(now: number, keep: number): Promise<void> {
    const own = await ownFilesIn(this.path, now);
    const left = own.filter(({ isWhole, startedAt }) => !isWhole && now - startedAt > leftAfterMs);
    const old = own.filter(({ isWhole }) => isWhole).slice(keep);
    for (const { file } of [...old, ...left]) await rm(file, { force: true });
  }

  /** What is there of a backup that came to nothing. */
  async removeUnfinished(file: string): Promise<void> {
    for (const name of await readdir(this.path)) {
      const path = join(this.path, name);
      if (path.startsWith(`${file}.unfinished-`)) await rm(path, { force: true });
    }
  }

  /** Two would take each other's backups for their own, and delete them. */
  async requireInstallation(installation: string, now: number): Promise<void> {
    const [newest] = await this.list(now);
    const other = newest && (await readInstallation(newest.file));
    if (other === undefined || other === installation) return;
    throw new StartError(
      `ESPALIER_BACKUP_FOLDER names ${this.path}, and ${newest!.file} there is a backup of another installation. Give each a folder of its own. If there should be no other, the database is not where you think: look at ESPALIER_DATABASE_URL; a file that is lost is brought back by espalier restore ${newest!.file} --replace.`,
    );
  }
}

/** Those that are whole, the newest first. */
export async function listBackups(folder: string, now: number): Promise<StoredBackup[]> {
  return (await ownFilesIn(folder, now)).filter(({ isWhole }) => isWhole);
}

async function ownFilesIn(
  folder: string,
  now: number,
): Promise<(StoredBackup & { readonly isWhole: boolean })[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: Error) => {
    throw new StartError(`The folder ${folder} cannot be read: ${cause.message}.`, { cause });
  });
  return entries
    .flatMap((entry) => {
      const [, day, hour, minute, second, unfinished] = ownName.exec(entry.name) ?? [];
      const startedAt = Date.parse(`${day}T${hour}:${minute}:${second}Z`);
      if (!entry.isFile() || !(startedAt <= now)) return [];
      return [{ file: join(folder, entry.name), startedAt: startedAt, isWhole: unfinished === undefined }];
    })
    .toSorted((one, other) => other.startedAt - one.startedAt);
}

/** The name of the installation. Undefined if it cannot be read, which is for `espalier restore` to say. */
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
