/** The one error that the client throws. What it is about is told by its code; the message is for people. */

/** Of the server: the codes of its problems and of its graph errors. Of the client: the last four. */
export type ErrorCode =
  | 'BAD_INPUT'
  | 'INVALID_CREDENTIALS'
  | 'INVALID_AUTH_TOKEN'
  | 'INVALID_REFRESH_TOKEN'
  | 'NOT_FOUND'
  | 'FORBIDDEN'
  | 'CONFLICT'
  | 'CYCLE'
  | 'TOO_MANY_ATTEMPTS'
  | 'METHOD_NOT_ALLOWED'
  | 'NOT_ACCEPTABLE'
  | 'TOO_EXPENSIVE'
  | 'TOO_LARGE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'UNAVAILABLE'
  | 'INTERNAL'
  | 'GRAPHQL_PARSE_FAILED'
  | 'GRAPHQL_VALIDATION_FAILED'
  | 'PERSISTED_QUERY_NOT_SUPPORTED'
  /** Nobody is logged in, or the session is over: log in. */
  | 'LOGGED_OUT'
  /** No answer came, however often it was tried. */
  | 'UNREACHABLE'
  /** Something answered that is not an Espalier server, or one that is too old or too new. */
  | 'NOT_ESPALIER'
  /** There is no WebSocket here to follow changes over: Node before 22 has none. */
  | 'NO_WEB_SOCKET';

/** A GraphQL error as the server sends it. */
export interface GraphErrorShape {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly locations?: readonly { readonly line: number; readonly column: number }[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

export interface ErrorDetails {
  readonly status?: number | undefined;
  /** Under which the server has logged it. */
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** All errors of a graph answer, and what there was of data besides. */
  readonly errors?: readonly GraphErrorShape[] | undefined;
  readonly data?: unknown;
  readonly cause?: unknown;
}

export class EspalierError extends Error {
  readonly code: ErrorCode;
  // Only what there is, so that it is short when it is printed.
  declare readonly status?: number;
  declare readonly requestId?: string;
  declare readonly retryAfterSeconds?: number;
  declare readonly errors?: readonly GraphErrorShape[];
  declare readonly data?: unknown;

  // Where the stack finds it, also when the code is minified.
  static {
    this.prototype.name = 'EspalierError';
    Object.defineProperty(this, 'name', { value: 'EspalierError' });
  }

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    const { cause, ...known } = details;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    Object.assign(this, Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)));
  }
}

export function loggedOut(hasEnded = false): EspalierError {
  return new EspalierError('LOGGED_OUT', hasEnded ? 'The session is over.' : 'Nobody is logged in.');
}

/** Whether it may be better later: the server cannot be reached, or cannot do it right now. */
export function isPassing(error: unknown): boolean {
  return error instanceof EspalierError && ['UNREACHABLE', 'UNAVAILABLE'].includes(error.code);
}

export function isGraphErrors(value: unknown): value is readonly GraphErrorShape[] {
  return Array.isArray(value) && typeof (value[0] as GraphErrorShape | undefined)?.message === 'string';
}

/** Of the first error; the others are with it. */
export function graphError(errors: readonly GraphErrorShape[], details: ErrorDetails = {}): EspalierError {
  const { message, extensions } = errors[0]!;
  const { code, requestId, retryAfterSeconds } = (extensions ?? {}) as ErrorDetails & { code?: ErrorCode };
  return new EspalierError(code ?? 'INTERNAL', message, {
    requestId,
    retryAfterSeconds,
    ...details,
    errors,
  });
}
