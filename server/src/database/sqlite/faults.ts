/**
 * Translates errors of SQLite and of the disk into messages for the operator and refusals for clients. Prevents writes to a
 * file that is damaged, moved or replaced.
 */

import { closeSync, fsyncSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { basename } from 'node:path';
import BetterSqlite from 'better-sqlite3';
import { Refusal } from '../../refusal.ts';
import { StartError } from '../../config/start-error.ts';
import {
  Faults,
  reasonOfErrno,
  summaryOf,
  type DatabaseFault,
  type FaultOptions,
  type WriteFailureReason,
} from '../faults.ts';

/** https://www.sqlite.org/rescode.html */
const temporaryCodes = /^SQLITE_(BUSY|FULL|READONLY|IOERR|CANTOPEN|NOMEM|PROTOCOL|NOLFS)/;
const damageCodes = /^SQLITE_(CORRUPT|NOTADB)/;
const retryAfterSeconds = 5;
/** More than SQLite writes with one call. */
const probeBytes = 2 ** 16;

/** Empty if the error is not from SQLite. */
export function sqliteCodeOf(error: unknown): string {
  return error instanceof BetterSqlite.SqliteError ? error.code : '';
}

export function isDamage(error: unknown): boolean {
  return damageCodes.test(sqliteCodeOf(error));
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

/** Writes a probe next to the database file. Returns the error code, or undefined if the write succeeds. */
function findErrno(file: string): string | undefined {
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

/** RLIMIT_FSIZE (https://man7.org/linux/man-pages/man5/proc_pid_limits.5.html). The probe is too small to reach it. */
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

function damagedRefusal(cause?: unknown): Refusal {
  const message = 'The database is damaged. Nothing is written until a backup is restored.';
  return new Refusal('UNAVAILABLE', message, { cause, retryAfterSeconds: 60 });
}

/** Warns against a restart, which would create an empty database, or lose the last copy of a deleted one. */
function movedText(file: string): string {
  return `The file ${file} was moved, deleted or replaced while the server used it. Nothing is written until the file is back. Put it back, and the server continues. Do not stop or restart the server before that: a start without the file creates an empty database, and only this process still has the content of a deleted file. Run 'espalier docs durability' for the steps.`;
}

/** One line with the damage and the steps to restore the file. */
export function damageText(file: string, finding: string): string {
  const name = basename(file);
  return `The database file ${file} is damaged: ${finding.replace(/\.?\s*$/, '').replaceAll(/\s+/g, ' ')}. To restore it, stop every server that uses it, move ${name}, ${name}-wal and ${name}-shm aside, put the last backup in place as ${name} ('espalier restore <backup> --replace' does both), and start again. Run 'espalier docs durability' for the steps.`;
}

/** Explains why the server cannot start on this file. Returns other errors unchanged. */
export function toStartError(error: unknown, file: string): unknown {
  const cause = error instanceof Refusal ? error.cause : error;
  if (!sqliteCodeOf(cause)) return error;
  const { message } = cause as Error;
  if (isDamage(cause)) return new StartError(damageText(file, message), { cause: error });
  const reason = error instanceof Refusal ? ` ${error.message}` : '';
  return new StartError(`The database file ${file} cannot be prepared: ${message}.${reason}`, {
    cause: error,
  });
}

/** How long the result of a probe is reused, so that not every request probes a failing disk. */
const probeValidMs = 1_000;
const movedSummary =
  'The database file was moved, deleted or replaced. Put it back, and do not restart the server meanwhile.';
const damagedSummary =
  'The database is damaged. Stop every server that uses it, restore a backup, and start again.';

export class SqliteFaults extends Faults {
  readonly #file: string;
  readonly #fileIdentity: string | undefined;
  #logIdentity: string | undefined;
  /** The file or the log that was missing at the last check. */
  #missingFile: string | undefined;
  #lastProbe: { readonly errno: string | undefined; readonly at: number } | undefined;

  /** Create this object before you open the file, because the file may be replaced at any moment. */
  constructor(file: string, options: FaultOptions) {
    super(options);
    this.#file = file;
    this.#fileIdentity = identityOf(file);
  }

  findFault(): DatabaseFault | undefined {
    return this.#findMove() ?? this.damage;
  }

  reportDamage(finding: string, cause?: unknown): Refusal {
    this.recordDamage({ summary: damagedSummary, detail: damageText(this.#file, finding) });
    return damagedRefusal(cause);
  }

  /** Turns an error that the request did not cause, for example a full disk, damage or a lock, into UNAVAILABLE. */
  readonly toRefusal = (error: unknown): unknown => {
    const code = sqliteCodeOf(error);
    if (isDamage(error)) return this.reportDamage((error as Error).message, error);
    return temporaryCodes.test(code)
      ? unavailable(summaryOf(reasonOfCode(code) ?? 'io_error'), error)
      : error;
  };

  /** Like `toRefusal()`, but also records a failed write. `rows` is the number of rows that the transaction had changed. */
  toWriteRefusal(error: unknown, rows: number): unknown {
    const cause = error instanceof Refusal ? error.cause : error;
    const code = sqliteCodeOf(cause);
    // The cause is neither the database nor its disk.
    if (!temporaryCodes.test(code)) return this.toRefusal(error);
    const found = reasonOfCode(code);
    // SQLite does not pass on the error of the operating system.
    const isVague = found === undefined || found === 'cannot_open';
    const reason = (isVague && reasonOfErrno(this.#findRecentErrno())) || (found ?? 'io_error');
    this.recordWriteFailure(reason, `${code}: ${(cause as Error).message}.`, rows);
    // After a crash, the change may or may not be on the disk.
    const isUncertain = reason === 'io_error' && /FSYNC/.test(code);
    return unavailable(
      isUncertain
        ? 'The disk of the database fails, and the change may or may not be stored. Check before you try again.'
        : summaryOf(reason),
      cause,
    );
  }

  /** Writes to a damaged file may be lost, or damage it further. */
  requireUndamaged(): void {
    if (this.damage) throw damagedRefusal();
  }

  /** Throws if the file was deleted or replaced, because SQLite would continue. The log exists only after the first `begin`. */
  requireSameFile(use: 'read' | 'written'): void {
    if (!this.#findMove()) return;
    const message = `The database cannot be ${use} right now. Try again later.`;
    throw new Refusal('UNAVAILABLE', message, { retryAfterSeconds: 60 });
  }

  #findMove(): DatabaseFault | undefined {
    const [before, missing] = [this.#missingFile, this.#findMissingFile()];
    this.#missingFile = missing;
    if (missing === undefined) {
      if (before !== undefined) {
        this.log('info', `The file ${before} is back in its place. Changes are written again.`);
      }
      return undefined;
    }
    const detail = movedText(missing);
    if (before === undefined) this.log('error', detail);
    return { summary: movedSummary, detail };
  }

  /** The log exists from the first transaction until the file is closed. */
  #findMissingFile(): string | undefined {
    if (identityOf(this.#file) !== this.#fileIdentity) return this.#file;
    const log = `${this.#file}-wal`;
    const identity = identityOf(log);
    this.#logIdentity ??= identity;
    return identity === this.#logIdentity ? undefined : log;
  }

  #findRecentErrno(): string | undefined {
    const at = performance.now();
    if (!this.#lastProbe || at - this.#lastProbe.at > probeValidMs) {
      this.#lastProbe = { errno: findErrno(this.#file), at };
    }
    return this.#lastProbe.errno;
  }
}

function identityOf(file: string): string | undefined {
  try {
    const { dev, ino } = statSync(file);
    return `${dev} ${ino}`;
  } catch {
    // Deleted, or no longer accessible.
    return undefined;
  }
}
