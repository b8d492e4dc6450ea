/** The file of an embedded database: made for its owner alone, and looked at before anything is done with it. */

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
import { StartError } from '../../config/start-error.ts';
import { codeOf, damageText, isDamage } from './errors.ts';

/** "ESPA", in the header of the file: https://www.sqlite.org/fileformat2.html#application_id */
export const applicationId = 0x45535041;
/** Checked at each start. What is larger would take too long. */
const maxCheckedBytes = 64 * 2 ** 20;
/** While a file is opened, nobody else is served yet: other processes that open it may be waited for. */
export const openTimeoutMs = 5_000;

/** Answers with the file itself, wherever links lead to. */
export function prepareFile(path: string, { mustExist }: { mustExist: boolean }): string {
  const given = resolve(path);
  if (mustExist && !sizeOf(given)) throw new StartError(`There is no database file ${given}.`);
  const file = createPrivately(given);
  if (sizeOf(file)) inspectFile(file);
  else requireNoLog(file);
  return file;
}

/** Zero if there is none. An empty file is none: it would be made into a database. */
export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** SQLite gives its side files the mode of the database file: nobody else may read any of them. */
function createPrivately(given: string): string {
  try {
    const found = statSync(given, { throwIfNoEntry: false });
    const firstFolder = makeFolder(dirname(given));
    // Whoever closes a file loses every lock that the process has on it: https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_
    if (found?.isFile()) accessSync(given, constants.R_OK | constants.W_OK);
    else closeSync(openSync(given, 'a', 0o600));
    const file = realpathSync(given);
    if (!found) syncFolders(dirname(file), firstFolder ? dirname(realpathSync(firstFolder)) : dirname(file));
    return file;
  } catch (cause) {
    throw new StartError(`The database file ${given} cannot be opened: ${(cause as Error).message}.`, {
      cause,
    });
  }
}

/** A folder for its owner alone, if there is none, on the disk with those above it that were made. */
export function makePrivateFolder(folder: string): void {
  const firstFolder = makeFolder(folder);
  if (firstFolder) syncFolders(realpathSync(folder), dirname(realpathSync(firstFolder)));
}

/** Answers with the topmost that it made. Node's own recursion never ends where nothing can be made, as in /proc. */
function makeFolder(folder: string): string | undefined {
  if (statSync(folder, { throwIfNoEntry: false })) return undefined;
  const above = folder === dirname(folder) ? undefined : makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process that starts here, too.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return above ?? folder;
}

/** That a file is in its folder is on the disk only then; SQLite does it for its side files. */
export function syncFolders(folder: string, last: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  if (folder !== last && folder !== dirname(folder)) syncFolders(dirname(folder), last);
}

/** Changes nothing, not even with what a crash has left in the write-ahead log: it may be of another database. */
function inspectFile(file: string): void {
  let connection: Connection | undefined;
  try {
    // What a first start left half done can only be taken back by one that writes.
    connection = new BetterSqlite(file, { readonly: !sizeOf(`${file}-journal`), timeout: openTimeoutMs });
    if (connection.pragma('page_count', { simple: true }) === 0) return;
    if (connection.pragma('application_id', { simple: true }) !== applicationId) {
      throw new StartError(
        `The database file ${file} is of another program. Give Espalier a database of its own.`,
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

/** SQLite would take it for new, and throw the log away. */
function requireNoLog(file: string): void {
  if (sizeOf(`${file}-wal`))
    throw new StartError(formatDamage(file, 'it is empty, but its write-ahead log is not'));
}

export function toFileStartError(cause: unknown, file: string): StartError {
  if (cause instanceof StartError) return cause;
  const { message } = cause as Error;
  const isForeign = codeOf(cause) === 'SQLITE_NOTADB' && !isHeaderLost(file);
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

/** Rather than never having had one. */
function isHeaderLost(file: string): boolean {
  if (sizeOf(`${file}-wal`)) return true;
  const header = Buffer.alloc(16);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, header, 0, header.length, 0);
  } finally {
    closeSync(descriptor);
  }
  return header.every((byte) => byte === 0);
}

/** The database and what belongs to it while it is open, of what is there. */
export function listDatabaseFiles(file: string): string[] {
  return ['', '-wal', '-shm'].map((ending) => file + ending).filter((each) => existsSync(each));
}

/** The signing keys are in there. */
export function warnIfOthersCanRead(file: string, warn: (text: string) => void): void {
  const readable = listDatabaseFiles(file).filter((each) => statSync(each).mode & 0o077);
  if (readable.length === 0) return;
  warn(
    `Others on this machine may read the database, with the keys that sign tokens. Run: chmod 600 ${readable.join(' ')}`,
  );
}

/**
 * Answers with a file that is no longer where it was, at first asked with a transaction open. To be called before it is
 * opened: it may be replaced at any moment. Its log is there only with the first transaction, and then for as long as it is open.
 */
export function createMoveCheck(file: string): () => string | undefined {
  const log = `${file}-wal`;
  const known = identityOf(file);
  let knownLog: string | undefined;
  return () => {
    if (identityOf(file) !== known) return file;
    const found = identityOf(log);
    knownLog ??= found;
    return found === knownLog ? undefined : log;
  };
}

function identityOf(file: string): string | undefined {
  try {
    const { dev, ino } = statSync(file);
    return `${dev} ${ino}`;
  } catch {
    // Gone, or where nobody may look any more.
    return undefined;
  }
}
