/** Queries and mutations: one request each, asked again as it is when a reply is lost. */

import { claimsOf } from './auth-token.ts';
import { documentText, type GraphDocument, type NoVariables } from './document.ts';
import { graphError, isGraphErrors } from './errors.ts';
import { Passing, type Requests } from './requests.ts';
import type { Session } from './session.ts';

export interface CallOptions {
  /** Gives up at once: the call rejects with the reason of the signal. What was sent may have been done. */
  readonly signal?: AbortSignal | undefined;
  /** Which operation to run, if the document has several. */
  readonly operationName?: string | undefined;
  /** How long an answer is waited for each time, instead of the client's `timeoutSeconds`. */
  readonly timeoutSeconds?: number | undefined;
}

/**
 * Runs a document, as often as it takes. Variables that a document needs are asked for by its type; of a text nothing is
 * known.
 */
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

/** The ways to run one. */
export interface RunsDocuments {
  readonly query: RunDocument;
  readonly mutate: RunDocument;
}

export interface Call {
  readonly document: GraphDocument<unknown, never>;
  readonly variables?: unknown;
  readonly options?: CallOptions | undefined;
  readonly isMutation?: boolean;
}

export async function call(requests: Requests, session: Session, given: Call): Promise<unknown> {
  const { signal, timeoutSeconds, operationName } = given.options ?? {};
  const query = documentText(given.document);
  // Once, however often it is sent: it may be an import of many megabytes.
  const body = JSON.stringify({ query, variables: given.variables, operationName });
  const isMutation = given.isMutation || /\bmutation\b/.test(query);
  // The server does each field of what comes under one key once, and answers a repetition with what it has done.
  const idempotencyKey = isMutation ? randomUuid() : undefined;
  let refused: string | undefined;
  let lost: { readonly passing: Passing; readonly userId: string | undefined } | undefined;

  const ask = async (): Promise<Passing | { data: unknown }> => {
    const authToken = await session.authToken({ refused, signal });
    const userId = claimsOf(authToken).sub;
    // A key is that of one user: somebody else, who has logged in meanwhile, would do it again.
    if (isMutation && lost && lost.userId !== userId) throw lost.passing.error;
    const answer = await requests.post('/graphql', {
      body,
      authToken,
      idempotencyKey,
      signal,
      timeoutSeconds,
    });
    if (answer instanceof Passing) {
      lost = { passing: answer, userId };
      return answer;
    }
    const { status, value } = answer;
    const { data, errors } = value;
    if (status === 401) {
      const refusal = requests.refusal(answer);
      if (refusal.code === 'NOT_ESPALIER') throw refusal;
      const isFirst = refused === undefined;
      refused = authToken;
      return isFirst ? ask() : new Passing(refusal);
    }
    if (isGraphErrors(errors) && status < 300) {
      const error = graphError(errors, { status, data });
      if (error.code === 'UNAVAILABLE') return new Passing(error);
      throw error;
    }
    if (status !== 200 || data === undefined) throw requests.refusal(answer);
    return { data };
  };
  return (await requests.persist(ask, { signal })).data;
}

/** As `crypto.randomUUID`, which pages without TLS do not have. */
function randomUuid(): string {
  return '10000000-1000-4000-8000-100000000000'.replace(/[018]/g, (digit) => {
    const random = crypto.getRandomValues(new Uint8Array(1))[0]! & 15;
    return (Number(digit) ^ (random >> (Number(digit) / 4))).toString(16);
  });
}
