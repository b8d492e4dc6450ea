/** Runs queries and mutations. Each is one request, which is sent again unchanged after a temporary failure. */

import { documentText, type GraphDocument, type NoVariables } from './document.ts';
import { apiKeyError, graphError, isGraphErrors, withApiKeyError, type EspalierError } from './errors.ts';
import { TransientFailure, type Requests } from './requests.ts';
import type { Authentication } from './session/api-key.ts';
import { readClaims } from './session/token-storage.ts';

/** Options of a query or a mutation. */
export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. The server may have run a mutation before the abort. */
  readonly signal?: AbortSignal | undefined;
  /** The operation to run, if the document has several. */
  readonly operationName?: string | undefined;
  /** Timeout of each attempt, in seconds. Default: the client's `timeoutSeconds`, and 600 for imports and exports. */
  readonly timeoutSeconds?: number | undefined;
  /**
   * The `Idempotency-Key` of a mutation. Pass your own key to repeat the mutation later without making the change twice. Default: a
   * new key for each call. All retries of the call use the same key.
   */
  readonly idempotencyKey?: string | undefined;
}

/** Runs a document, with retries. A typed document requires its variables; a string accepts any variables. */
export interface RunDocument {
  <Result = Record<string, unknown>>(
    document: GraphDocument<Result, NoVariables>,
    variables?: undefined,
    options?: CallOptions,
  ): Promise<Result>;
  <Result = Record<string, unknown>, Variables = object>(
    document: GraphDocument<Result, Variables>,
    variables: NoInfer<Variables>,
    options?: CallOptions,
  ): Promise<Result>;
}

export interface DocumentRunner {
  readonly query: RunDocument;
  readonly mutate: RunDocument;
}

export interface Call {
  readonly document: GraphDocument<unknown, never>;
  readonly variables?: unknown;
  readonly options?: CallOptions | undefined;
  readonly isMutation?: boolean;
  readonly viewToken?: string | undefined;
}

export async function call(requests: Requests, session: Authentication, options: Call): Promise<unknown> {
  const { signal, timeoutSeconds, operationName } = options.options ?? {};
  const query = documentText(options.document);
  // Encoded once for all attempts, because it can be an import of many megabytes.
  const body = JSON.stringify({ query, variables: options.variables, operationName });
  const isMutation = options.isMutation || /\bmutation\b/.test(query);
  // The server runs each mutation field once per key. For a repeated request it returns the first result again.
  const idempotencyKey = isMutation ? (options.options?.idempotencyKey ?? newIdempotencyKey()) : undefined;
  let rejectedToken: string | undefined;
  let lastFailure: { readonly error: EspalierError; readonly userId: string | undefined } | undefined;

  const send = async (): Promise<TransientFailure | { data: unknown }> => {
    const authToken = await session.authToken({ refused: rejectedToken, signal });
    const userId = readClaims(authToken).sub;
    // An idempotency key belongs to one user: if another user has logged in, a retry would run the mutation again.
    if (isMutation && lastFailure && lastFailure.userId !== userId) throw lastFailure.error;
    const response = await requests.post('/graphql', {
      body,
      authToken,
      idempotencyKey,
      viewToken: options.viewToken,
      signal,
      timeoutSeconds,
    });
    if (response instanceof TransientFailure) {
      lastFailure = { error: response.error, userId };
      return response;
    }
    const { status, value } = response;
    const { data, errors } = value;
    if (status === 401) {
      const error = requests.toError(response);
      if (error.code === 'NOT_ESPALIER') throw error;
      if (session.isApiKey) throw apiKeyError(error);
      const isFirst = rejectedToken === undefined;
      rejectedToken = authToken;
      return isFirst ? send() : new TransientFailure(error);
    }
    if (isGraphErrors(errors) && status < 300) {
      const error = graphError(errors, { status, data });
      if (error.code === 'UNAVAILABLE') return new TransientFailure(error);
      throw withApiKeyError(error, session.isApiKey);
    }
    if (status !== 200 || data === undefined) throw requests.toError(response);
    return { data };
  };
  return (await requests.retry(send, { signal })).data;
}

/** Returns a random UUID to use as `idempotencyKey`. Also works on pages without TLS, where browsers have no `crypto.randomUUID`. */
export function newIdempotencyKey(): string {
  return '10000000-1000-4000-8000-100000000000'.replace(/[018]/g, (digit) => {
    const random = crypto.getRandomValues(new Uint8Array(1))[0]! & 15;
    return (Number(digit) ^ (random >> (Number(digit) / 4))).toString(16);
  });
}
