/** The error that the client throws. Programs check its code; the message is for people. */

/** The code of an error. The last six codes are from the client itself, all others from the server. */
export type ErrorCode =
  | 'BAD_INPUT'
  | 'INVALID_CREDENTIALS'
  /** The password is right, and the login needs a code or a passkey as well; see `methods`. */
  | 'SECOND_FACTOR_REQUIRED'
  /** The code is wrong, expired or already used. */
  | 'WRONG_SECOND_FACTOR'
  /** The password is right, and the user must set up a second factor first; see `enrolmentToken`. */
  | 'SECOND_FACTOR_ENROLMENT_REQUIRED'
  /** The enrolment token is expired or already used. Log in again. */
  | 'INVALID_ENROLMENT_TOKEN'
  | 'INVALID_AUTH_TOKEN'
  | 'INVALID_REFRESH_TOKEN'
  /** The view has ended. Start a new one with `startViewAs`. */
  | 'INVALID_VIEW_TOKEN'
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
  /** There is no session, or it has ended. Log in. */
  | 'LOGGED_OUT'
  /** The server rejects the API key of the client: it has expired, was revoked, or is not valid. Create another key. */
  | 'INVALID_API_KEY'
  /** The server sent no response to any attempt. */
  | 'UNREACHABLE'
  /** The response is not from an Espalier server, or the server has an unsupported version. */
  | 'NOT_ESPALIER'
  /** The runtime has no WebSocket, which subscriptions need. Node has one since version 22. */
  | 'NO_WEB_SOCKET'
  /** The page has no Web Crypto, which single sign-on needs. Browsers have it on https pages and on localhost. */
  | 'NO_WEB_CRYPTO';

/** A GraphQL error as the server sends it. */
export interface GraphErrorShape {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly locations?: readonly { readonly line: number; readonly column: number }[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** A way to confirm a login after the password. A passkey needs no password: see `startPasskeyLogin`. */
export type SecondFactorMethod = 'TOTP' | 'RECOVERY_CODE' | 'PASSKEY';

/** Further details of an error. Unknown details are missing. */
export interface ErrorDetails {
  /** The HTTP status of the response. */
  readonly status?: number | undefined;
  /** The request id under which the server logged the error. */
  readonly requestId?: string | undefined;
  /** How long the server asks you to wait before you try again. */
  readonly retryAfterSeconds?: number | undefined;
  /** All errors of a GraphQL response. The `code` and `message` of the `EspalierError` are those of the first. */
  readonly errors?: readonly GraphErrorShape[] | undefined;
  /** Partial data of a GraphQL response. */
  readonly data?: unknown;
  /** With SECOND_FACTOR_REQUIRED: the second factors of the user. */
  readonly methods?: readonly SecondFactorMethod[] | undefined;
  /** With SECOND_FACTOR_ENROLMENT_REQUIRED: the token for `startEnrolment`. */
  readonly enrolmentToken?: string | undefined;
  readonly cause?: unknown;
}

/**
 * The error of every failed call.
 *
 * @example
 * try {
 *   await client.folders.create({ name: 'Floor 3' });
 * } catch (error) {
 *   if (error instanceof EspalierError && error.code === 'CONFLICT') console.log('The name is taken.');
 *   else throw error;
 * }
 */
export class EspalierError extends Error {
  /** The reason. Check it in your program: messages can change. */
  readonly code: ErrorCode;
  // `declare` creates no properties: a printed error lists only the details that it has.
  /** The HTTP status of the response. */
  declare readonly status?: number;
  /** The request id under which the server logged the error. */
  declare readonly requestId?: string;
  /** How long the server asks you to wait before you try again. */
  declare readonly retryAfterSeconds?: number;
  /** All errors of a GraphQL response. */
  declare readonly errors?: readonly GraphErrorShape[];
  /** Partial data of a GraphQL response. */
  declare readonly data?: unknown;
  /** With SECOND_FACTOR_REQUIRED: the second factors of the user. */
  declare readonly methods?: readonly SecondFactorMethod[];
  /** With SECOND_FACTOR_ENROLMENT_REQUIRED: the token for `startEnrolment`. A printed error does not contain it. */
  declare readonly enrolmentToken?: string;

  // Set explicitly, because stack traces print the name and a minifier renames the class.
  static {
    this.prototype.name = 'EspalierError';
    Object.defineProperty(this, 'name', { value: 'EspalierError' });
  }

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    const { cause, enrolmentToken, ...rest } = details;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    Object.assign(this, Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)));
    // Not enumerable, because errors end up in logs.
    if (enrolmentToken !== undefined)
      Object.defineProperty(this, 'enrolmentToken', { value: enrolmentToken });
  }
}

export function loggedOutError(hasEnded = false): EspalierError {
  return new EspalierError(
    'LOGGED_OUT',
    hasEnded ? 'The session has ended. Log in again.' : 'You are not logged in. Log in first.',
  );
}

/** `refusal` is the error of the server, if it gave a reason. */
export function apiKeyError(refusal?: EspalierError): EspalierError {
  const message =
    refusal?.message ??
    'The server rejects the API key: it is not valid, has expired, was revoked, or its user is disabled. Use another key.';
  return new EspalierError('INVALID_API_KEY', message, {
    status: refusal?.status,
    requestId: refusal?.requestId,
    errors: refusal?.errors,
  });
}

/** Converts the error of an operation whose API key was revoked while it ran. Returns other errors unchanged. */
export function withApiKeyError(error: EspalierError, isApiKey: boolean): EspalierError {
  return isApiKey && error.code === 'INVALID_AUTH_TOKEN' ? apiKeyError(error) : error;
}

export function folderNotFound(id: string | undefined): EspalierError {
  return new EspalierError('NOT_FOUND', `There is no folder ${id}, or you do not have access to it.`);
}

/** Checks whether a later attempt can succeed, because the server was unreachable or temporarily unavailable. */
export function isTransient(error: unknown): boolean {
  return error instanceof EspalierError && ['UNREACHABLE', 'UNAVAILABLE'].includes(error.code);
}

export function isGraphErrors(value: unknown): value is readonly GraphErrorShape[] {
  return Array.isArray(value) && typeof (value[0] as GraphErrorShape | undefined)?.message === 'string';
}

/** Creates an error with the code and message of the first GraphQL error; `errors` contains every error. */
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

/** Converts the error that ended a subscription. */
export function subscriptionError(error: unknown): unknown {
  if (isGraphErrors(error)) return graphError(error);
  const { code, reason } = error as { code?: unknown; reason?: string };
  if (typeof code !== 'number') return error;
  if (isViewEnd({ reason }))
    return new EspalierError('INVALID_VIEW_TOKEN', 'The view has ended. Start a new one with startViewAs.');
  if (code === 1009) {
    const message =
      'The subscription is larger than 64 KiB, the limit of a socket message. Send a smaller one.';
    return new EspalierError('TOO_LARGE', message);
  }
  const message = `The server closed the socket with code ${code}${reason ? `: ${reason}` : ''}.`;
  return new EspalierError('NOT_ESPALIER', message);
}

/** Checks whether the server closed the socket because of an invalid view token. The auth token is still valid then. */
export function isViewEnd({ reason }: { readonly reason?: string | undefined }): boolean {
  return reason === 'INVALID_VIEW_TOKEN';
}
