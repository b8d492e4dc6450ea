/** Texts for errors, and whether a retry can help. */

import { EspalierError, type ErrorCode } from '@espalier/client';

export interface Problem {
  readonly code: string;
  readonly text: string;
  /** Maps the name of an input field to the text about the field, for the `validationErrors` of a form. */
  readonly fieldErrors: Readonly<Record<string, string>>;
}

/** A failure that the browser detects, with a message for the user. */
export class ActionFailure extends Error {}

/** Explains an error to the user, with a remedy where there is one. */
export function describeProblem(error: unknown): Problem {
  if (error instanceof ActionFailure) return { code: 'FAILED', text: error.message, fieldErrors: {} };
  if (!(error instanceof EspalierError)) {
    return { code: 'INTERNAL', text: 'An unexpected error occurred. Reload the page.', fieldErrors: {} };
  }
  const { code, message, requestId, retryAfterSeconds } = error;
  const texts: Partial<Record<ErrorCode, string>> = {
    UNREACHABLE: 'The server cannot be reached. Check your connection and try again.',
    LOGGED_OUT: 'Your session has ended. Sign in again.',
    INVALID_CREDENTIALS: 'The user name or the password is wrong.',
    WRONG_SECOND_FACTOR: 'The code is wrong, too old or already used. Enter another one.',
    INVALID_ENROLMENT_TOKEN: 'The setup took too long. Sign in again to restart it.',
    TOO_MANY_ATTEMPTS: `Too many attempts. Try again ${formatDelay(retryAfterSeconds)}.`,
    INTERNAL: requestId ? `${message} (request ${requestId})` : message,
  };
  const text = texts[code] ?? curlQuotes(message);
  const field = (error.errors ?? []).map(({ extensions }) => extensions?.['inputField'])[0];
  return { code, text, fieldErrors: typeof field === 'string' ? { [field]: text } : {} };
}

/** Returns whether the user is editing the field with the problem, so that the form must no longer display the problem. */
export function isEdited(problem: Problem | null, { target }: { readonly target: EventTarget }): boolean {
  const { name } = target as HTMLInputElement;
  return problem !== null && Object.hasOwn(problem.fieldErrors, name);
}

/** The API writes names in straight quotes and fields in backticks. The console writes both in curly quotes. */
export function curlQuotes(text: string): string {
  return text.replace(/(["`])(.*?)\1/g, '“$2”');
}

/** Returns whether a later attempt may succeed. */
export function isTransient(error: unknown): boolean {
  return error instanceof EspalierError && ['UNREACHABLE', 'UNAVAILABLE', 'INTERNAL'].includes(error.code);
}

function formatDelay(seconds: number | undefined): string {
  if (seconds === undefined || seconds < 2) return 'in a moment';
  return seconds < 120 ? `in ${Math.ceil(seconds)} seconds` : `in ${Math.ceil(seconds / 60)} minutes`;
}
