/** What backups need of SQLite: a copy of a file that is in use, a look into one that is not, and whether it is in use. */

import { randomBytes } from 'node:crypto';
import { linkSync, rmSync } from 'node:fs';
import BetterSqlite, { type Database as Connection } from 'better-sqlite3';
import { StartError } from '../../config/start-error.ts';
import type { Reader, Transaction } from '../database.ts';
import { codeOf } from './errors.ts';
import { openTimeoutMs } from './file.ts';
import { prepare } from './dialect.ts';
import type { Statement } from '../statement.ts';
import { spawn } from 'child_process';
import { text } from 'stream/consumers';
import { fileURLToPath } from 'url';

/** Copied in one go: whoever shares the process waits that long, about a millisecond. */
const pagesAtOnce = 100;

export interface CopyFileOptions {
  readonly onPages?: ((done: number, total: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Copies the file as it is at one moment, while others write to it: their log grows meanwhile, and nobody waits. Without
 * the transaction, SQLite would begin anew with each of their commits: https://www.sqlite.org/backup.html
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
  makeOneFile(to);
}

/** Without a write-ahead log it can be read wherever it is, and nothing stands beside it. */
function makeOneFile(file: string): void {
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

/** A file that nobody uses; it is only read. */
export function openDatabaseFile(file: string): DatabaseFile {
  const connection = new BetterSqlite(file, { readonly: true, fileMustExist: true, timeout: openTimeoutMs });
  const ask = <P, R>(statement: Statement<P, R>, parameters: P): R[] =>
    prepare(connection, statement).all(parameters) as R[];
  try {
    return {
      applicationId: connection.pragma('application_id', { simple: true }) as number,
      all: ask,
      get: (statement, parameters) => ask(statement, parameters)[0],
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
  /** Whether others use it cannot be told of a file that cannot be read. */
  readonly isCertain: boolean;
  release(): void;
}

/**
 * Nobody else can open the file until it is released; refused while somebody has it open. Locks are on the file, whatever
 * its name is: under another one SQLite sees no log beside it, and leaves both as they are.
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
    // Damaged, or on a file system where a file has one name only.
    return { isCertain: false, release: () => undefined };
  }
}
/** Beside this file, and in the same language. */
const program = fileURLToPath(
  new URL(
    import.meta.url.endsWith('.ts') ? './integrity-check-program.ts' : './integrity-check-program.js',
    import.meta.url,
  ),
);
/** What is wrong with the file, in the words of SQLite; nothing if it is whole. Only reads it. */

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
