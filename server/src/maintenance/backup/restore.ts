/**
 * Puts a backup in the place of an embedded database that nobody uses. What was there is kept beside it, and only a copy
 * that was found to be whole takes its place.
 */

import { existsSync, realpathSync, renameSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { migrations } from '../../database/migrations.ts';
import { lockExclusively, type FileLock } from '../../database/sqlite/backup.ts';
import { findDamage } from '../../database/sqlite/backup.ts';
import { codeOf } from '../../database/sqlite/errors.ts';
import { makePrivateFolder, sizeOf } from '../../database/sqlite/file.ts';
import { StartError } from '../../config/start-error.ts';
import { readContents, type FileContents } from './backup.ts';
import { foldersFrom, giveFolders, ownerFor, type Owner } from './new-file.ts';
import { beginFile, requireRoom, type NewFile } from './new-file.ts';

export interface RestoreOptions {
  readonly backup: string;
  readonly to: string;
  /** What is there now is kept under another name. */
  readonly isReplacing: boolean;
  readonly now: number;
  readonly onBytes?: (done: number, total: number) => void;
  readonly onCheck?: () => void;
  readonly signal?: AbortSignal;
}

export interface Restored extends FileContents {
  readonly file: string;
  /** Where that is which was there before; null if nothing was. */
  readonly before: string | null;
  /** Who got it, if root made it for somebody else. */
  readonly givenTo: Owner | null;
  /** It could not be told whether a server has the old one open. */
  readonly mayBeInUse: boolean;
  /** The next start of a server brings it up to date. */
  readonly isOfOlderProgram: boolean;
}

const bytesAtOnce = 2 ** 20;
/** A log of before would be taken for one of the new file. */
const endings = ['', '-wal', '-shm', '-journal'] as const;

export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { isReplacing, now, signal } = options;
  const backup = resolve(options.backup);
  const to = existsSync(options.to) ? realpathSync(options.to) : resolve(options.to);
  requireBackup(backup, to);
  requireReplaceable(to, isReplacing);
  const owner = makeFolderFor(to);
  requireRoom(dirname(to), sizeOf(backup));
  const held: FileLock = sizeOf(to) ? lockExclusively(to) : { isCertain: true, release: () => undefined };
  const target = beginFile(to, owner);
  try {
    await copyBytes(backup, target.path, options);
    options.onCheck?.();
    const contents = await checked(backup, target.path, signal);
    signal?.throwIfAborted();
    requireReplaceable(to, isReplacing);
    const before = exchange(target, to, now);
    return {
      file: to,
      before,
      givenTo: owner && owner.uid !== 0 ? owner : null,
      mayBeInUse: !held.isCertain,
      isOfOlderProgram: contents.schema < migrations.length,
      ...contents,
    };
  } finally {
    target.abandon();
    held.release();
  }
}

/** A server that is not root has to be able to open what root restores. Answers with whose it is to be. */
function makeFolderFor(to: string): Owner | undefined {
  const folders = foldersFrom(dirname(to));
  const owner = ownerFor([...endings.map((ending) => to + ending), ...folders]);
  const missing = folders.filter((folder) => !existsSync(folder));
  makePrivateFolder(dirname(to));
  if (owner) giveFolders(missing, owner);
  return owner;
}

function requireBackup(backup: string, to: string): void {
  const found = statSync(backup, { throwIfNoEntry: false });
  if (!found) throw new StartError(`There is no file ${backup}.`);
  if (!found.isFile()) throw new StartError(`${backup} is not a file. Name the backup itself.`);
  if (found.size === 0) throw notRestored(backup, 'It is empty.');
  const place = statSync(to, { throwIfNoEntry: false });
  if (place && place.dev === found.dev && place.ino === found.ino) {
    throw new StartError(`${backup} is the database itself, and not a backup of it.`);
  }
  if (sizeOf(`${backup}-wal`) || sizeOf(`${backup}-journal`)) {
    throw notRestored(
      backup,
      `Beside it is a log with a part of its contents: it is a database in use, or was left by a crash. Make a backup of it first: espalier backup <file> --database-url sqlite:${backup}`,
    );
  }
}

function requireReplaceable(to: string, isReplacing: boolean): void {
  const found = statSync(to, { throwIfNoEntry: false });
  if (found && !found.isFile()) throw new StartError(`${to} is not a file.`);
  if (isReplacing) return;
  const there = endings.map((ending) => to + ending).find((file) => existsSync(file));
  if (there) {
    throw new StartError(
      `There is a file ${there} already. Give --replace to put the backup in its place; what is there is kept under another name.`,
    );
  }
}

async function copyBytes(from: string, to: string, { onBytes, signal }: RestoreOptions): Promise<void> {
  const total = sizeOf(from);
  const source = await open(from, 'r');
  try {
    const target = await open(to, 'r+');
    try {
      const buffer = Buffer.alloc(bytesAtOnce);
      for (let done = 0; ;) {
        signal?.throwIfAborted();
        const { bytesRead } = await source.read(buffer, 0, buffer.length, done);
        if (bytesRead === 0) return;
        await target.writeFile(buffer.subarray(0, bytesRead));
        done += bytesRead;
        onBytes?.(done, total);
      }
    } finally {
      await target.close();
    }
  } catch (cause) {
    if (!(cause as NodeJS.ErrnoException).syscall) throw cause;
    throw new StartError(`${from} cannot be copied to ${dirname(to)}: ${(cause as Error).message}.`, {
      cause,
    });
  } finally {
    await source.close();
  }
}

/** The copy, which nobody else has. */
async function checked(backup: string, copy: string, signal: AbortSignal | undefined): Promise<FileContents> {
  try {
    const [finding] = await findDamage(copy, { signal });
    if (finding === 'file is not a database') throw new StartError('It is not a database.');
    if (finding) throw new StartError(`It is damaged: ${finding}.`);
    return await readContents(copy);
  } catch (cause) {
    if (codeOf(cause)) throw notRestored(backup, `It cannot be read: ${(cause as Error).message}.`, cause);
    if (cause instanceof StartError) throw notRestored(backup, cause.message, cause);
    throw cause;
  }
}

function notRestored(backup: string, why: string, cause?: unknown): StartError {
  return new StartError(`${backup} cannot be restored. ${why} Nothing was changed.`, { cause });
}

/** What is there gets one other name, all of it, so that it can still be opened. Answers with that name. */
function exchange(target: NewFile, to: string, now: number): string | null {
  const time = new Date(now)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '');
  const before = `${to}.before-restore-${time}`;
  // The database first: a log without it keeps a server from starting, the database without its log does not.
  const moved = endings.filter((ending) => existsSync(to + ending));
  try {
    for (const ending of moved) renameSync(to + ending, before + ending);
    target.finish({ isReplacing: false });
  } catch (cause) {
    for (const ending of moved.toReversed()) {
      if (!existsSync(to + ending) && existsSync(before + ending)) renameSync(before + ending, to + ending);
    }
    throw new StartError(`The backup cannot be put in place as ${to}: ${(cause as Error).message}`, {
      cause,
    });
  }
  return moved.length > 0 ? before : null;
}
