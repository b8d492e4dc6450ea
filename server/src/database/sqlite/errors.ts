/** Translates errors of SQLite and of the disk into messages for the operator and refusals for clients. */

import { closeSync, fsyncSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { basename } from 'node:path';
import BetterSqlite from 'better-sqlite3';
import { Refusal } from '../../refusal.ts';
import { StartError } from '../../config/start-error.ts';
import { reasonOfErrno, summaryOf, type WriteFailureReason } from '../write-failure.ts';

/** https://www.sqlite.org/rescode.html */
const temporary = /^SQLITE_(BUSY|FULL|READONLY|IOERR|CANTOPEN|NOMEM|PROTOCOL|NOLFS)/;
const damaged = /^SQLITE_(CORRUPT|NOTADB)/;
const retryAfterSeconds = 5;
/** More than SQLite writes with one call. */
const probeBytes = 2 ** 16;

/** Empty if the error is not from SQLite. */
export function codeOf(error: unknown): string {
  return error instanceof BetterSqlite.SqliteError ? error.code : '';
}

export function isDamage(error: unknown): boolean {
  return damaged.test(codeOf(error));
}

/** A full disk, damage or a lock is not the fault of the request. */
export function toUnavailable(error: unknown): unknown {
  const code = codeOf(error);
  if (damaged.test(code)) return damagedRefusal(error);
  return temporary.test(code) ? unavailable(summaryOf(reasonOfCode(code) ?? 'io_error'), error) : error;
}

/** Undefined if neither the database nor its disk made the write fail. */
export function writeFailureOf(
  error: unknown,
  findErrno: () => string | undefined,
): { readonly reason: WriteFailureReason; readonly report: string; readonly refusal: Refusal } | undefined {
  const fault = error instanceof Refusal ? error.cause : error;
  const code = codeOf(fault);
  if (!temporary.test(code)) return undefined;
  const found = reasonOfCode(code);
  // SQLite does not pass on the error of the operating system.
  const isVague = found === undefined || found === 'cannot_open';
  const reason = (isVague && reasonOfErrno(findErrno())) || (found ?? 'io_error');
  // After a crash, the change may or may not be on the disk.
  const isUncertain = reason === 'io_error' && /FSYNC/.test(code);
  const message = isUncertain
    ? 'The disk of the database fails. Look before you try again.'
    : summaryOf(reason);
  return { reason, report: `${code}: ${(fault as Error).message}.`, refusal: unavailable(message, fault) };
}

function unavailable(message: string, cause: unknown): Refusal {
  return new Refusal('UNAVAILABLE', message, { cause, retryAfterSeconds });
}

function reasonOfCode(code: string): WriteFailureReason | undefined {
  if (code === 'SQLITE_FULL') return 'disk_full';
  if (code === 'SQLITE_NOLFS') return 'file_size_limit';
  if (code.startsWith('SQLITE_READONLY')) return 'read_only';
  if (code.startsWith('SQLITE_CANTOPEN')) return 'cannot_open';
  if (/^SQLITE_(IOERR_)?NOMEM/.test(code)) return 'resources';
  return code.startsWith('SQLITE_IOERR') ? undefined : 'locked';
}

/** The error of a write next to the database file; undefined if that succeeds. */
export function findErrno(file: string): string | undefined {
  if (hasReachedSizeLimit(file)) return 'EFBIG';
  const probe = `${file}-probe-${process.pid}`;
  try {
    rmSync(probe, { force: true });
    const descriptor = openSync(probe, 'wx', 0o600);
    try {
      const bytes = Buffer.alloc(probeBytes);
      for (let done = 0; done < probeBytes;) done += writeSync(descriptor, bytes, done);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
      rmSync(probe, { force: true });
    }
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}

/** RLIMIT_FSIZE (https://man7.org/linux/man-pages/man5/proc_pid_limits.5.html). A probe from its beginning would not reach it. */
function hasReachedSizeLimit(file: string): boolean {
  try {
    const [, limit] = /^Max file size +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    if (limit === undefined) return false;
    const sizes = [file, `${file}-wal`].map((each) => statSync(each, { throwIfNoEntry: false })?.size ?? 0);
    return Math.max(...sizes) + probeBytes > Number(limit);
  } catch {
    // Not Linux, or no permission to read the limits: only the probe can find a reason.
    return false;
  }
}

export function damagedRefusal(cause?: unknown): Refusal {
  const message = 'The database is damaged. Nothing is written until it has been restored from a backup.';
  return new Refusal('UNAVAILABLE', message, { cause, retryAfterSeconds: 60 });
}

export function movedRefusal(use: 'read' | 'written'): Refusal {
  const message = `The database cannot be ${use} right now. Try again later.`;
  return new Refusal('UNAVAILABLE', message, { retryAfterSeconds: 60 });
}

/** Warns against a restart, which would create an empty database, or lose the last copy of a deleted one. */
export function movedText(file: string): string {
  return `The file ${file} was moved, deleted or replaced while it was used: nothing is written until it is back. Put it back, and the server goes on by itself. Do not stop or restart it meanwhile: a start makes a new, empty database where there is none, and of a file that was deleted this process has the last copy (docs/durability.md tells how to get it).`;
}

/** One line with the damage and the steps to restore the file. */
export function damageText(file: string, finding: string): string {
  const name = basename(file);
  return `The database file ${file} is damaged: ${finding.replace(/\.?\s*$/, '').replaceAll(/\s+/g, ' ')}. To restore it, stop every server on it, move ${name}, ${name}-wal and ${name}-shm aside, put the last backup in place as ${name} (espalier restore <backup> --replace does both), and start again; docs/durability.md tells more.`;
}

/** Explains why the server cannot start on this file. Returns other errors unchanged. */
export function toStartError(error: unknown, file: string): unknown {
  const fault = error instanceof Refusal ? error.cause : error;
  if (!codeOf(fault)) return error;
  const { message } = fault as Error;
  if (isDamage(fault)) return new StartError(damageText(file, message), { cause: error });
  const reason = error instanceof Refusal ? ` ${error.message}` : '';
  return new StartError(`The database file ${file} cannot be prepared: ${message}.${reason}`, {
    cause: error,
  });
}
