/** Executes GraphQL requests for a viewer. It does not depend on HTTP, tokens or sockets. */

import { getOperationAST, OperationTypeNode } from 'graphql';
import type { GraphRequest } from '@espalier/contract';
import { FairScheduler, type Scheduler } from '../concurrency/fair-scheduler.ts';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { Refusal } from '../refusal.ts';
import type { Viewer } from '../sessions/auth-token.ts';
import { Documents } from './documents.ts';
import {
  areNestedTooDeeply,
  nestingError,
  notExecutedResult,
  Results,
  unsupportedResult,
  type ResultOptions,
} from './graph-results.ts';
import { Mutations } from './mutations.ts';
import type { ExecutionOptions, GraphResult, GraphStream, Operation } from './operation.ts';
import { Queries, type QueryHooks } from './queries.ts';
import type { GraphServices } from './schema/builder.ts';
import { createSchema } from './schema/schema.ts';
import { Subscriptions } from './subscriptions.ts';
import type { GraphTracing } from './traced-graph.ts';
import { accessOfViewer, ViewerReads } from './viewer-reads.ts';

export type { ExecutionOptions, GraphResult, GraphStream };

export interface GraphOptions extends GraphServices, ResultOptions, QueryHooks {
  /** Called for each operation, with its cost if it can be executed. */
  readonly onDocument?: ((isCached: boolean, cost: number | undefined) => void) | undefined;
  /** Undefined if tracing is off. */
  readonly tracing?: GraphTracing | undefined;
  /** Tests pass their own. */
  readonly scheduler?: Scheduler | undefined;
}

/** Only imports need a larger request. */
export const maxBytesWithoutWrite = 2 ** 20;
const tooLargeToRead =
  'The request body is larger than 1 MiB (1048576 bytes), which requires WRITE on a folder. Send several smaller requests instead.';

const viewIsReadOnly =
  'You view the tree as another user, so you cannot change anything. Leave the view first.';

const needsStream =
  'A subscription needs a WebSocket, or a request with the header Accept: text/event-stream.';

export interface Graph {
  /** For transports with one response per request; refuses subscriptions. */
  run(request: GraphRequest, viewer: Viewer, options?: ExecutionOptions): PromiseOrValue<GraphResult>;
  /** For transports that can stream: returns a stream for a subscription, otherwise the result. */
  open(
    request: GraphRequest,
    viewer: Viewer,
    options?: ExecutionOptions,
  ): PromiseOrValue<GraphResult | GraphStream>;
  /** Calls `read` in the next time slice of the viewer, for example to parse a long request. */
  scheduleRead<T>(viewer: Viewer, read: () => T): Promise<T>;
  /** Refuses a request of more than `maxBytesWithoutWrite` by a viewer who has no write access to any folder. */
  admitLarge(viewer: Viewer): PromiseOrValue<void>;
  /** Whether the response to an executed request is a stream; false if its document is no longer cached. */
  isSubscription(request: GraphRequest): boolean;
  /** Refuses a viewer who can no longer log in. */
  admit(viewer: Viewer): PromiseOrValue<void>;
}

export function createGraph({
  onBug,
  onUnavailable,
  onDocument,
  onQuery,
  onPlanFailure,
  tracing,
  scheduler: ownScheduler = new FairScheduler(),
  ...services
}: GraphOptions): Graph {
  const { accessCache, limits } = services;
  const schema = createSchema();
  tracing?.traceFields(schema);
  const scheduler = tracing ? tracing.bindScheduler(ownScheduler) : ownScheduler;
  const documents = new Documents(schema, limits);
  const results = new Results({ onBug, onUnavailable });
  const reads = new ViewerReads(schema, services, scheduler);
  const prepare = createPreparation(reads, { documents, results, tracing, onDocument });
  const queries = new Queries(reads, results, { onQuery, onPlanFailure }, tracing?.traceRead);
  const mutations = new Mutations(reads, results);
  const subscriptions = new Subscriptions(reads, results, tracing);
  const runOnce = (operation: Operation) =>
    operation.kind === OperationTypeNode.MUTATION ? mutations.run(operation) : queries.run(operation);

  const graph: Graph = {
    run: (request, viewer, options) =>
      prepare(request, viewer, options, (operation) =>
        isStream(operation.kind)
          ? unsupportedResult(needsStream, 'BAD_INPUT', operation.requestId)
          : runOnce(operation),
      ),
    open: (request, viewer, options) =>
      prepare<GraphResult | GraphStream>(request, viewer, options, (operation) =>
        isStream(operation.kind) ? subscriptions.open(operation) : runOnce(operation),
      ),
    scheduleRead: ({ userId }, read) => scheduler.schedule(userId, read),
    admitLarge: (viewer) =>
      whenDone(accessOfViewer(accessCache, viewer), ({ access }) => {
        if (viewer.view || !access.writesSomething) throw new Refusal('TOO_LARGE', tooLargeToRead);
      }),
    isSubscription({ query, operationName }) {
      const document = documents.find(query)?.document;
      return document !== undefined && isStream(getOperationAST(document, operationName)?.operation);
    },
    admit: (viewer) => whenDone(accessOfViewer(accessCache, viewer), () => undefined),
  };
  if (!tracing) return graph;
  return {
    ...graph,
    run: (...input) => tracing.traceOperation(() => graph.run(...input)),
    open: (...input) => tracing.traceOperation(() => graph.open(...input)),
  };
}

function isStream(kind: OperationTypeNode | undefined): boolean {
  return kind === OperationTypeNode.SUBSCRIPTION;
}

interface PreparationOptions extends Pick<GraphOptions, 'onDocument' | 'tracing'> {
  readonly documents: Documents;
  readonly results: Results;
}

/** Returns a function that turns a request into an operation and runs it. */
function createPreparation(
  { schema, scheduler }: ViewerReads,
  { documents, results, onDocument, tracing }: PreparationOptions,
) {
  /** Calls `run` immediately if the document is cached. A task of the user first parses and validates a new text. */
  return <T extends GraphResult | GraphStream>(
    { query, operationName, variables, extensions }: GraphRequest,
    viewer: Viewer,
    options: ExecutionOptions | undefined,
    run: (operation: Operation) => PromiseOrValue<T | GraphResult>,
  ): PromiseOrValue<T | GraphResult> => {
    const requestId = options?.requestId;
    if (query === '' && extensions?.['persistedQuery']) {
      // Clients recognize this exact message, and then send the whole query.
      return unsupportedResult('PersistedQueryNotSupported', 'PERSISTED_QUERY_NOT_SUPPORTED', requestId);
    }
    const checked =
      documents.find(query) ??
      scheduler.run(viewer.userId, (task) => documents.check(query, task), { signal: options?.signal });
    return whenDone(checked, (found) => {
      if (found.errors) {
        onDocument?.(false, undefined);
        return notExecutedResult(found.errors, requestId);
      }
      const { document } = found;
      onDocument?.(found.timesRun++ > 0, found.cost);
      if (variables && areNestedTooDeeply(variables)) {
        return results.toResult({ errors: [nestingError()] }, { query, requestId });
      }
      const kind = getOperationAST(document, operationName)?.operation;
      tracing?.setOperation({ document, operationName });
      // This is the only check that keeps a view read-only.
      if (viewer.view && kind === OperationTypeNode.MUTATION) {
        return unsupportedResult(viewIsReadOnly, 'FORBIDDEN', requestId);
      }
      if (options?.queriesOnly && kind === OperationTypeNode.MUTATION) {
        throw new Refusal('METHOD_NOT_ALLOWED', 'A mutation must be sent by POST.', { allow: ['POST'] });
      }
      const request = { schema, document, operationName, variableValues: variables };
      return run({ ...options, kind, query, viewer, request });
    });
  };
}
