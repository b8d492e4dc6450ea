/** Operations on database files for backup, restore and doctor: copy, read, lock and check for damage. */

import { execFile, type ExecFileException } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { linkSync, rmSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import BetterSqlite, { type Database as Connection } from 'better-sqlite3';
import { StartError } from '../../config/start-error.ts';
import type { Reader, Transaction } from '../database.ts';
import { sqliteCodeOf } from './faults.ts';
import { openTimeoutMs } from './file.ts';
import { createStatementRunner, readTableNames } from './dialect.ts';

/** How many pages are copied before other work runs: about a millisecond. */
const pagesPerStep = 100;

interface CopyFileOptions {
  readonly onPages?: ((done: number, total: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Copies a snapshot of the file while other connections write to it. Writers do not wait, but the log grows meanwhile. Without
 * its read transaction, SQLite would restart the copy after each commit: https://www.sqlite.org/backup.html
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
        return pagesPerStep;
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
  /** The size of a backup, which includes changes that are still in the log. */
  readonly bytes: number;
  close(): void;
}

/** Opens a file that no process uses, for reading only. */
export function openDatabaseFile(file: string): DatabaseFile {
  const connection = new BetterSqlite(file, { readonly: true, fileMustExist: true, timeout: openTimeoutMs });
  const pragma = (name: string) => connection.pragma(name, { simple: true }) as number;
  try {
    return {
      applicationId: pragma('application_id'),
      bytes: pragma('page_count') * pragma('page_size'),
      ...createStatementRunner(connection),
      tableNames: () => readTableNames(connection),
      close: () => connection.close(),
    };
  } catch (error) {
    connection.close();
    throw error;
  }
}

export interface FileLock {
  /** False if the lock could not be taken, for example because the file is damaged. Other processes may then use the file. */
  readonly isCertain: boolean;
  release(): void;
}

/**
 * Prevents other processes from opening the file until the lock is released. Fails while a process has the file open. The lock is
 * taken through a hard link: it applies to the same file, but SQLite finds no log under that name and leaves both files unchanged.
 */
export function lockExclusively(file: string): FileLock {
  const link = `${file}.held-${randomBytes(4).toString('hex')}`;
  let connection: Connection | undefined;
  const release = () => {
    connection?.close();
    for (const ending of ['', '-wal', '-shm']) rmSync(link + ending, { force: true });
  };
  try {
    linkSync(file, link);
    connection = new BetterSqlite(link, { fileMustExist: true, timeout: 0 });
    // Every connection to a file with a write-ahead log holds a lock for as long as it is open.
    connection.pragma('locking_mode = exclusive');
    connection.exec('begin exclusive; rollback');
    return { isCertain: true, release };
  } catch (error) {
    release();
    if (sqliteCodeOf(error).startsWith('SQLITE_BUSY')) {
      throw new StartError(
        `A server or another program uses ${file}. Stop every server that uses this file, and run the same command again.`,
        { cause: error },
      );
    }
    // The file is damaged, or the file system has no hard links.
    return { isCertain: false, release: () => undefined };
  }
}

/** The extension is `.ts` in the sources and `.js` in a build. */
const program = join(import.meta.dirname, `integrity-check-program${extname(import.meta.filename)}`);

/**
 * Returns the findings of an integrity check; empty for an undamaged file. The check runs in its own process, because it may
 * take minutes, and reading a damaged file may crash the process.
 */
export async function findDamage(
  file: string,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<readonly string[]> {
  let findings: string;
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [program, file], { signal });
    findings = stdout;
  } catch (error) {
    const { code, signal: killedBy, stderr } = error as ExecFileException & { readonly stderr: string };
    // The code is a text if the process could not be started.
    if (signal?.aborted || typeof code === 'string') throw error;
    const why = stderr.trim().split('\n').at(-1) || `its process ended with ${killedBy ?? code}`;
    throw new StartError(`The file ${file} cannot be checked: ${why}.`);
  }
  return JSON.parse(findings) as string[];
}
