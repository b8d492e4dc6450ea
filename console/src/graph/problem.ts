/** Texts for errors, and whether a retry can help. */

import { EspalierError, type ErrorCode } from '@espalier/client';

/** Explains an error to the user, with a remedy where there is one. */
export function describeProblem(error: unknown): { readonly code: string; readonly text: string } {
  if (!(error instanceof EspalierError)) {
    return { code: 'INTERNAL', text: 'An unexpected error occurred. Reload the page.' };
  }
  const { code, message, requestId, retryAfterSeconds } = error;
  const texts: Partial<Record<ErrorCode, string>> = {
    UNREACHABLE: 'The server cannot be reached. Check your connection and try again.',
    LOGGED_OUT: 'Your session has ended. Sign in again.',
    INVALID_CREDENTIALS: 'The user name or the password is wrong.',
    TOO_MANY_ATTEMPTS: `Too many attempts. Try again ${formatDelay(retryAfterSeconds)}.`,
    INTERNAL: requestId ? `${message} (request ${requestId})` : message,
  };
  return { code, text: texts[code] ?? message };
}

/** Returns whether a later attempt may succeed. */
export function isTransient(error: unknown): boolean {
  return error instanceof EspalierError && ['UNREACHABLE', 'UNAVAILABLE', 'INTERNAL'].includes(error.code);
}

function formatDelay(seconds: number | undefined): string {
  if (seconds === undefined || seconds < 2) return 'in a moment';
  return seconds < 120 ? `in ${Math.ceil(seconds)} seconds` : `in ${Math.ceil(seconds / 60)} minutes`;
}
