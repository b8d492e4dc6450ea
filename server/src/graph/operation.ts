/** One GraphQL operation that has passed all checks before execution, and its result: a response, or a stream of responses. */

import type { ExecutionArgs, GraphQLFormattedError, OperationTypeNode } from 'graphql';
import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { clientGone } from '../refusal.ts';
import type { Viewer } from '../sessions/auth-token.ts';

export interface ExecutionOptions {
  /** Rejects mutations. */
  readonly queriesOnly?: boolean;
  /** Called when the scheduler starts the operation. If it throws, the exception is the response and nothing is executed. */
  readonly checkBeforeStart?: (() => void) | undefined;
  /**
   * Aborted when the client disconnects or stops the operation. No further work then starts, but a started transaction
   * completes.
   */
  readonly signal?: AbortSignal | undefined;
  /** Computes each response of a subscription when there is capacity for it. */
  readonly waitForCapacity?: (<T>(respond: () => PromiseOrValue<T>) => PromiseOrValue<T>) | undefined;
  /** The id of the request, or of the request that opened the socket. Errors contain it. */
  readonly requestId?: string | undefined;
  /** A mutation that was executed with the same key is not executed again; its response is repeated. */
  readonly idempotencyKey?: string | undefined;
}

export interface Operation extends ExecutionOptions {
  readonly viewer: Viewer;
  readonly kind: OperationTypeNode | undefined;
  readonly query: string;
  readonly request: Omit<ExecutionArgs, 'contextValue'>;
}

/** Called when the scheduler starts the operation. Throws if the client has disconnected, or if `checkBeforeStart` throws. */
export function throwIfStopped({ checkBeforeStart, signal }: ExecutionOptions): void {
  throwIfAborted(signal);
  checkBeforeStart?.();
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw clientGone();
}

export interface GraphResult {
  /** False when the request failed before anything was executed: then there is no `data`. */
  readonly isExecuted: boolean;
  /** The response as JSON. */
  readonly text: string;
  /** The text in UTF-8, encoded only once. Set if the text is long or if several subscriptions share it. */
  readonly bytes?: () => Buffer;
  /** The errors of a request that was not executed. */
  readonly errors?: readonly GraphQLFormattedError[];
  /** Set if the failure is temporary: the client can retry after this time. */
  readonly retryAfterSeconds?: number;
}

/** The responses of a subscription: each is computed when the transport requests it. */
export interface GraphStream {
  /** Synchronous if the response is in memory. There must be no more than one call at a time. */
  next(): PromiseOrValue<IteratorResult<GraphResult, undefined>>;
  /** Ends the stream immediately; a pending `next()` then returns `done`. */
  return(): Promise<unknown>;
  /** The cursor after which the client can continue. `isSent` says whether the last response was sent. */
  cursorAfter(isSent: boolean): string | undefined;
  /** The number of the last journal entry that was returned. */
  readonly reached: number;
  /** Returns the responses of the entries up to that number, and then waits for `return()`. */
  endAfter(number: number): void;
}
