/** What SQLite and the disk below it can say, in words for the operator, and as refusals for clients. */

import { accessSync, constants, statfsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import BetterSqlite from 'better-sqlite3';
import { Refusal } from '../refusal.ts';
import { StartError } from '../start-error.ts';

/** https://www.sqlite.org/rescode.html */
const passing = /^SQLITE_(BUSY|FULL|READONLY|IOERR|CANTOPEN|NOMEM|PROTOCOL)/;
const damaged = /^SQLITE_(CORRUPT|NOTADB)/;
const retryAfterSeconds = 5;

/** Empty if it is nothing that SQLite said. */
export function codeOf(error: unknown): string {
  return error instanceof BetterSqlite.SqliteError ? error.code : '';
}

export function isDamage(error: unknown): boolean {
  return damaged.test(codeOf(error));
}

/** The machine's trouble is not the request's fault: a full or damaged disk, others that write. */
export function asRefusal(error: unknown, file: string): unknown {
  const code = codeOf(error);
  if (damaged.test(code)) return damagedRefusal(error);
  if (!passing.test(code)) return error;
  return new Refusal('UNAVAILABLE', whatIsWrong(code, file), { cause: error, retryAfterSeconds });
}

export function damagedRefusal(cause?: unknown): Refusal {
  const message = 'The database is damaged. Nothing is written until it has been restored from a backup.';
  return new Refusal('UNAVAILABLE', message, { cause, retryAfterSeconds: 60 });
}

export function movedRefusal(): Refusal {
  const message = 'The database cannot be written right now. Try again later.';
  return new Refusal('UNAVAILABLE', message, { retryAfterSeconds: 60 });
}

/** To restart is what comes to mind first, and would leave an empty tree, or lose the last copy of one that was deleted. */
export function movedText(file: string): string {
  return `The file ${file} was moved, deleted or replaced while it was used: nothing is written until it is back. Put it back, and the server goes on by itself. Do not stop or restart it meanwhile: a start makes a new, empty database where there is none, and of a file that was deleted this process has the last copy (docs/durability.md tells how to get it).`;
}

function whatIsWrong(code: string, file: string): string {
  if (code === 'SQLITE_FULL') return full;
  if (code.startsWith('SQLITE_READONLY') || isReadOnly(file)) return 'The disk of the database is read-only.';
  // The change may turn out to be on the disk after a crash, or not.
  if (/FSYNC/.test(code)) return 'The disk of the database fails. Look before you try again.';
  if (code.startsWith('SQLITE_IOERR') && hasNoRoom(file)) return full;
  return code.startsWith('SQLITE_CANTOPEN')
    ? 'The database file cannot be opened right now. Try again later.'
    : 'The database cannot be written right now. Try again later.';
}

const full = 'The disk of the database is full.';

/** SQLite does not tell why a write failed. */
function isReadOnly(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS';
  }
}

function hasNoRoom(file: string): boolean {
  try {
    return statfsSync(dirname(file)).bavail === 0;
  } catch {
    return false;
  }
}

/** One line: what is wrong, that it is as it was, and what to do. */
export function damageText(file: string, finding: string): string {
  const name = basename(file);
  return `The database file ${file} is damaged: ${finding.replace(/\.?\s*$/, '').replaceAll(/\s+/g, ' ')}. To restore it, stop every server on it, move ${name}, ${name}-wal and ${name}-shm aside, put the last backup in place as ${name} (espalier restore <backup> --replace does both), and start again; docs/durability.md tells more.`;
}

/** Why the server cannot be started on this file. What is not about the database stays as it is. */
export function toStartError(error: unknown, file: string): unknown {
  const fault = error instanceof Refusal ? error.cause : error;
  if (!codeOf(fault)) return error;
  const { message } = fault as Error;
  if (isDamage(fault)) return new StartError(damageText(file, message), { cause: error });
  return new StartError(`The database file ${file} cannot be prepared: ${message}.`, { cause: error });
}
