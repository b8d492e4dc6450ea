/** Translates errors of PostgreSQL and of the network into messages for the operator and refusals for clients. */

import { Refusal } from '../../refusal.ts';
import { StartError } from '../../config/start-error.ts';
import { summaryOf, type WriteFailureReason } from '../write-failure.ts';

const retryAfterSeconds = 2;

/**
 * SQLSTATE classes and codes of temporary errors: connections, resources (a full disk), shutdown, input and output,
 * a server that is read-only, locks and timeouts, refused logins, and statements after a failed one. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const temporary = /^(08|53|57|58|40|28|3D|25006|25P02|55P03)/;

/** Damage of the server's files: data_corrupted and index_corrupted. */
const damaged = /^XX00[12]$/;

/** The server shuts down or is no longer the primary: a new connection may lead to another server. */
const ending = /^(08|57P|25006)/;

/** Collisions with other transactions: the same work may succeed when it is run again. */
const colliding = /^(40001|40P01)$/;

/** Has only the message and the code, because the details of an error may contain the values of a row. */
export class PostgresFault extends Error {
  override readonly name = 'PostgresFault';
  readonly code: string;

  constructor(cause: unknown) {
    const { message, code } = cause as { message?: string; code?: string };
    super(message || code || 'The connection failed.');
    this.code = code ?? '';
  }

  get isCollision(): boolean {
    return colliding.test(this.code);
  }

  /** Any other error comes from the network or the driver. */
  get isFromServer(): boolean {
    return /^[\dA-Z]{5}$/.test(this.code) && /\d/.test(this.code);
  }

  /** The connection cannot be used again. */
  get endsConnection(): boolean {
    return !this.isFromServer || ending.test(this.code);
  }

  get isDamage(): boolean {
    return damaged.test(this.code);
  }

  get isTemporary(): boolean {
    return (
      !this.isFromServer ||
      temporary.test(this.code) ||
      this.isDamage ||
      writeFailureReason(this) !== undefined
    );
  }
}

export function isCollision(error: unknown): boolean {
  return error instanceof PostgresFault && error.isCollision;
}

export function endsConnection(error: unknown): boolean {
  const fault = error instanceof Refusal ? error.cause : error;
  return fault instanceof PostgresFault && fault.endsConnection;
}

export function toFault(error: unknown): unknown {
  if (error instanceof PostgresFault || error instanceof Refusal || error instanceof TypeError) return error;
  return new PostgresFault(error);
}

/** A temporary error of the database is not the fault of the request. */
export function toUnavailable(error: unknown): unknown {
  return error instanceof PostgresFault && error.isTemporary ? unavailable(error, messageFor(error)) : error;
}

export const damagedMessage = 'The database is damaged, and must be restored from a backup.';

function messageFor(fault: PostgresFault): string | undefined {
  if (fault.code === '53300') return 'The database takes no more connections right now. Try again later.';
  if (fault.isDamage) return damagedMessage;
  const reason = writeFailureReason(fault);
  return reason && summaryOf(reason);
}

/** By SQLSTATE. The server reports some errors of its file system as XX000, and names them only in the message. */
export function writeFailureReason({ code, message }: PostgresFault): WriteFailureReason | undefined {
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

export function unavailable(
  cause: unknown,
  message = 'The database cannot be used right now. Try again later.',
): Refusal {
  return new Refusal('UNAVAILABLE', message, { cause, retryAfterSeconds });
}

/** The connection was lost during the commit, so its outcome is unknown. */
export function uncertain(cause: unknown): Refusal {
  return unavailable(
    cause,
    'The database was lost while this was written: it may or may not have been done. Look before you try again.',
  );
}

/** Explains why the server cannot start on this database, and what to do. `safeUrl` is the URL without its password. */
export function toStartError(error: unknown, safeUrl: string): unknown {
  const fault = error instanceof Refusal ? error.cause : error;
  if (!(fault instanceof PostgresFault)) return error;
  const { code, message } = fault;
  const advice = adviceFor(code, message);
  return new StartError(`The database ${safeUrl} cannot be used: ${message.replace(/\.$/, '')}.${advice}`, {
    cause: error,
  });
}

function adviceFor(code: string, message: string): string {
  if (code === '28P01') return ' Check the user and the password in the URL.';
  if (code === '28000') return ' Check the user in the URL, and what pg_hba.conf allows.';
  if (code === '3D000') return ' Create it: an empty database with the encoding UTF8.';
  if (code === '53300')
    return ' Lower ESPALIER_DATABASE_CONNECTIONS, or raise max_connections of the server.';
  if (/trgm/.test(message)) {
    return ' Espalier searches with the extension pg_trgm: let an administrator of the database run CREATE EXTENSION pg_trgm in it, in a schema of the search_path.';
  }
  if (/unsupported startup parameter/.test(message)) {
    return ' Is it a proxy that pools connections, as PgBouncer does? Set ESPALIER_DATABASE_POOL_MODE=transaction.';
  }
  if (code === '42501' && /for table/.test(message)) {
    return ' The user must be allowed to select, insert, update and delete on all tables.';
  }
  if (code === '42501') return ' The user must be allowed to create tables in the schema: make it the owner.';
  if (/does not support SSL/.test(message)) return ' Leave sslmode away, or turn on TLS at the server.';
  if (/altnames/.test(message)) {
    return ' The certificate of the server is for another name: use that name as the host, or sslmode=verify-ca.';
  }
  if (/certificate/.test(message)) return ' Name the authority with sslrootcert=<file> in the URL.';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return ' Check the host in the URL.';
  if (code === 'ECONNREFUSED') return ' Is the server running, and are host and port right?';
  return '';
}
