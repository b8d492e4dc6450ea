/** Operations on database files for backup, restore and doctor: copy, read, lock and check for damage. */

import { randomBytes } from 'node:crypto';
import { linkSync, rmSync } from 'node:fs';
import BetterSqlite, { type Database as Connection } from 'better-sqlite3';
import { StartError } from '../../config/start-error.ts';
import type { Reader, Transaction } from '../database.ts';
import { codeOf } from './errors.ts';
import { openTimeoutMs } from './file.ts';
import { prepare } from './dialect.ts';
import type { Statement } from '../statement.ts';
import { spawn } from 'node:child_process';
import { text } from 'stream/consumers';
import { fileURLToPath } from 'node:url';

/** Pages that are copied without yielding: about a millisecond. */
const pagesAtOnce = 100;

interface CopyFileOptions {
  readonly onPages?: ((done: number, total: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Copies a snapshot of the file while other connections write to it: no writer waits, and the log grows meanwhile. Without
 * the transaction, SQLite would restart the copy after each commit: https://www.sqlite.org/backup.html
 */
export async function copyDatabaseFile(
  from: string,
  to: string,
  options: CopyFileOptions = {},
): Promise<void> {
  const { onPages, signal } = options;
  const source = new BetterSqlite(from, { readonly: true, timeout: openTimeoutMs });
  try {
    source.exec('begin');
    source.prepare('select count(*) from sqlite_schema').get();
    const { totalPages: pages } = await source.backup(to, {
      progress: ({ totalPages, remainingPages }) => {
        signal?.throwIfAborted();
        onPages?.(totalPages - remainingPages, totalPages);
        return pagesAtOnce;
      },
    });
    signal?.throwIfAborted();
    onPages?.(pages, pages);
  } finally {
    source.close();
  }
  disableLog(to);
}

/** Without a write-ahead log, the file can be read from any folder, and has no other files next to it. */
function disableLog(file: string): void {
  const copy = new BetterSqlite(file, { timeout: openTimeoutMs });
  try {
    copy.pragma('journal_mode = delete');
  } finally {
    copy.close();
  }
}

export interface DatabaseFile extends Reader, Pick<Transaction, 'tableNames'> {
  readonly applicationId: number;
  close(): void;
}

/** Opens a file that no process uses, for reading only. */
export function openDatabaseFile(file: string): DatabaseFile {
  const connection = new BetterSqlite(file, { readonly: true, fileMustExist: true, timeout: openTimeoutMs });
  const read = <P, R>(statement: Statement<P, R>, parameters: P): R[] =>
    prepare(connection, statement).all(parameters) as R[];
  try {
    return {
      applicationId: connection.pragma('application_id', { simple: true }) as number,
      all: read,
      get: (statement, parameters) => read(statement, parameters)[0],
      tableNames: () =>
        connection.prepare(`select name from sqlite_schema where type = 'table'`).pluck().all() as string[],
      close: () => connection.close(),
    };
  } catch (error) {
    connection.close();
    throw error;
  }
}

export interface FileLock {
  /** False if the lock could not be taken, for example because the file is damaged: other processes may use it. */
  readonly isCertain: boolean;
  release(): void;
}

/**
 * Prevents other processes from opening the file until the lock is released. Refused while a process has it open. A lock belongs
 * to the file and not to its name: under another name, SQLite finds no log and leaves both files unchanged.
 */
export function lockExclusively(file: string): FileLock {
  const other = `${file}.held-${randomBytes(4).toString('hex')}`;
  let connection: Connection | undefined;
  const release = () => {
    connection?.close();
    for (const ending of ['', '-wal', '-shm']) rmSync(other + ending, { force: true });
  };
  try {
    linkSync(file, other);
    connection = new BetterSqlite(other, { fileMustExist: true, timeout: 0 });
    // Every connection to a file with a write-ahead log holds a lock for as long as it is open.
    connection.pragma('locking_mode = exclusive');
    connection.exec('begin exclusive; rollback');
    return { isCertain: true, release };
  } catch (error) {
    release();
    if (codeOf(error).startsWith('SQLITE_BUSY')) {
      throw new StartError(
        `The database file ${file} is in use. Stop every server on it, and whatever else has it open, and try again.`,
        { cause: error },
      );
    }
    // The file is damaged, or the file system has no hard links.
    return { isCertain: false, release: () => undefined };
  }
}

/** A JavaScript build contains the JavaScript program. */
const program = fileURLToPath(
  new URL(
    import.meta.url.endsWith('.ts') ? './integrity-check-program.ts' : './integrity-check-program.js',
    import.meta.url,
  ),
);

/**
 * Returns the findings of an integrity check; empty for an undamaged file. A process of its own runs it, because it may take
 * minutes, and reading a damaged file may crash the process.
 */
export async function findDamage(
  file: string,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<readonly string[]> {
  const child = spawn(process.execPath, [program, file], { stdio: ['ignore', 'pipe', 'pipe'], signal });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [code, output, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (code !== 0) {
    const why = errors.trim().split('\n').at(-1) || `its process ended with ${child.signalCode ?? code}`;
    throw new StartError(`The file ${file} cannot be checked: ${why}.`);
  }
  return JSON.parse(output) as string[];
}
