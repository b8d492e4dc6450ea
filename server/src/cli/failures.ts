/** Turns errors into a code, one line and an exit code for scripts. */

import type { EspalierError, ErrorCode } from '@espalier/client';
import { escapeControls } from '@espalier/contract/escaped-text';
import type { Refusal } from '../refusal.ts';
import { StartError, UsageError } from '../config/start-error.ts';

export const exitCodes = {
  done: { code: 0, about: 'Done' },
  failed: { code: 1, about: 'Failed; the message contains the reason' },
  usage: { code: 2, about: 'Wrong usage, for example an unknown option or an invalid setting' },
  login: { code: 3, about: 'Not logged in, or the session has ended, or the API key is not valid' },
  unreachable: { code: 4, about: 'The server cannot be reached or is overloaded' },
} as const;

const loginCodes: ReadonlySet<ErrorCode> = new Set([
  'LOGGED_OUT',
  'INVALID_CREDENTIALS',
  'SECOND_FACTOR_REQUIRED',
  'WRONG_SECOND_FACTOR',
  'SECOND_FACTOR_ENROLMENT_REQUIRED',
  'INVALID_ENROLMENT_TOKEN',
  'INVALID_AUTH_TOKEN',
  'INVALID_API_KEY',
  'INVALID_REFRESH_TOKEN',
]);
const busyCodes: ReadonlySet<ErrorCode> = new Set(['UNREACHABLE', 'UNAVAILABLE', 'TOO_MANY_ATTEMPTS']);

/** Ends the command with an exit code. Without a message, nothing more is printed. */
export class ExitError extends Error {
  override readonly name = 'ExitError';
  readonly exitCode: number;
  readonly code: string;
  constructor(exitCode: number, message = '', code = 'FAILED', options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
    this.code = code;
  }
}

export interface Failure {
  readonly exitCode: number;
  /** For `--json`. */
  readonly code: string;
  readonly message: string | undefined;
  readonly requestId?: string | undefined;
}

/** Describes an expected error. Any other error is a bug and is thrown again. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof ExitError) {
    return { exitCode: error.exitCode, code: error.code, message: error.message || undefined };
  }
  if (error instanceof UsageError) {
    return { exitCode: exitCodes.usage.code, code: 'USAGE', message: error.message };
  }
  if (error instanceof StartError) {
    return { exitCode: exitCodes.failed.code, code: 'FAILED', message: error.message };
  }
  if (isRefusal(error)) {
    return { exitCode: exitCodes.failed.code, code: error.code, message: error.message };
  }
  if (isClientError(error)) {
    const { code, requestId } = error;
    return { exitCode: exitCodeOf(error), code, message: escapeControls(error.message), requestId };
  }
  throw error;
}

/** Creates an error for a failure that the command itself detects, with the code that the server would use. */
export function failure(code: ErrorCode, message: string, options?: ErrorOptions): ExitError {
  return new ExitError(exitCodeOf({ code }), escapeControls(message), code, options);
}

/** Compares the name of the class, so that commands without the contract do not load it. */
function isRefusal(error: unknown): error is Refusal {
  return error instanceof Error && error.name === 'Refusal';
}

/** Compares the name of the class, so that commands without a connection do not load the client. */
export function isClientError(error: unknown, code?: ErrorCode): error is EspalierError {
  if (!(error instanceof Error && error.name === 'EspalierError')) return false;
  return code === undefined || (error as EspalierError).code === code;
}

export function exitCodeOf({ code }: { readonly code: ErrorCode }): number {
  if (loginCodes.has(code)) return exitCodes.login.code;
  return busyCodes.has(code) ? exitCodes.unreachable.code : exitCodes.failed.code;
}
