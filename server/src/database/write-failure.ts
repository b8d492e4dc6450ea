/**
 * Records why writes fail, from the first failed write until a write of at least its size succeeds. Health checks, metrics, the
 * log and clients get the reason from here.
 */

import type { DatabaseFault, DatabaseOptions } from './database.ts';

interface Description {
  /** For anyone, without names or paths. */
  readonly summary: string;
  /** For the operator. */
  readonly advice: string;
}

const descriptions = {
  disk_full: {
    summary: 'The disk of the database is full.',
    advice: 'Free disk space.',
  },
  file_size_limit: {
    summary: 'The database has reached the file size limit of its process.',
    advice:
      'Raise the limit (for example `ulimit -f unlimited`, or `LimitFSIZE=infinity` in a systemd unit) and restart the process.',
  },
  quota: {
    summary: 'The disk quota of the database is used up.',
    advice: 'Raise the quota, or delete other files that count against it.',
  },
  read_only: {
    summary: 'The database is read-only right now. Try again later.',
    advice:
      'Make it writable: remount the file system, correct the permissions of the file and its folder, or connect to the primary PostgreSQL server.',
  },
  permission: {
    summary: 'The server does not have permission to write to the database.',
    advice: 'Give the user of the process, or the PostgreSQL role, permission to write.',
  },
  io_error: {
    summary: 'The disk of the database reports input/output errors.',
    advice: 'Check the disk and the kernel log, and make sure that you have a recent backup.',
  },
  cannot_open: {
    summary: 'The database file cannot be opened right now. Try again later.',
    advice: 'Check that the folder of the file exists, and that the process may open more files.',
  },
  locked: {
    summary: 'The database cannot be written right now. Try again later.',
    advice: 'Another process or session holds a write lock: end it if it does not finish.',
  },
  resources: {
    summary: 'The database has run out of memory or of another resource.',
    advice: 'Give the database, or this process if the database is embedded, more of it.',
  },
} as const satisfies Readonly<Record<string, Description>>;

export type WriteFailureReason = keyof typeof descriptions;

/** The values of a metric label. */
export const writeFailureReasons = Object.keys(descriptions) as readonly WriteFailureReason[];

export interface WriteFailure extends DatabaseFault {
  readonly reason: WriteFailureReason;
}

/** Errors of the operating system, as Node names them. */
const reasonsOfErrno: Readonly<Partial<Record<string, WriteFailureReason>>> = {
  ENOSPC: 'disk_full',
  EFBIG: 'file_size_limit',
  EDQUOT: 'quota',
  EROFS: 'read_only',
  EACCES: 'permission',
  EPERM: 'permission',
  EIO: 'io_error',
  EMFILE: 'cannot_open',
  ENFILE: 'cannot_open',
};

export function reasonOfErrno(errno: string | undefined): WriteFailureReason | undefined {
  return errno === undefined ? undefined : reasonsOfErrno[errno];
}

export function summaryOf(reason: WriteFailureReason): string {
  return descriptions[reason].summary;
}

export interface WriteStateOptions
  extends Pick<DatabaseOptions, 'onWriteFailure'>, Required<Pick<DatabaseOptions, 'log'>> {
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number;
}

/** After this time, any successful write ends a failure, whatever its size. */
const sizeMattersMs = 60_000;

/** The outcome of the last writes of this process. */
export class WriteState {
  readonly #options: WriteStateOptions;
  readonly #now: () => number;
  #failure: WriteFailure | undefined;
  #failedAt = 0;
  /** The rows of the last failed write. */
  #failedRows = 0;

  constructor(options: WriteStateOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  get failure(): WriteFailure | undefined {
    return this.#failure;
  }

  /** `said` is what the database itself reported; `rows` is how many the transaction had changed by then. */
  failed(reason: WriteFailureReason, report: string, rows: number): void {
    const { log, onWriteFailure } = this.#options;
    onWriteFailure?.(reason);
    const isNew = this.#failure?.reason !== reason;
    const { summary, advice } = descriptions[reason];
    const detail = `Changes fail: ${summary} (${report}) ${advice}`;
    this.#failure = { reason, summary, detail };
    this.#failedAt = this.#now();
    this.#failedRows = rows;
    if (isNew) log('warn', detail);
  }

  /** An empty or small transaction does not prove that larger ones succeed: a disk may have room for it only. */
  succeeded(rows: number): void {
    if (!this.#failure || rows === 0) return;
    if (rows < this.#failedRows && this.#now() - this.#failedAt < sizeMattersMs) return;
    this.#failure = undefined;
    this.#options.log('info', 'Changes are written again.');
  }
}
