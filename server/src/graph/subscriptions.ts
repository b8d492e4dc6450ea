/** Executes subscriptions: a stream of changes, and one response to each change. */

import { createSourceEventStream, execute, type ExecutionResult } from 'graphql';
import { eventCharge, type Task } from '../concurrency/fair-scheduler.ts';
import { isPromise, whenDone, whenFailed, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { toJournalCursor, type JournalPosition } from '../journal/journal-entry.ts';
import type { ChangeStream } from '../journal/journal-feed.ts';
import { findUnavailable, tryRequest, type Results } from './graph-results.ts';
import {
  throwIfStopped,
  throwIfAborted,
  type GraphResult,
  type GraphStream,
  type Operation,
} from './operation.ts';
import type { GraphContext, GraphServices } from './schema/builder.ts';
import { SharedResponses, type GroupMember, type ReportedChange } from './shared-responses.ts';
import type { GraphTracing } from './traced-graph.ts';
import type { ViewerReads, ViewerSnapshot } from './viewer-reads.ts';

export class Subscriptions {
  readonly #reads: ViewerReads;
  readonly #results: Results;
  readonly #tracing: GraphTracing | undefined;
  readonly #activity: GraphServices['server']['activity'];
  readonly #sharedResponses: SharedResponses;

  constructor(reads: ViewerReads, results: Results, tracing: GraphTracing | undefined) {
    this.#reads = reads;
    this.#results = results;
    this.#tracing = tracing;
    this.#activity = reads.services.server.activity;
    this.#sharedResponses = new SharedResponses(reads.schema, reads.services);
  }

  async open(operation: Operation): Promise<GraphResult | GraphStream> {
    const { viewer, request, signal, waitForCapacity } = operation;
    const { source, head } = await this.#reads.scheduler.run(
      viewer.userId,
      (task) => {
        throwIfStopped(operation);
        return this.#reads.read(viewer, task, async (contextValue) => ({
          head: contextValue.position.number,
          source: await tryRequest(() => createSourceEventStream({ ...request, contextValue })),
        }));
      },
      { signal },
    );
    if (!(Symbol.asyncIterator in source)) return this.#results.toResult(requireAvailable(source), operation);
    const subscription: Subscription = {
      operation,
      member: this.#sharedResponses.join(operation, head),
      runInTrace: this.#tracing?.traceResponses(request) ?? ((run) => run()),
    };
    this.#activity.subscriptions++;
    return new ResponseStream(
      source as ChangeStream<ReportedChange>,
      (change) => {
        const respond = () => this.#respond(change, subscription);
        return waitForCapacity ? waitForCapacity(respond) : respond();
      },
      () => {
        this.#sharedResponses.leave(subscription.member);
        this.#activity.subscriptions--;
      },
    );
  }

  #respond(change: ReportedChange, subscription: Subscription): PromiseOrValue<GraphResult> {
    const { operation, member, runInTrace } = subscription;
    const found = this.#sharedResponses.find(member, change);
    if (found && !isPromise(found)) return this.#countShared(found);
    return runInTrace(async () => {
      const shared = await found;
      if (shared) return this.#countShared(shared);
      // Null means that the response takes more than one slice, for this subscription as well.
      const isLong = shared === null || this.#reads.mayTakeLong(operation.request.document);
      const short = isLong ? null : await this.#readShort(change, subscription);
      return short ?? this.#readLong(change, operation);
    });
  }

  #countShared(result: GraphResult): GraphResult {
    this.#activity.responses.shared++;
    return result;
  }

  /** A task of the first of several equal subscriptions computes the response. The others only wait, and are not charged. */
  async #readShort(change: ReportedChange, { operation, member }: Subscription): Promise<GraphResult | null> {
    const { viewer, signal } = operation;
    const findOrCompute = (task: Task) => {
      const found = this.#sharedResponses.find(member, change);
      // `found` is inside an object, because the scheduler would charge the time until a promise settles.
      return found === undefined ? this.#compute(change, operation, member, task) : { found };
    };
    for (;;) {
      const done = await this.#reads.scheduler.run(viewer.userId, findOrCompute, {
        signal,
        charge: eventCharge,
      });
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
    const { query, signal } = operation;
    const { position } = change;
    const shared = this.#sharedResponses.begin(member, change);
    const run = (context: GraphContext, snapshot: ViewerSnapshot) => {
      // Checked before the response is shared: other subscriptions must not fail because this client disconnected.
      throwIfAborted(signal);
      shared?.open(snapshot);
      return this.#execute(change, operation, context);
    };
    const settle = (done: ExecutionResult | null) => {
      const source = shared ? { query } : operation;
      const result = done && this.#results.toResult(requireAvailable(done), source);
      return shared ? shared.settle(result) : result;
    };
    return whenFailed(
      () => whenDone(this.#reads.readInOneSlice(operation, { position, task }, run), settle),
      (error): never => {
        shared?.fail(error);
        throw error;
      },
    );
  }

  /** A long response is not shared: it waits for a permit and time slices of its own user, who may be slower than other users. */
  #readLong(change: ReportedChange, operation: Operation): Promise<GraphResult> {
    const respond = async (context: GraphContext) => {
      throwIfAborted(operation.signal);
      const done = await this.#execute(change, operation, context);
      return this.#results.toLongResult(requireAvailable(done), operation, context.task);
    };
    return this.#reads.readLong(operation, respond, change.position);
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
  readonly runInTrace: <T>(respond: () => Promise<T>) => Promise<T>;
}

/**
 * Throws if a part of the response is temporarily unavailable. A client that stores the response's cursor would never get that
 * part.
 */
function requireAvailable(done: ExecutionResult): ExecutionResult {
  const unavailable = findUnavailable(done.errors);
  if (unavailable) throw unavailable;
  return done;
}

class ResponseStream implements GraphStream {
  readonly #changes: ChangeStream<ReportedChange>;
  readonly #respond: (change: ReportedChange) => PromiseOrValue<GraphResult>;
  /** Undefined after the end. */
  #onEnd: (() => void) | undefined;
  /** The position of the last response, which may not have been sent yet. Undefined once the next response is requested. */
  #lastPosition: JournalPosition | undefined;

  constructor(
    changes: ChangeStream<ReportedChange>,
    respond: (change: ReportedChange) => PromiseOrValue<GraphResult>,
    onEnd: () => void,
  ) {
    this.#changes = changes;
    this.#respond = respond;
    this.#onEnd = onEnd;
  }

  next(): PromiseOrValue<IteratorResult<GraphResult, undefined>> {
    this.#lastPosition = undefined;
    return whenDone(this.#changes.next(), (next) => {
      if (next.done) {
        this.#close();
        return { done: true, value: undefined };
      }
      return whenDone(this.#respond(next.value), (value) => {
        this.#lastPosition = next.value.position;
        return { done: false, value };
      });
    });
  }

  return(): Promise<void> {
    this.#close();
    this.#changes.end();
    return Promise.resolve();
  }

  cursorAfter(isSent: boolean): string | undefined {
    return toJournalCursor((isSent ? this.#lastPosition : undefined) ?? this.#changes.deliveredUpTo);
  }

  get reached(): number {
    return (this.#lastPosition ?? this.#changes.deliveredUpTo).number;
  }

  endAfter(number: number): void {
    this.#changes.endAfter(number);
  }

  #close(): void {
    this.#onEnd?.();
    this.#onEnd = undefined;
  }
}
