/** Executes GraphQL requests for a viewer. It does not depend on HTTP, tokens or sockets. */

import { OperationTypeNode } from 'graphql';
import type { GraphRequest } from '@espalier/contract';
import { FairScheduler, type Scheduler } from '../concurrency/fair-scheduler.ts';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { Refusal } from '../refusal.ts';
import type { Viewer } from '../sessions/viewer.ts';
import { createFieldCheck } from './document-fields.ts';
import { createDocuments, operationKind } from './documents.ts';
import { cannotStream, createResults, type ResultOptions } from './graph-results.ts';
import type { GraphResult, GraphStream } from './graph-stream.ts';
import { createMutations } from './mutations.ts';
import { OperationPreparation, type GraphLimits, type Operation } from './operation.ts';
import { Queries, type Engine } from './queries.ts';
import type { GraphServices } from './schema/builder.ts';
import { isReadAfterChange } from './schema/folders/folder-mutations.ts';
import { createSchema } from './schema/schema.ts';
import { Subscriptions } from './subscriptions.ts';
import type { GraphTracing } from './traced-graph.ts';
import { ViewerReads } from './viewer-reads.ts';

export type { Engine, GraphLimits, GraphResult, GraphStream };

export interface GraphOptions extends GraphServices, ResultOptions {
  /** Called for each operation, with its cost if it can be executed. */
  readonly onDocument?: ((isCached: boolean, cost: number | undefined) => void) | undefined;
  /** Called for each query that is executed. */
  readonly onQuery?: ((engine: Engine) => void) | undefined;
  /** Called when a query plan fails unexpectedly; graphql-js then executes the query. Tests throw here. */
  readonly onPlanFailure: (error: unknown) => void;
  /** Undefined if nothing is traced. */
  readonly tracing?: GraphTracing | undefined;
  /** Tests pass their own. */
  readonly scheduler?: Scheduler | undefined;
}

/** Only imports need a larger request. */
export const maxBytesWithoutWrite = 2 ** 20;
const tooLargeToRead =
  'A request of more than 1 MiB needs WRITE on a folder. Send several smaller requests instead.';

export interface Graph {
  /** For transports with one response to a request; a subscription is refused. */
  run(request: GraphRequest, viewer: Viewer, limits?: GraphLimits): PromiseOrValue<GraphResult>;
  /** For transports that can stream: returns a stream for a subscription, otherwise the result. */
  open(
    request: GraphRequest,
    viewer: Viewer,
    limits?: GraphLimits,
  ): PromiseOrValue<GraphResult | GraphStream>;
  /** Reads a long request at its viewer's turn. */
  readInTurn<T>(viewer: Viewer, read: () => T): Promise<T>;
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
  const documents = createDocuments(schema, limits);
  const results = createResults({ onBug, onUnavailable });
  const reads = new ViewerReads(schema, services, scheduler);
  const parts = { schema, services, scheduler, results, reads, tracing };
  const preparation = new OperationPreparation({ ...parts, documents, onDocument });
  const queries = new Queries({ ...parts, traceField: tracing?.traceRead, onQuery, onPlanFailure });
  const needsRead = createFieldCheck(schema, isReadAfterChange(schema));
  const runMutation = createMutations({ ...parts, needsRead });
  const subscriptions = new Subscriptions(parts);
  const runOnce = (operation: Operation) =>
    operation.kind === OperationTypeNode.MUTATION ? runMutation(operation) : queries.run(operation);

  const graph: Graph = {
    run: (request, viewer, requestLimits) =>
      preparation.prepare(request, viewer, requestLimits, (operation) =>
        isStream(operation.kind) ? cannotStream() : runOnce(operation),
      ),
    open: (request, viewer, requestLimits) =>
      preparation.prepare<GraphResult | GraphStream>(request, viewer, requestLimits, (operation) =>
        isStream(operation.kind) ? subscriptions.open(operation) : runOnce(operation),
      ),
    readInTurn: ({ userId }, read) => scheduler.schedule(userId, read),
    admitLarge: ({ userId }) =>
      whenDone(accessCache.accessOf(userId), ({ access }) => {
        if (!access.writesSomething) throw new Refusal('TOO_LARGE', tooLargeToRead);
      }),
    isSubscription({ query, operationName }) {
      const document = documents.find(query)?.document;
      return document !== undefined && isStream(operationKind(document, operationName));
    },
    admit: ({ userId }) => whenDone(accessCache.accessOf(userId), () => undefined),
  };
  return tracing ? tracing.traceGraph(graph) : graph;
}

function isStream(kind: OperationTypeNode | undefined): boolean {
  return kind === OperationTypeNode.SUBSCRIPTION;
}
