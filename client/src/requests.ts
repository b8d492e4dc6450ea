/**
 * Requests to one server: each is asked again while the server cannot be reached or is busy, and what comes from
 * something else than an Espalier server is told apart. Knows nothing of sessions. No error holds what was sent.
 */

import type { Clock } from './clock.ts';
import { EspalierError, graphError, isGraphErrors, type ErrorCode, type ErrorDetails } from './errors.ts';
import type { Path } from './paths.ts';
import { abortable, after, backOffMs, wait } from './waiting.ts';

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
  readonly signal?: AbortSignal | undefined;
  readonly timeoutSeconds?: number | undefined;
}

export interface Answer {
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  /** The JSON object of the body; empty if there is no body. */
  readonly value: Readonly<Record<string, unknown>>;
}

/** A trouble that may pass: the same can be asked again. */
export class Passing {
  readonly error: EspalierError;

  constructor(error: EspalierError) {
    this.error = error;
  }
}

/** Of a certificate that is not trusted, and the like: it does not help to ask again. */
const lasting = /CERT|SSL|TLS/;

/** Who does not know the method or the version of HTTP never will. */
const neverPassing = new Set([501, 505]);

export class Requests {
  readonly #options: RequestOptions;

  constructor(options: RequestOptions) {
    this.#options = options;
  }

  get timeoutSeconds(): number {
    return this.#options.timeoutSeconds;
  }

  /** One try. */
  async post(path: Path, request: Request): Promise<Answer | Passing> {
    const { url, fetch: send, timeoutSeconds: usual } = this.#options;
    const { body, signal, timeoutSeconds = usual } = request;
    signal?.throwIfAborted();
    const headers = this.#headers(request);
    const trying = new AbortController();
    const leave = () => trying.abort(signal?.reason);
    signal?.addEventListener('abort', leave);
    const cancel = after(timeoutSeconds * 1000, () => trying.abort());
    let response: Response;
    let text: string;
    try {
      const asking = send(url + path, {
        method: 'POST',
        headers,
        // A password or a token goes to the server that was named, and nowhere else.
        redirect: 'manual',
        signal: trying.signal,
        ...(body !== undefined && { body }),
      });
      response = await abortable(asking, trying.signal);
      text = await abortable(response.text(), trying.signal);
    } catch (cause) {
      signal?.throwIfAborted();
      const why = trying.signal.aborted ? `no answer within ${timeoutSeconds} s` : reasonOf(cause);
      const error = new EspalierError('UNREACHABLE', `${url} cannot be reached: ${why}.`, { cause });
      if (lasting.test(why)) throw error;
      return new Passing(error);
    } finally {
      cancel();
      signal?.removeEventListener('abort', leave);
    }
    return this.#read(path, response, text);
  }

  /** Does the work until nothing stands in its way, or for as long as is waited for the server. */
  async persist<T>(
    work: () => Promise<T | Passing>,
    { signal, seconds = Infinity }: { signal?: AbortSignal | undefined; seconds?: number } = {},
  ): Promise<T> {
    const { clock, retrySeconds } = this.#options;
    let deadline: number | undefined;
    for (let tries = 0; ; tries++) {
      const result = await work();
      if (!(result instanceof Passing)) return result;
      // From the first trouble on: one that took long, or a night of sleep, is not the end.
      deadline ??= clock.now() + Math.min(retrySeconds, seconds) * 1000;
      const pause = backOffMs(tries) + (result.error.retryAfterSeconds ?? 0) * 1000;
      if (clock.now() + pause > deadline) throw result.error;
      await wait(pause, signal);
    }
  }

  /** What the server says that is not a success: a problem, or errors of the graph. */
  refusal({ path, status, headers, value }: Answer): EspalierError {
    const details: ErrorDetails = { status, retryAfterSeconds: pauseOf(headers) };
    const { code, detail, requestId, errors, data } = value;
    if (status !== 404 && status !== 405) {
      if (isGraphErrors(errors)) return graphError(errors, { ...details, data });
      if (typeof code === 'string' && status >= 400) {
        const told = typeof requestId === 'string' ? requestId : undefined;
        return new EspalierError(code as ErrorCode, typeof detail === 'string' ? detail : code, {
          ...details,
          requestId: told,
        });
      }
    }
    return this.stranger(path, status, headers);
  }

  stranger(path: string, status: number, headers: Headers): EspalierError {
    const type = headers.get('content-type')?.split(';')[0];
    const target = headers.get('location');
    const what =
      status === 0 || (status > 299 && status < 400)
        ? `sends elsewhere${target ? `, to ${target}` : ''}`
        : `answered ${status} with ${type ?? 'nothing'}`;
    const message = `This is not an Espalier server: ${this.#options.url}${path} ${what}.`;
    return new EspalierError('NOT_ESPALIER', message, { status });
  }

  #headers({ body, authToken, idempotencyKey }: Request): Headers {
    const headers = new Headers(this.#options.headers);
    headers.set('accept', 'application/json');
    if (body !== undefined) headers.set('content-type', 'application/json');
    if (authToken !== undefined) headers.set('authorization', bearer(authToken));
    if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey);
    return headers;
  }

  #read(path: string, { status, headers }: Response, text: string): Answer | Passing {
    const { url } = this.#options;
    const details: ErrorDetails = { status, retryAfterSeconds: pauseOf(headers) };
    const isJson = /\bjson\b/i.test(headers.get('content-type') ?? '');
    let value: unknown;
    try {
      value = isJson ? JSON.parse(text) : undefined;
    } catch {
      return new Passing(new EspalierError('UNREACHABLE', `The answer of ${url} was cut off.`, details));
    }
    const isObject = typeof value === 'object' && value !== null;
    const answer: Answer = { path, status, headers, value: isObject ? (value as Answer['value']) : {} };
    if ((status >= 500 || status === 429) && answer.value['code'] !== 'TOO_MANY_ATTEMPTS') {
      const refusal = this.refusal(answer);
      // Of a server that has failed it is not known whether it would again.
      if (refusal.code === 'INTERNAL') return answer;
      if (refusal.code !== 'NOT_ESPALIER') return new Passing(refusal);
      if (neverPassing.has(status)) throw refusal;
      // Of something that stands before the server.
      const message = `${url} answered ${status}: it cannot do this right now.`;
      return new Passing(new EspalierError('UNAVAILABLE', message, details));
    }
    if (!isObject && status !== 204) throw this.stranger(path, status, headers);
    return answer;
  }
}

/** What cannot stand in a header is left out: such a token is not good, and nobody is to read it in an error. */
export function bearer(authToken: string): string {
  return `Bearer ${authToken.replace(/[^\x21-\x7e]/g, '')}`;
}

function pauseOf(headers: Headers): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? undefined);
  return seconds >= 0 ? seconds : undefined;
}

/** Node tells in the cause of the cause; browsers tell nothing. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: string; message?: string }; message?: string };
  return cause?.code ?? cause?.message ?? message ?? 'no connection';
}
