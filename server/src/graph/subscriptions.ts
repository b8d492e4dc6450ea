/** Executes subscriptions: a stream of changes, and one response to each change. */

import { createSourceEventStream, execute, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { eventCharge, type Scheduler, type Task } from '../concurrency/fair-scheduler.ts';
import { isPromise, whenDone, whenFailed, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { ChangeStream } from '../journal/change-stream.ts';
import { findUnavailable, tryRequest, type Results } from './graph-results.ts';
import { ResponseStream, type GraphResult, type GraphStream, type ReportedChange } from './graph-stream.ts';
import { requireMayBegin, requireNotAborted, type Operation } from './operation.ts';
import type { GraphContext, GraphServices } from './schema/builder.ts';
import { SharedResponses, type GroupMember } from './shared-responses.ts';
import type { GraphTracing } from './traced-graph.ts';
import type { ViewerReads } from './viewer-reads.ts';
import type { ViewerSnapshot } from './viewer-snapshots.ts';

export interface SubscriptionOptions {
  readonly schema: GraphQLSchema;
  readonly services: GraphServices;
  readonly scheduler: Scheduler;
  readonly results: Results;
  readonly reads: ViewerReads;
  readonly tracing: GraphTracing | undefined;
}

export class Subscriptions {
  readonly #options: SubscriptionOptions;
  readonly #activity: GraphServices['server']['activity'];
  readonly #sharedResponses: SharedResponses;

  constructor(options: SubscriptionOptions) {
    const { schema, services } = options;
    this.#options = options;
    this.#activity = services.server.activity;
    this.#sharedResponses = new SharedResponses(schema, services);
  }

  async open(operation: Operation): Promise<GraphResult | GraphStream> {
    const { scheduler, reads, results, tracing } = this.#options;
    const { query, viewer, request, signal, whenRoom } = operation;
    const { source, head } = await scheduler.run(
      viewer.userId,
      (task) => {
        requireMayBegin(operation);
        return reads.read(viewer, task, async (contextValue) => ({
          head: contextValue.position.number,
          source: await tryRequest(() => createSourceEventStream({ ...request, contextValue })),
        }));
      },
      { signal },
    );
    if (!(Symbol.asyncIterator in source)) return results.toResult(requireAvailable(source), query);
    const subscription: Subscription = {
      operation,
      member: this.#sharedResponses.join(operation, head),
      inOwnTrace: tracing ? tracing.traceResponses(request) : (run) => run(),
    };
    this.#activity.subscriptions++;
    return new ResponseStream({
      changes: source as ChangeStream<ReportedChange>,
      respond: (change) => {
        const respond = () => this.#respond(change, subscription);
        return whenRoom ? whenRoom(respond) : respond();
      },
      onEnd: () => {
        subscription.member.leave();
        this.#activity.subscriptions--;
      },
    });
  }

  #respond(change: ReportedChange, subscription: Subscription): PromiseOrValue<GraphResult> {
    const { operation, member, inOwnTrace } = subscription;
    const found = member.find(change);
    if (found && !isPromise(found)) return this.#countShared(found);
    return inOwnTrace(async () => {
      const shared = await found;
      if (shared) return this.#countShared(shared);
      // Null: the response takes more than one slice, for this subscription as for the others.
      const isLong = shared === null || this.#options.reads.mayTakeLong(operation.request.document);
      const short = isLong ? null : await this.#readShort(change, subscription);
      return short ?? this.#readLong(change, operation);
    });
  }

  #countShared(result: GraphResult): GraphResult {
    this.#activity.responses.shared++;
    return result;
  }

  /** Runs at the turn of the first of several equal subscriptions. The others do not compute it, and are not charged. */
  async #readShort(change: ReportedChange, { operation, member }: Subscription): Promise<GraphResult | null> {
    const { viewer, signal } = operation;
    const atTurn = (task: Task) => {
      const found = member.find(change);
      // In an object: the scheduler would charge the time until a promise settles.
      return found === undefined ? this.#compute(change, operation, member, task) : { found };
    };
    for (;;) {
      const done = await this.#options.scheduler.run(viewer.userId, atTurn, { signal, charge: eventCharge });
      if (!done || !('found' in done)) return done;
      const found = await done.found;
      if (found !== undefined) return found && this.#countShared(found);
    }
  }

  /** Each response has its own budget and snapshot. Null if it takes more than one slice. */
  #compute(
    change: ReportedChange,
    operation: Operation,
    member: GroupMember,
    task: Task,
  ): PromiseOrValue<GraphResult | null> {
    const { reads, results } = this.#options;
    const { query, signal } = operation;
    const { position } = change;
    const shared = member.begin(change);
    let isShared = false;
    const run = (context: GraphContext, snapshot: ViewerSnapshot) => {
      // Before the response counts as shared: the others must not fail because this client is gone.
      requireNotAborted(signal);
      isShared = shared !== undefined && member.isSharedFrom(snapshot, shared);
      if (isShared) shared!.head = snapshot.position.number;
      else shared?.giveUp();
      return this.#execute(change, operation, context);
    };
    const settle = (done: ExecutionResult | null) => {
      const result = done && results.toResult(requireAvailable(done), query);
      if (isShared) return shared!.settle(result);
      shared?.giveUp();
      return result;
    };
    return whenFailed(
      () => whenDone(reads.readInOneSlice(operation, { position, task }, run), settle),
      (error): never => {
        if (isShared) shared!.fail(error);
        else shared?.giveUp();
        throw error;
      },
    );
  }

  /** Not shared: it waits for a permit and for turns of its own user, who may be slower than the others. */
  #readLong(change: ReportedChange, operation: Operation): Promise<GraphResult> {
    const { reads, results } = this.#options;
    const { position } = change;
    return reads.readLong(operation, { position }, async (context) => {
      requireNotAborted(operation.signal);
      const done = await this.#execute(change, operation, context);
      return results.toLongResult(requireAvailable(done), operation.query, context.task);
    });
  }

  #execute(
    change: ReportedChange,
    { request }: Operation,
    contextValue: GraphContext,
  ): PromiseOrValue<ExecutionResult> {
    this.#activity.responses.computed++;
    return execute({ ...request, rootValue: change, contextValue });
  }
}

/** One open subscription. */
interface Subscription {
  readonly operation: Operation;
  readonly member: GroupMember;
  readonly inOwnTrace: <T>(respond: () => Promise<T>) => Promise<T>;
}

/** Throws if a part of the response is unavailable for now. A client that stores its cursor would never get that part. */
function requireAvailable(done: ExecutionResult): ExecutionResult {
  const unavailable = findUnavailable(done.errors);
  if (unavailable) throw unavailable;
  return done;
}
