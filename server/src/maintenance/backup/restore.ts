/**
 * Replaces an unused SQLite database with a copy of a backup. The copy is first checked for damage. The old files are kept under
 * other names.
 */

import { createReadStream, existsSync, realpathSync, renameSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { migrations } from '../../database/migrations.ts';
import { findDamage, lockExclusively, type FileLock } from '../../database/sqlite/backup.ts';
import { sqliteCodeOf } from '../../database/sqlite/faults.ts';
import { makePrivateFolder, sizeOf } from '../../database/sqlite/file.ts';
import { StartError, fileError } from '../../config/start-error.ts';
import { readContents, type FileContents } from './backup.ts';
import {
  NewFile,
  foldersFrom,
  changeFolderOwners,
  ownerFor,
  requireRoom,
  type Owner,
} from './backup-files.ts';

interface RestoreOptions {
  readonly backup: string;
  readonly to: string;
  /** Existing files are kept under other names. */
  readonly isReplacing: boolean;
  readonly now: number;
  readonly onBytes?: (done: number, total: number) => void;
  readonly onCheck?: () => void;
  readonly signal?: AbortSignal;
}

export interface RestoreResult extends FileContents {
  readonly file: string;
  /** The new path of the old file; null if there was none. */
  readonly before: string | null;
  /** The owner of the file, if root has restored it for another user. */
  readonly newOwner: Owner | null;
  /** True if a server may have the old file open, because the lock could not be taken. */
  readonly mayBeInUse: boolean;
  /** True if the backup has an older schema, which the next start of a server migrates. */
  readonly isOfOlderProgram: boolean;
}

const bufferBytes = 2 ** 20;
/** An old log would be applied to the new file, so it is moved as well. */
const endings = ['', '-wal', '-shm', '-journal'] as const;

export async function restoreBackup(options: RestoreOptions): Promise<RestoreResult> {
  const { isReplacing, now, signal } = options;
  const backup = resolve(options.backup);
  const to = existsSync(options.to) ? realpathSync(options.to) : resolve(options.to);
  requireBackup(backup, to);
  requireReplaceable(to, isReplacing);
  const owner = makeFolderFor(to);
  requireRoom(dirname(to), sizeOf(backup));
  const lock: FileLock = sizeOf(to) ? lockExclusively(to) : { isCertain: true, release: () => undefined };
  const target = new NewFile(to, owner);
  try {
    await copyBytes(backup, target.path, options);
    options.onCheck?.();
    const contents = await checkCopy(backup, target.path, signal);
    signal?.throwIfAborted();
    requireReplaceable(to, isReplacing);
    const before = replaceFiles(target, to, now);
    return {
      file: to,
      before,
      newOwner: owner && owner.uid !== 0 ? owner : null,
      mayBeInUse: !lock.isCertain,
      isOfOlderProgram: contents.schema < migrations.length,
      ...contents,
    };
  } finally {
    target.abandon();
    lock.release();
  }
}

/** Creates the folder. If root restores, returns the owner for the new files, because a server that is not root must open them. */
function makeFolderFor(to: string): Owner | undefined {
  const folders = foldersFrom(dirname(to));
  const owner = ownerFor([...endings.map((ending) => to + ending), ...folders]);
  const missing = folders.filter((folder) => !existsSync(folder));
  makePrivateFolder(dirname(to));
  if (owner) changeFolderOwners(missing, owner);
  return owner;
}

function requireBackup(backup: string, to: string): void {
  const found = statSync(backup, { throwIfNoEntry: false });
  if (!found) throw new StartError(`There is no file ${backup}.`);
  if (!found.isFile()) throw new StartError(`${backup} is not a file. Give the name of the backup file.`);
  if (found.size === 0) throw notRestored(backup, 'It is empty.');
  const target = statSync(to, { throwIfNoEntry: false });
  if (target && target.dev === found.dev && target.ino === found.ino) {
    throw new StartError(`${backup} is the database itself. Give the name of a backup file.`);
  }
  if (sizeOf(`${backup}-wal`) || sizeOf(`${backup}-journal`)) {
    throw notRestored(
      backup,
      `It is a database in use or was left by a crash: a log file next to it contains a part of its data. Make a backup of this database first: espalier backup <file> --database-url sqlite:${backup}`,
    );
  }
}

function requireReplaceable(to: string, isReplacing: boolean): void {
  const found = statSync(to, { throwIfNoEntry: false });
  if (found && !found.isFile()) throw new StartError(`${to} is not a file.`);
  if (isReplacing) return;
  const existing = endings.map((ending) => to + ending).find((file) => existsSync(file));
  if (existing) {
    throw new StartError(
      `${existing} already exists. To replace it, use --replace. The old file is kept under another name.`,
    );
  }
}

async function copyBytes(from: string, to: string, { onBytes, signal }: RestoreOptions): Promise<void> {
  const total = sizeOf(from);
  async function* readChunks() {
    let done = 0;
    for await (const chunk of createReadStream(from, {
      highWaterMark: bufferBytes,
    }) as AsyncIterable<Buffer>) {
      signal?.throwIfAborted();
      yield chunk;
      onBytes?.((done += chunk.length), total);
    }
  }
  try {
    await writeFile(to, readChunks(), { flag: 'r+' });
  } catch (cause) {
    if (!(cause as NodeJS.ErrnoException).syscall) throw cause;
    throw fileError(`Cannot copy ${from} to ${dirname(to)}`, cause);
  }
}

/** Checks the copy, which no other process uses. */
async function checkCopy(
  backup: string,
  copy: string,
  signal: AbortSignal | undefined,
): Promise<FileContents> {
  try {
    const [finding] = await findDamage(copy, { signal });
    if (finding === 'file is not a database') throw new StartError('It is not a database.');
    if (finding) throw new StartError(`It is damaged: ${finding}.`);
    return await readContents(copy);
  } catch (cause) {
    if (sqliteCodeOf(cause))
      throw notRestored(backup, `The copy cannot be read: ${(cause as Error).message}.`, cause);
    if (cause instanceof StartError) throw notRestored(backup, cause.message, cause);
    throw cause;
  }
}

function notRestored(backup: string, why: string, cause?: unknown): StartError {
  return new StartError(`Cannot restore ${backup}. ${why} Nothing was changed.`, { cause });
}

/** Moves all old files to the same new name, so that they can still be opened. Returns that name. */
function replaceFiles(target: NewFile, to: string, now: number): string | null {
  const time = new Date(now)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '');
  const before = `${to}.before-restore-${time}`;
  // Moves the database first: a server does not start on a log without a database, but would start on a database without its log.
  const moved = endings.filter((ending) => existsSync(to + ending));
  try {
    for (const ending of moved) renameSync(to + ending, before + ending);
    target.finish({ isReplacing: false });
  } catch (cause) {
    for (const ending of moved.toReversed()) {
      if (!existsSync(to + ending) && existsSync(before + ending)) renameSync(before + ending, to + ending);
    }
    throw fileError(`Cannot move the restored file to ${to}`, cause);
  }
  return moved.length > 0 ? before : null;
}
