/**
 * Sends requests to one server, retries them while the server is unreachable or busy, and detects responses of other servers. It
 * does not depend on sessions. Errors never contain the request, which can hold a password or a token.
 */

import type { Clock } from './clock.ts';
import {
  EspalierError,
  graphError,
  isGraphErrors,
  type ErrorCode,
  type ErrorDetails,
  type SecondFactorMethod,
} from './errors.ts';
import { abortable, after, backoffMs, wait } from './timers.ts';

/** The paths below the API root, by the names of the endpoints in the contract. */
export const paths = {
  login: '/login',
  enrolment: '/login/enrolment',
  confirmEnrolment: '/login/enrolment/confirm',
  passkeyOptions: '/login/passkey/options',
  passkeyLogin: '/login/passkey',
  refresh: '/login/refresh',
  logout: '/logout',
  verify: '/login/verify',
  loginMethods: '/login/methods',
  singleSignOn: '/login/sso',
  graph: '/graphql',
} as const;

export type Path = (typeof paths)[keyof typeof paths];

export interface RequestOptions {
  readonly url: string;
  readonly fetch: typeof fetch;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly clock: Clock;
  readonly retrySeconds: number;
  readonly timeoutSeconds: number;
}

export interface Request {
  readonly body?: string;
  readonly authToken?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly viewToken?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutSeconds?: number | undefined;
}

export interface ApiResponse {
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  /** The JSON object of the body; empty if there is no body. */
  readonly value: Readonly<Record<string, unknown>>;
}

/** A failed attempt that may succeed when it is retried. */
export class TransientFailure {
  readonly error: EspalierError;

  constructor(error: EspalierError) {
    this.error = error;
  }
}

/** Failures that a retry cannot fix, for example an untrusted certificate. */
const permanentFailure = /CERT|SSL|TLS/;

/** "Not Implemented" and "HTTP Version Not Supported" do not change between attempts. */
const permanentStatuses = new Set([501, 505]);

export class Requests {
  readonly #options: RequestOptions;

  constructor(options: RequestOptions) {
    this.#options = options;
  }

  get timeoutSeconds(): number {
    return this.#options.timeoutSeconds;
  }

  /** Makes one attempt. */
  post(path: Path, request: Request): Promise<ApiResponse | TransientFailure> {
    return this.#send('POST', path, request);
  }

  /** Makes one attempt. */
  get(path: Path, request: Pick<Request, 'signal'>): Promise<ApiResponse | TransientFailure> {
    return this.#send('GET', path, request);
  }

  async #send(method: 'GET' | 'POST', path: Path, request: Request): Promise<ApiResponse | TransientFailure> {
    const { url, fetch: send, timeoutSeconds: defaultTimeoutSeconds } = this.#options;
    const { body, signal, timeoutSeconds = defaultTimeoutSeconds } = request;
    signal?.throwIfAborted();
    const headers = this.#headers(request);
    const attempt = new AbortController();
    const abort = () => attempt.abort(signal?.reason);
    signal?.addEventListener('abort', abort);
    const cancel = after(timeoutSeconds * 1000, () => attempt.abort());
    let response: Response;
    let text: string;
    try {
      const pending = send(url + path, {
        method,
        headers,
        // A redirect must not carry a password or a token to another server.
        redirect: 'manual',
        signal: attempt.signal,
        ...(body !== undefined && { body }),
      });
      response = await abortable(pending, attempt.signal);
      text = await abortable(response.text(), attempt.signal);
    } catch (cause) {
      signal?.throwIfAborted();
      const reason = attempt.signal.aborted ? `no response within ${timeoutSeconds} s` : reasonOf(cause);
      const text = describeReason(reason, url);
      const error = new EspalierError('UNREACHABLE', `Cannot connect to ${url}: ${text}.`, { cause });
      if (permanentFailure.test(reason)) throw error;
      return new TransientFailure(error);
    } finally {
      cancel();
      signal?.removeEventListener('abort', abort);
    }
    return this.#read(path, response, text);
  }

  /** Repeats `work` until it succeeds, fails permanently, or has been retried for `retrySeconds`. */
  async retry<T>(
    work: () => Promise<T | TransientFailure>,
    { signal, seconds = Infinity }: { signal?: AbortSignal | undefined; seconds?: number } = {},
  ): Promise<T> {
    const { clock, retrySeconds } = this.#options;
    let deadline: number | undefined;
    for (let attempts = 0; ; attempts++) {
      const result = await work();
      if (!(result instanceof TransientFailure)) return result;
      // Starts at the first failure. So a long first attempt, for example while the machine slept, is retried.
      deadline ??= clock.now() + Math.min(retrySeconds, seconds) * 1000;
      const pause = backoffMs(attempts) + (result.error.retryAfterSeconds ?? 0) * 1000;
      if (clock.now() + pause > deadline) throw result.error;
      await wait(pause, signal);
    }
  }

  /** Creates an error from an unsuccessful response: a problem document or GraphQL errors. */
  toError({ path, status, headers, value }: ApiResponse): EspalierError {
    const details: ErrorDetails = { status, retryAfterSeconds: readRetryAfter(headers) };
    const { code, detail, requestId, errors, data, methods, enrolmentToken } = value;
    if (status !== 404 && status !== 405) {
      if (isGraphErrors(errors)) return graphError(errors, { ...details, data });
      if (typeof code === 'string' && status >= 400) {
        return new EspalierError(code as ErrorCode, typeof detail === 'string' ? detail : code, {
          ...details,
          requestId: typeof requestId === 'string' ? requestId : undefined,
          methods: Array.isArray(methods) ? (methods as SecondFactorMethod[]) : undefined,
          enrolmentToken: typeof enrolmentToken === 'string' ? enrolmentToken : undefined,
        });
      }
    }
    return this.notEspalier(path, status, headers);
  }

  notEspalier(path: string, status: number, headers: Headers): EspalierError {
    const type = headers.get('content-type')?.split(';')[0];
    const target = headers.get('location');
    const outcome =
      status === 0 || (status > 299 && status < 400)
        ? `redirects${target ? ` to ${target}` : ''}`
        : `returned ${status} with ${type ?? 'no content type'}`;
    const message = `This is not an Espalier server: ${this.#options.url}${path} ${outcome}.`;
    return new EspalierError('NOT_ESPALIER', message, { status });
  }

  #headers({ body, authToken, idempotencyKey, viewToken }: Request): Headers {
    const headers = new Headers(this.#options.headers);
    headers.set('accept', 'application/json');
    if (body !== undefined) headers.set('content-type', 'application/json');
    if (authToken !== undefined) headers.set('authorization', bearer(authToken));
    if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey);
    if (viewToken !== undefined) headers.set('espalier-view-as', removeForbiddenCharacters(viewToken));
    return headers;
  }

  #read(path: string, { status, headers }: Response, text: string): ApiResponse | TransientFailure {
    const { url } = this.#options;
    const details: ErrorDetails = { status, retryAfterSeconds: readRetryAfter(headers) };
    const isJson = /\bjson\b/i.test(headers.get('content-type') ?? '');
    let value: unknown;
    try {
      value = isJson ? JSON.parse(text) : undefined;
    } catch {
      return new TransientFailure(
        new EspalierError(
          'UNREACHABLE',
          `The response of ${url} is incomplete. The connection may have been interrupted.`,
          details,
        ),
      );
    }
    const isObject = typeof value === 'object' && value !== null;
    const response: ApiResponse = {
      path,
      status,
      headers,
      value: isObject ? (value as ApiResponse['value']) : {},
    };
    if ((status >= 500 || status === 429) && response.value['code'] !== 'TOO_MANY_ATTEMPTS') {
      const error = this.toError(response);
      // An internal error is not retried, because the same request may fail again.
      if (error.code === 'INTERNAL') return response;
      if (error.code !== 'NOT_ESPALIER') return new TransientFailure(error);
      if (permanentStatuses.has(status)) throw error;
      // The response comes from a proxy in front of the server.
      const message = `${url} returned ${status}: the server is temporarily unavailable.`;
      return new TransientFailure(new EspalierError('UNAVAILABLE', message, details));
    }
    if (!isObject && status !== 204) throw this.notEspalier(path, status, headers);
    return response;
  }
}

export function bearer(authToken: string): string {
  return `Bearer ${removeForbiddenCharacters(authToken)}`;
}

/** Removes characters that a header cannot hold. Otherwise `fetch` would throw an error that contains the token. */
function removeForbiddenCharacters(token: string): string {
  return token.replace(/[^\x21-\x7e]/g, '');
}

function readRetryAfter(headers: Headers): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? undefined);
  return seconds >= 0 ? seconds : undefined;
}

/** Node puts the reason into the cause of the error. Browsers give no reason. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: string; message?: string }; message?: string };
  return cause?.code ?? cause?.message ?? message ?? 'no connection';
}

function describeReason(reason: string, url: string): string {
  if (reason === 'ECONNREFUSED') return 'no program listens on the port';
  return reason === 'ENOTFOUND' ? `the host name ${new URL(url).hostname} is unknown` : reason;
}
