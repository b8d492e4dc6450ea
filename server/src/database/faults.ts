/**
 * The database faults that this process has found: damage, and failed writes. A write failure ends when a write of at least the
 * same size succeeds, or any write after a minute. Health checks, metrics, the log and clients get the reason from this file.
 */

export interface DatabaseFault {
  /** For clients and operators, without names or paths. */
  readonly summary: string;
  /** For the operator, with advice. */
  readonly detail: string;
}

const descriptions = {
  disk_full: { summary: 'The disk of the database is full.', advice: 'Free disk space.' },
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
      'Make the database writable: remount the file system, correct the permissions of the file and its folder, or connect to the primary PostgreSQL server.',
  },
  permission: {
    summary: 'Espalier does not have permission to write to the database.',
    advice: 'Give write permission to the user of the Espalier process, or to its PostgreSQL role.',
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
    advice:
      'Another process or session holds a write lock. End that process or session if it does not finish.',
  },
  resources: {
    summary: 'The database has run out of memory or of another resource.',
    advice: 'Increase that resource for the PostgreSQL server, or for this process on SQLite.',
  },
} as const satisfies Readonly<Record<string, { readonly summary: string; readonly advice: string }>>;

export type WriteFailureReason = keyof typeof descriptions;

/** All reasons, which are also the values of a metric label. */
export const writeFailureReasons = Object.keys(descriptions) as readonly WriteFailureReason[];

export interface WriteFailure extends DatabaseFault {
  readonly reason: WriteFailureReason;
}

/** Error codes of the operating system, as Node names them. */
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

export interface FaultOptions {
  /** Called for each write that fails because of the database or its disk. */
  readonly onWriteFailure?: ((reason: WriteFailureReason) => void) | undefined;
  /** Called once for each condition that the operator must know about. */
  readonly log?: ((severity: 'info' | 'warn' | 'error', text: string) => void) | undefined;
}

/** After this time, any successful write ends a failure, whatever its size. */
const sizeMattersMs = 60_000;

/** Records the faults that SQLite and PostgreSQL have in common, and logs each fault once. */
export class Faults {
  damage: DatabaseFault | undefined;
  writeFailure: WriteFailure | undefined;
  readonly log: NonNullable<FaultOptions['log']>;
  readonly #onWriteFailure: FaultOptions['onWriteFailure'];
  readonly #now: () => number;
  #failedAt = 0;
  /** The rows of the last failed write. */
  #failedRows = 0;

  /** `now` is a monotonic clock, in milliseconds. */
  constructor({ log = () => undefined, onWriteFailure }: FaultOptions, now = () => performance.now()) {
    this.log = log;
    this.#onWriteFailure = onWriteFailure;
    this.#now = now;
  }

  /** Only the first damage is recorded. */
  recordDamage(damage: DatabaseFault): void {
    if (this.damage) return;
    this.damage = damage;
    this.log('error', damage.detail);
  }

  /** `report` is the error text of the database; `rows` is the number of rows that the transaction had changed. */
  recordWriteFailure(reason: WriteFailureReason, report: string, rows: number): void {
    this.#onWriteFailure?.(reason);
    const isNew = this.writeFailure?.reason !== reason;
    const { summary, advice } = descriptions[reason];
    const detail = `Changes fail: ${summary} (${report}) ${advice}`;
    this.writeFailure = { reason, summary, detail };
    this.#failedAt = this.#now();
    this.#failedRows = rows;
    if (isNew) this.log('warn', detail);
  }

  /** A small write does not prove that larger ones succeed: a nearly full disk may have room only for the small one. */
  recordCommit(rows: number): void {
    if (!this.writeFailure || rows === 0) return;
    if (rows < this.#failedRows && this.#now() - this.#failedAt < sizeMattersMs) return;
    this.writeFailure = undefined;
    this.log('info', 'Changes are written again.');
  }
}
