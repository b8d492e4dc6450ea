/** One GraphQL operation that has passed all checks before execution. */

import { OperationTypeNode, type ExecutionArgs, type GraphQLSchema } from 'graphql';
import type { GraphRequest } from '@espalier/contract';
import type { Scheduler } from '../concurrency/fair-scheduler.ts';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { abandoned, Refusal } from '../refusal.ts';
import type { Viewer } from '../sessions/viewer.ts';
import { operationKind, type CheckedDocument, type Documents } from './documents.ts';
import {
  areNestedTooDeeply,
  nestedTooDeeply,
  notExecuted,
  persistedQueryNotSupported,
  type Results,
} from './graph-results.ts';
import type { GraphResult, GraphStream } from './graph-stream.ts';
import type { GraphTracing } from './traced-graph.ts';

export interface GraphLimits {
  /** Rejects mutations. */
  readonly queriesOnly?: boolean;
  /** Called when the operation's turn has come. An exception is the response, and nothing is executed. */
  readonly mayBegin?: (() => void) | undefined;
  /** Aborted when the client is gone or has stopped the operation. Nothing more is begun then; a begun transaction completes. */
  readonly signal?: AbortSignal | undefined;
  /** Computes each response of a subscription when there is room for it. */
  readonly whenRoom?: (<T>(respond: () => PromiseOrValue<T>) => PromiseOrValue<T>) | undefined;
  /** A mutation that was executed with the same key is not executed again; its response is repeated. */
  readonly idempotencyKey?: string | undefined;
}

export interface Operation extends GraphLimits {
  readonly viewer: Viewer;
  readonly kind: OperationTypeNode | undefined;
  readonly query: string;
  readonly request: Omit<ExecutionArgs, 'contextValue'>;
}

/** Called when the operation's turn has come. Throws if it must not begin. */
export function requireMayBegin({ mayBegin, signal }: GraphLimits): void {
  requireNotAborted(signal);
  mayBegin?.();
}

export function requireNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abandoned();
}

export interface PreparationOptions {
  readonly schema: GraphQLSchema;
  readonly documents: Documents;
  readonly scheduler: Scheduler;
  readonly results: Results;
  readonly tracing: GraphTracing | undefined;
  readonly onDocument: ((isCached: boolean, cost: number | undefined) => void) | undefined;
}

type Response = GraphResult | GraphStream;

/** Turns requests into operations. */
export class OperationPreparation {
  readonly #options: PreparationOptions;

  constructor(options: PreparationOptions) {
    this.#options = options;
  }

  /** Calls `run` at once if the document is cached. A new text is first parsed and validated, at its user's turn. */
  prepare<T extends Response>(
    request: GraphRequest,
    viewer: Viewer,
    limits: GraphLimits | undefined,
    run: (operation: Operation) => PromiseOrValue<T | GraphResult>,
  ): PromiseOrValue<T | GraphResult> {
    const { documents, scheduler } = this.#options;
    const { query, extensions } = request;
    if (query === '' && extensions?.['persistedQuery']) return persistedQueryNotSupported();
    const checked =
      documents.find(query) ??
      scheduler.run(viewer.userId, (task) => documents.check(query, task), { signal: limits?.signal });
    return whenDone(checked, (document) => {
      const { operation, refused } = this.#toOperation(document, request, viewer, limits);
      return refused ?? run(operation);
    });
  }

  #toOperation(
    checked: CheckedDocument,
    { query, operationName, variables }: GraphRequest,
    viewer: Viewer,
    limits?: GraphLimits,
  ): { operation: Operation; refused?: undefined } | { operation?: undefined; refused: GraphResult } {
    const { schema, results, tracing, onDocument } = this.#options;
    if (checked.errors) {
      onDocument?.(false, undefined);
      return { refused: notExecuted(checked.errors) };
    }
    const { document } = checked;
    onDocument?.(checked.timesRun++ > 0, checked.cost);
    if (variables && areNestedTooDeeply(variables)) {
      return { refused: results.toResult({ errors: [nestedTooDeeply()] }, query) };
    }
    const kind = operationKind(document, operationName);
    tracing?.setOperation({ document, operationName });
    if (limits?.queriesOnly && kind === OperationTypeNode.MUTATION) {
      throw new Refusal('METHOD_NOT_ALLOWED', 'A mutation must be sent by POST.', { allow: ['POST'] });
    }
    const request = { schema, document, operationName, variableValues: variables };
    return { operation: { ...limits, kind, query, viewer, request } };
  }
}
