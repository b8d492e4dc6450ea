/**
 * Translates errors of PostgreSQL and of the network into messages for the operator and refusals for clients. Records the faults
 * that this process finds: damage, connections to a server with older data, and failed writes.
 */

import { Refusal } from '../../refusal.ts';
import { StartError } from '../../config/start-error.ts';
import {
  Faults,
  summaryOf,
  type DatabaseFault,
  type FaultOptions,
  type WriteFailureReason,
} from '../faults.ts';

const retryAfterSeconds = 2;

/**
 * SQLSTATE classes and codes of temporary errors: connections, resources (for example a full disk), shutdown, input and output,
 * read-only servers, locks and timeouts, refused logins, and statements after a failed statement in a transaction.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const temporaryCodes = /^(08|53|57|58|40|28|3D|25006|25P02|55P03)/;

/** Damage of PostgreSQL's files: data_corrupted and index_corrupted. */
const damageCodes = /^XX00[12]$/;

/** PostgreSQL shuts down or is no longer the primary: a new connection may lead to another server. */
const shutdownCodes = /^(08|57P|25006)/;

/** Collisions with other transactions: the same work may succeed at the next attempt. */
const collisionCodes = /^(40001|40P01)$/;

/** An error with only its message and code, because the details of the original error may contain the values of a row. */
class PostgresError extends Error {
  override readonly name = 'PostgresError';
  readonly code: string;

  constructor(cause: unknown) {
    const { message, code } = cause as { message?: string; code?: string };
    super(message || code || 'The connection failed.');
    this.code = code ?? '';
  }

  /** Whether PostgreSQL itself reported the error: false for an error of the network or the driver. */
  get isFromServer(): boolean {
    return /^[\dA-Z]{5}$/.test(this.code) && /\d/.test(this.code);
  }

  get isDamage(): boolean {
    return damageCodes.test(this.code);
  }

  get isTemporary(): boolean {
    return (
      !this.isFromServer ||
      temporaryCodes.test(this.code) ||
      this.isDamage ||
      writeFailureReason(this) !== undefined
    );
  }
}

export function isCollision(error: unknown): boolean {
  return error instanceof PostgresError && collisionCodes.test(error.code);
}

/** Whether the connection cannot be used after this error. */
export function endsConnection(error: unknown): boolean {
  const cause = causeOf(error);
  return cause instanceof PostgresError && (!cause.isFromServer || shutdownCodes.test(cause.code));
}

export function toPostgresError(error: unknown): unknown {
  if (error instanceof PostgresError || error instanceof Refusal || error instanceof TypeError) return error;
  return new PostgresError(error);
}

const damagedMessage = 'The database is damaged, and must be restored from a backup.';

function messageFor(error: PostgresError): string | undefined {
  if (error.code === '53300') return 'The database accepts no more connections right now. Try again later.';
  if (error.isDamage) return damagedMessage;
  const reason = writeFailureReason(error);
  return reason && summaryOf(reason);
}

/** Finds the reason by SQLSTATE. PostgreSQL reports some file system errors as XX000, so only the message contains the reason. */
function writeFailureReason({ code, message }: PostgresError): WriteFailureReason | undefined {
  if (code === '53100') return 'disk_full';
  if (code === '25006') return 'read_only';
  if (code === '42501') return 'permission';
  if (code === '55P03') return 'locked';
  if (code === '53300') return undefined;
  if (code.startsWith('53')) return 'resources';
  if (code.startsWith('58')) return 'io_error';
  if (code !== 'XX000') return undefined;
  if (/: File too large/.test(message)) return 'file_size_limit';
  return /: Disk quota exceeded/.test(message) ? 'quota' : undefined;
}

/** The error itself, or the error that a refusal replaces. */
function causeOf(error: unknown): unknown {
  return error instanceof Refusal ? error.cause : error;
}

export function unavailable(
  cause: unknown,
  message = 'The database cannot be used right now. Try again later.',
): Refusal {
  return new Refusal('UNAVAILABLE', message, { cause, retryAfterSeconds });
}

/** Explains why the server cannot start on this database, and what to do. `safeUrl` is the URL without its password. */
export function toStartError(error: unknown, safeUrl: string): unknown {
  const cause = causeOf(error);
  if (!(cause instanceof PostgresError)) return error;
  const { code, message } = cause;
  const advice = adviceFor(code, message);
  return new StartError(`The database ${safeUrl} cannot be used: ${message.replace(/\.$/, '')}.${advice}`, {
    cause: error,
  });
}

function adviceFor(code: string, message: string): string {
  if (code === '28P01') return ' Check the user and the password in the URL.';
  if (code === '28000') return ' Check the user in the URL, and the rules in pg_hba.conf.';
  if (code === '3D000') return ' Create an empty database with the encoding UTF8.';
  if (code === '53300')
    return ' Lower ESPALIER_DATABASE_CONNECTIONS, or raise max_connections of PostgreSQL.';
  if (/trgm/.test(message)) {
    return ' Espalier needs the extension pg_trgm for search. Ask an administrator of the database to run CREATE EXTENSION pg_trgm in a schema of the search_path.';
  }
  if (/unsupported startup parameter/.test(message)) {
    return ' If the URL leads to a connection pooler such as PgBouncer, set ESPALIER_DATABASE_POOL_MODE=transaction.';
  }
  if (code === '42501' && /for table/.test(message)) {
    return ' Grant the user SELECT, INSERT, UPDATE and DELETE on all tables.';
  }
  if (code === '42501')
    return ' The user needs permission to create tables in the schema. Make the user the owner of the schema.';
  if (/does not support SSL/.test(message))
    return ' Remove sslmode from the URL, or turn on TLS in PostgreSQL.';
  if (/altnames/.test(message)) {
    return ' The certificate of PostgreSQL is for another host name. Use that host name in the URL, or set sslmode=verify-ca.';
  }
  if (/certificate/.test(message))
    return ' Set sslrootcert=<file> in the URL to the certificate of the certificate authority.';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return ' Check the host in the URL.';
  if (code === 'ECONNREFUSED')
    return ' Check that PostgreSQL is running, and check the host and port in the URL.';
  return '';
}

const damagedSummary =
  'The database is damaged. Repair the database or restore a backup, and then restart every node.';
const staleSummary =
  'Some database connections reach a server with older data. Make sure that every connection leads to the same primary server.';

export class PostgresFaults extends Faults {
  readonly #safeUrl: string;
  readonly #onStale: () => void;
  #stale: DatabaseFault | undefined;

  /** `onStale` is called when a connection leads to a server with older data. */
  constructor(safeUrl: string, options: FaultOptions, onStale: () => void) {
    super(options);
    this.#safeUrl = safeUrl;
    this.#onStale = onStale;
  }

  findFault(): DatabaseFault | undefined {
    return this.damage ?? this.#stale;
  }

  reportDamage(finding: string): Refusal {
    const detail = `The database ${this.#safeUrl} is damaged: ${finding.replace(/\.$/, '')}. Repair the database or restore a backup, and then restart every node. Run 'espalier docs durability' for the steps.`;
    this.recordDamage({ summary: damagedSummary, detail });
    return unavailable(undefined, damagedMessage);
  }

  reportStale(): Refusal {
    if (!this.#stale) {
      const detail = `The database ${this.#safeUrl} returned an older state than before: some connections reach a server with older data, for example because the former primary still runs after a failover. Stop the former primary, and make sure that every connection leads to the current primary. This node opens new connections, and is ready again when they all return the same state.`;
      this.#stale = { summary: staleSummary, detail };
      this.log('error', detail);
    }
    this.#onStale();
    return unavailable(undefined);
  }

  confirmCurrent(): void {
    if (this.#stale) this.log('info', 'All connections to the database return the same state again.');
    this.#stale = undefined;
  }

  /** Turns a temporary error of the database, which the request did not cause, into UNAVAILABLE. */
  toRefusal(error: unknown): unknown {
    if (!(error instanceof PostgresError)) return error;
    if (error.isDamage) this.reportDamage(error.message);
    return error.isTemporary ? unavailable(error, messageFor(error)) : error;
  }

  /** Like `toRefusal()`, but also records a failed write. `rows` is the number of rows that the transaction had changed. */
  toWriteRefusal(error: unknown, rows: number): unknown {
    const cause = causeOf(error);
    const reason = cause instanceof PostgresError ? writeFailureReason(cause) : undefined;
    if (reason) {
      const { code, message } = cause as PostgresError;
      this.recordWriteFailure(reason, `${code}: ${message}.`, rows);
    }
    return this.toRefusal(error);
  }
}
