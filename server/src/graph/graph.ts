/** Runs graph queries for a viewer. Knows nothing of HTTP, tokens or sockets. */

import {
  GraphQLError,
  OperationTypeNode,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
} from 'graphql';
import type { GraphRequest } from '@espalier/contract';
import { isPromise, whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { AccessChanges } from '../folders/access-changes.ts';
import { viewTree } from '../folders/folders.ts';
import type { JournalPosition } from '../journal/journal-entry.ts';
import { abandoned, Refusal } from '../refusal.ts';
import { Budget } from './cost/budget.ts';
import type { GraphContext, GraphServices } from './schema/builder.ts';
import { createDocuments, operationKind, type Checked } from './documents.ts';
import { ElementFields } from './cost/element-fields.ts';
import { FairScheduler, type Scheduler } from '../concurrency/fair-scheduler.ts';
import type { GraphResult, GraphStream } from './graph-stream.ts';
import {
  cannotStream,
  createResults,
  nestedTooDeeply,
  notExecuted,
  persistedQueryNotSupported,
  tryExecute,
  type ResultOptions,
  withBytes,
} from './graph-results.ts';
import {
  createFieldCheck,
  isListField,
  isLongField,
  createLongReads,
  type ViewerSnapshot,
} from './document-fields.ts';
import { SingleSlice, yieldingSnapshot, rethrowSliceExceeded } from './time-slices.ts';
import type { Task } from '../concurrency/fair-scheduler.ts';
import type { PlannedData } from './plan/query-plan.ts';
import { createQueryPlans, type ReadyPlan } from './plan/query-plans.ts';
import { createDomain, MutationRun, runMutation } from './mutations.ts';
import { isReadAfterChange } from './schema/folders/folder-mutations.ts';
import { createSchema } from './schema/schema.ts';
import { createSubscriptions } from './subscriptions.ts';
import type { GraphTracing } from './tracing.ts';
import { areNestedTooDeeply } from './variables.ts';
import { SecondRead, ViewerSnapshots, type OpenOptions } from './viewer-snapshots.ts';
import type { Viewer } from '../sessions/viewer.ts';

export interface GraphOptions extends GraphServices, ResultOptions {
  /** Told of each operation: whether its text was known, and what it costs, if it can be run. */
  readonly onDocument?: ((isKnown: boolean, price: number | undefined) => void) | undefined;
  /** Called for each query that is run. */
  readonly onQuery?: ((engine: Engine) => void) | undefined;
  /** Called when a query plan failed unexpectedly; graphql-js then runs the query. Tests throw here. */
  readonly onPlanFailure: (error: unknown) => void;
  /** Undefined if nothing is traced. */
  readonly tracing?: GraphTracing | undefined;
  /** For tests: whose turn it is, and how much work fits between two yields. */
  readonly scheduler?: Scheduler | undefined;
}

export type { GraphResult, GraphStream };

/** What runs a query: a query plan, or graphql-js for everything that no plan covers. */
export type Engine = 'plan' | 'graphql-js';

/** Only imports need a larger request. */
export const maxBytesWithoutWrite = 2 ** 20;
const tooLargeToRead =
  'A request of more than 1 MiB needs WRITE on a folder. Send several smaller requests instead.';

export interface GraphLimits {
  /** Mutations are refused. */
  readonly queriesOnly?: boolean;
  /** Asked when its turn has come; what is thrown is the answer, and nothing was begun. */
  readonly mayBegin?: (() => void) | undefined;
  /** Aborted when the client is gone or has stopped the operation. Nothing more is begun then; a begun transaction completes. */
  readonly signal?: AbortSignal | undefined;
  /** Computes each response of a subscription when there is room for it. */
  readonly whenRoom?: (<T>(respond: () => PromiseOrValue<T>) => PromiseOrValue<T>) | undefined;
  /** Of the client's: mutations that were done under it are not done again, but answered again. */
  readonly idempotencyKey?: string | undefined;
}

export interface Graph {
  /** For transports with one answer to a request; a subscription is refused. */
  run(request: GraphRequest, viewer: Viewer, limits?: GraphLimits): PromiseOrValue<GraphResult>;
  /** For transports that can stream: a subscription answers with a stream, everything else with its result. */
  open(
    request: GraphRequest,
    viewer: Viewer,
    limits?: GraphLimits,
  ): PromiseOrValue<GraphResult | GraphStream>;
  /** Reads a long request at its viewer's turn. */
  readInTurn<T>(viewer: Viewer, read: () => T): Promise<T>;
  /** Refuses a request of more than `maxBytesWithoutWrite` by a viewer who may write nowhere. */
  admitLarge(viewer: Viewer): PromiseOrValue<void>;
  /** Whether a request that was run is answered with a stream; false if its text has been forgotten. */
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
  scheduler: turns = new FairScheduler(),
  ...services
}: GraphOptions): Graph {
  const schema = createSchema();
  tracing?.traceFields(schema);
  const documents = createDocuments(schema, services.limits);
  const plans = createQueryPlans(schema, tracing?.traceRead);
  const elementFields = new ElementFields();
  const scheduler = tracing ? tracing.bindTurns(turns) : turns;
  const takesLong = createFieldCheck(schema, isLongField);
  const selectsList = createFieldCheck(schema, isListField);
  const needsRead = createFieldCheck(schema, isReadAfterChange(schema));
  const tookLong = new WeakSet<DocumentNode>();
  const snapshots = new ViewerSnapshots(services);
  const longReads = createLongReads(services.database, services.accessCache, scheduler);
  const mutations = { ...services, domain: createDomain(services), longReads };
  const accessChanges = new AccessChanges(services);
  const results = createResults({ onBug, onUnavailable });
  const { toResult, toLongResult } = results;
  const subscribe = createSubscriptions({
    schema,
    services,
    scheduler,
    results,
    tracing,
    read: {
      once: ({ viewer }, task, work) => withContext(snapshots.open(viewer), { viewer, task }, work),
      inOnePiece: ({ viewer, request }, asked, work) => inOnePiece(viewer, request, asked, work),
      long: readLong,
      mayTakeLong,
    },
  });

  const graph: Graph = {
    run: (request, viewer, limits) =>
      prepared(request, viewer, limits, (operation) =>
        operation.kind === OperationTypeNode.SUBSCRIPTION ? cannotStream() : runOnce(operation),
      ),
    open: (request, viewer, limits) =>
      prepared<GraphResult | GraphStream>(request, viewer, limits, (operation) =>
        operation.kind === OperationTypeNode.SUBSCRIPTION ? subscribe(operation) : runOnce(operation),
      ),
    readInTurn: ({ userId }, read) => scheduler.schedule(userId, read),
    admitLarge: ({ userId }) =>
      whenDone(services.accessCache.accessOf(userId), ({ access }) => {
        if (!access.writesSomething) throw new Refusal('TOO_LARGE', tooLargeToRead);
      }),
    isSubscription({ query, operationName }) {
      const document = documents.known(query)?.document;
      return (
        document !== undefined && operationKind(document, operationName) === OperationTypeNode.SUBSCRIPTION
      );
    },
    admit: ({ userId }) => whenDone(services.accessCache.accessOf(userId), () => undefined),
  };
  return tracing ? tracing.traceGraph(graph) : graph;

  /** A known text is run at once. A new one is parsed and validated first, in its user's turn. */
  function prepared<T extends GraphResult | GraphStream>(
    request: GraphRequest,
    viewer: Viewer,
    limits: GraphLimits | undefined,
    run: (operation: Operation) => PromiseOrValue<T | GraphResult>,
  ): PromiseOrValue<T | GraphResult> {
    const { query, extensions } = request;
    if (query === '' && extensions?.['persistedQuery']) return persistedQueryNotSupported();
    const known = documents.known(query);
    const checked =
      known ??
      scheduler.run(viewer.userId, (task) => documents.check(query, task), { signal: limits?.signal });
    return whenDone(checked, (found) => {
      const { operation, refused } = prepare(found, request, viewer, limits);
      return refused ?? run(operation);
    });
  }

  /** All that is judged before anything is run. */
  function prepare(
    checked: Checked,
    { query, operationName, variables }: GraphRequest,
    viewer: Viewer,
    limits?: GraphLimits,
  ): { operation: Operation; refused?: undefined } | { operation?: undefined; refused: GraphResult } {
    if (checked.errors) {
      onDocument?.(false, undefined);
      return { refused: notExecuted(checked.errors) };
    }
    const { document } = checked;
    onDocument?.(checked.timesRun++ > 0, checked.price);
    if (variables && areNestedTooDeeply(variables)) {
      return { refused: toResult({ errors: [nestedTooDeeply()] }, query) };
    }
    const kind = operationKind(document, operationName);
    tracing?.setOperation({ document, operationName });
    if (limits?.queriesOnly && kind === OperationTypeNode.MUTATION) {
      throw new Refusal('METHOD_NOT_ALLOWED', 'A mutation must be sent by POST.', { allow: ['POST'] });
    }
    const request = { schema, document, operationName, variableValues: variables };
    return { operation: { ...limits, kind, query, viewer, request } };
  }

  function runOnce(operation: Operation): PromiseOrValue<GraphResult> {
    if (operation.kind === OperationTypeNode.MUTATION) return runChange(operation);
    const { request } = operation;
    const plan = plans.planFor(request);
    // A plan reads a page of a long list as fast as any other page.
    const isLong = tookLong.has(request.document) || (!plan && takesLong(request.document));
    return isLong ? runLong(operation, plan) : runShort(operation, plan);
  }

  function runShort(operation: Operation, plan: ReadyPlan | undefined): PromiseOrValue<GraphResult> {
    const { viewer, request, signal } = operation;
    const answered = scheduler.run(
      viewer.userId,
      (turn) => {
        begin(operation);
        return withPlan(operation, plan, (execute, used) =>
          inOnePiece(viewer, request, { turn, ...used }, (context) => execute(context)),
        );
      },
      { signal },
    );
    return whenDone(answered, (result) => result ?? runLong(operation, plan));
  }

  async function runLong(operation: Operation, plan: ReadyPlan | undefined): Promise<GraphResult> {
    return withPlan(operation, plan, (execute) =>
      readLong(operation, {}, async (context) => {
        begin(operation);
        return execute(context, context.task);
      }),
    );
  }

  /** Runs a query by its plan. If the plan fails, the output and the snapshot are discarded and graphql-js runs it. */
  function withPlan<T extends GraphResult | null>(
    { query, request }: Operation,
    plan: ReadyPlan | undefined,
    run: (execute: Execute, used?: OpenOptions) => PromiseOrValue<T>,
  ): PromiseOrValue<T> {
    const byGraphqlJs = () => {
      onQuery?.('graphql-js');
      return run((contextValue, task) =>
        whenDone(tryExecute({ ...request, contextValue }), (done) => {
          if (task) return toLongResult(done, query, task);
          rethrowSliceExceeded(done);
          return toResult(done, query);
        }),
      );
    };
    if (!plan) return byGraphqlJs();
    const byPlan = (used: OpenOptions) =>
      run(
        (context, task) =>
          whenDone(plan.run(context), (data) => {
            const result = plannedResult(data, query);
            return task ? withBytes(result, task) : result;
          }),
        used,
      );
    const recover = (error: unknown): PromiseOrValue<T> => {
      if (error instanceof Refusal) throw error;
      if (error instanceof SecondRead) return attempt(() => byPlan({ plan }));
      // An argument that graphql-js refuses.
      if (!(error instanceof GraphQLError)) onPlanFailure(error);
      return byGraphqlJs();
    };
    const attempt = (work: () => PromiseOrValue<T>): PromiseOrValue<T> => {
      try {
        const done = work();
        return isPromise(done) ? done.catch(recover) : done;
      } catch (error) {
        return recover(error);
      }
    };
    onQuery?.('plan');
    return attempt(() => byPlan({ plan, mayReadOnce: true }));
  }

  function plannedResult({ text, errors }: PlannedData, query: string): GraphResult {
    if (errors.length === 0) return { isExecuted: true, text: `{"data":${text}}` };
    return toResult({ data: JSON.parse(text) as NonNullable<ExecutionResult['data']> | null, errors }, query);
  }

  /** Null if it took more than one piece: then it has to be done again as a long read, as it will be the next time. */
  function inOnePiece<T>(
    viewer: Viewer,
    { document }: Operation['request'],
    { turn, plan, mayReadOnce, ...asked }: Omit<Asked, 'viewer' | 'task'> & OnePieceOptions,
    work: (context: GraphContext, snapshot: ViewerSnapshot) => PromiseOrValue<T>,
  ): PromiseOrValue<T | null> {
    const task = new SingleSlice(turn);
    const orNull = (done: T): T | null => {
      if (!task.isExceeded) return done;
      tookLong.add(document);
      return null;
    };
    const recover = (error: unknown): null => {
      if (!task.isExceeded) throw error;
      tookLong.add(document);
      return null;
    };
    try {
      const done = withContext(
        snapshots.open(viewer, { plan, mayReadOnce }),
        { ...asked, viewer, task },
        work,
      );
      return isPromise(done) ? done.then(orNull, recover) : orNull(done);
    } catch (error) {
      return recover(error);
    }
  }

  /** The document selects a long field, or took more than one piece the last time. */
  function mayTakeLong({ request: { document } }: Pick<Operation, 'request'>): boolean {
    return takesLong(document) || tookLong.has(document);
  }

  function runChange({
    query,
    viewer,
    request,
    mayBegin,
    signal,
    idempotencyKey,
  }: Operation): PromiseOrValue<GraphResult> {
    const run = (task: Task) => {
      begin({ mayBegin, signal });
      const isLong = takesLong(request.document) || selectsList(request.document);
      const budget = new Budget(services.limits, elementFields);
      const createContext = (snapshot: ViewerSnapshot, ownTask: Task, place: JournalPosition) =>
        contextOf({ viewer, task: ownTask, place, budget }, snapshot);
      const contextValue = new MutationRun(mutations, {
        viewer,
        signal,
        idempotencyKey,
        isLong,
        needsNoRead: !needsRead(request.document),
        task,
        createContext,
      });
      return runMutation(contextValue, () =>
        whenDone(tryExecute({ ...request, contextValue }), (done) => toResult(done, query, contextValue)),
      );
    };
    return scheduler.runWrite(viewer.userId, run, { signal });
  }

  /** Waits for a permit of the user, and for the user's turn between two pieces. */
  async function readLong<T>(
    { viewer, request, signal }: Pick<Operation, 'viewer' | 'request' | 'signal'>,
    asked: Omit<Asked, 'viewer' | 'task'>,
    work: (context: GraphContext) => Promise<T>,
  ): Promise<T> {
    const opened = await longReads.open(viewer.userId, { signal });
    const { task } = opened;
    const result = await withContext(opened, { ...asked, viewer, task }, work);
    if (task.yields === 0) tookLong.delete(request.document);
    return result;
  }

  /** Ends the snapshot when the answer is done. */
  function withContext<T>(
    opened: PromiseOrValue<ViewerSnapshot>,
    asked: Asked,
    work: (context: GraphContext, snapshot: ViewerSnapshot) => PromiseOrValue<T>,
  ): PromiseOrValue<T> {
    return whenDone(notCharged(opened, asked.task), (snapshot) => {
      const context = contextOf(asked, snapshot);
      const end = () => context.reader.end();
      try {
        const result = work(context, snapshot);
        if (isPromise(result)) return result.finally(end);
        end();
        return result;
      } catch (error) {
        end();
        throw error;
      }
    });
  }

  /** What is waited for here is not charged to the user. */
  function notCharged<T>(waited: PromiseOrValue<T>, task: Task): PromiseOrValue<T> {
    if (!isPromise(waited)) return waited;
    task.pause();
    return waited.finally(() => task.resume());
  }

  function contextOf(
    { viewer, place, task, budget = new Budget(services.limits, elementFields) }: Asked,
    { reader: snapshot, access, position: head, first }: ViewerSnapshot,
  ): GraphContext {
    const reader = yieldingSnapshot(snapshot, task);
    const view = viewTree(reader, access, first);
    return {
      ...services,
      viewer,
      reader,
      access,
      view,
      position: place ?? head,
      budget,
      task,
      scheduler,
      accessChanges,
    };
  }
}

/** Asked when the turn of an operation has come: throws if it is not to be run any more. */
function begin({ mayBegin, signal }: Pick<GraphLimits, 'mayBegin' | 'signal'>): void {
  if (signal?.aborted) throw abandoned();
  mayBegin?.();
}

interface OnePieceOptions extends OpenOptions {
  readonly turn: Task;
}

type Execute = (context: GraphContext, task?: Task) => PromiseOrValue<GraphResult>;

/** Who asks. */
interface Asked {
  readonly viewer: Viewer;
  readonly task: Task;
  /** Shared by the answers of one request with several mutations. */
  readonly budget?: Budget;
  /** The journal entry that a subscription reports; without it, the head of the snapshot. */
  readonly place?: JournalPosition;
}

/** A request that may be run, once or for each change. */
interface Operation extends GraphLimits {
  readonly viewer: Viewer;
  readonly kind: OperationTypeNode | undefined;
  readonly query: string;
  readonly request: Omit<ExecutionArgs, 'contextValue'>;
}
