/** The database file of SQLite: created so that only its owner can read it, and checked before it is used. */

import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import BetterSqlite, { type Database as Connection } from 'better-sqlite3';
import { StartError, fileError } from '../../config/start-error.ts';
import { sqliteCodeOf, damageText, isDamage } from './faults.ts';

/** "ESPA", in the header of the file: https://www.sqlite.org/fileformat2.html#application_id */
export const applicationId = 0x45535041;
/** Files up to this size are checked at each start: larger ones would take too long. */
const maxCheckedBytes = 64 * 2 ** 20;
/** Opening may wait for other processes, because no request is served yet. */
export const openTimeoutMs = 5_000;

/** Returns the path with all symbolic links resolved. */
export function prepareFile(path: string, { mustExist }: { mustExist: boolean }): string {
  const absolute = resolve(path);
  if (mustExist && !sizeOf(absolute)) {
    throw new StartError(
      `There is no database file ${absolute}. Set --database-url or ESPALIER_DATABASE_URL to the database of the server.`,
    );
  }
  const file = createPrivateFile(absolute);
  if (sizeOf(file)) inspectFile(file);
  else requireNoLog(file);
  return file;
}

/** Zero if there is no file, or an empty file, which SQLite would turn into a database. */
export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** SQLite gives its other files the mode of the database file, so only the owner can read any of them. */
function createPrivateFile(path: string): string {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    const firstFolder = makeFolder(dirname(path));
    // An existing file is not opened here, because closing it would drop every lock of the process on it: https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_
    if (found?.isFile()) accessSync(path, constants.R_OK | constants.W_OK);
    else closeSync(openSync(path, 'a', 0o600));
    const file = realpathSync(path);
    if (!found) syncFolders(dirname(file), firstFolder ? dirname(realpathSync(firstFolder)) : dirname(file));
    return file;
  } catch (cause) {
    throw fileError(`Cannot open the database file ${path}`, cause);
  }
}

/** Creates a missing folder that only its owner can read, and syncs it and each parent that was also created. */
export function makePrivateFolder(folder: string): void {
  const firstFolder = makeFolder(folder);
  if (firstFolder) syncFolders(realpathSync(folder), dirname(realpathSync(firstFolder)));
}

/** Returns the topmost folder that it created. Node's `recursive` option would never return in /proc, where no folder can be created. */
function makeFolder(folder: string): string | undefined {
  if (statSync(folder, { throwIfNoEntry: false })) return undefined;
  const topmost = folder === dirname(folder) ? undefined : makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may start at the same time and create it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return topmost ?? folder;
}

/** A new file is on the disk only when its folder is synced. SQLite syncs the folder for its own files. */
export function syncFolders(folder: string, last: string): void {
  withDescriptor(folder, 'r', fsyncSync);
  if (folder !== last && folder !== dirname(folder)) syncFolders(dirname(folder), last);
}

export function withDescriptor(path: string, flags: string, use: (descriptor: number) => void): void {
  const descriptor = openSync(path, flags);
  try {
    use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Does not change the file or apply its write-ahead log, because the file may belong to another program. */
function inspectFile(file: string): void {
  let connection: Connection | undefined;
  try {
    // Only a connection that may write can roll back an unfinished first start.
    connection = new BetterSqlite(file, { readonly: !sizeOf(`${file}-journal`), timeout: openTimeoutMs });
    if (connection.pragma('page_count', { simple: true }) === 0) return;
    if (connection.pragma('application_id', { simple: true }) !== applicationId) {
      throw new StartError(
        `The database file ${file} belongs to another program. Give Espalier its own database.`,
      );
    }
    if (sizeOf(file) + sizeOf(`${file}-wal`) <= maxCheckedBytes) requireUndamaged(connection, file);
  } catch (cause) {
    throw toFileStartError(cause, file);
  } finally {
    connection?.close();
  }
}

function requireUndamaged(connection: Connection, file: string): void {
  const finding = connection.pragma('quick_check(1)', { simple: true }) as string;
  if (finding !== 'ok') throw new StartError(formatDamage(file, finding));
}

/** Refuses an empty file with a log, because SQLite would treat the file as new and discard the log. */
function requireNoLog(file: string): void {
  if (sizeOf(`${file}-wal`))
    throw new StartError(formatDamage(file, 'it is empty, but its write-ahead log is not'));
}

export function toFileStartError(cause: unknown, file: string): StartError {
  if (cause instanceof StartError) return cause;
  const { message } = cause as Error;
  const isForeign = sqliteCodeOf(cause) === 'SQLITE_NOTADB' && !isHeaderLost(file);
  const reason = isForeign ? 'it is not a SQLite database' : message;
  return new StartError(
    isDamage(cause) && !isForeign
      ? formatDamage(file, message)
      : `The database file ${file} cannot be used: ${reason}.`,
    { cause },
  );
}

function formatDamage(file: string, finding: string): string {
  return damageText(file, `${finding} (nothing was changed)`);
}

/** True if the file was a database before: it has a log, or a header of zeros. */
function isHeaderLost(file: string): boolean {
  if (sizeOf(`${file}-wal`)) return true;
  const header = Buffer.alloc(16);
  withDescriptor(file, 'r', (descriptor) => readSync(descriptor, header, 0, header.length, 0));
  return header.every((byte) => byte === 0);
}

/** The database file and its log files, as far as they exist. */
export function listDatabaseFiles(file: string): string[] {
  return ['', '-wal', '-shm'].map((ending) => file + ending).filter((each) => existsSync(each));
}

/** The database contains the signing keys. */
export function warnIfOthersCanRead(file: string, warn: (text: string) => void): void {
  const readable = listDatabaseFiles(file).filter((each) => statSync(each).mode & 0o077);
  if (readable.length === 0) return;
  warn(
    `Other users of this machine can read the database, which contains the keys that sign tokens. Run: chmod 600 ${readable.join(' ')}`,
  );
}
