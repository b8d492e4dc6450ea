/** Subscriptions: a source of changes, and one answer to each change. */

import {
  createSourceEventStream,
  execute,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLSchema,
} from 'graphql';
import { isPromise, whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { ChangeStream } from '../journal/change-stream.ts';
import type { JournalPosition } from '../journal/journal-entry.ts';
import { abandoned } from '../refusal.ts';
import type { GraphContext, GraphServices } from './schema/builder.ts';
import { eventCharge, type Scheduler } from '../concurrency/fair-scheduler.ts';
import { findUnavailable, tryRequest, type Results } from './graph-results.ts';
import { ResponseStream, type GraphResult, type GraphStream, type ReportedChange } from './graph-stream.ts';
import type { ViewerSnapshot } from './document-fields.ts';
import type { Task } from '../concurrency/fair-scheduler.ts';
import { SharedAnswers, type SharingMember } from './shared-responses.ts';
import type { GraphTracing } from './tracing.ts';
import type { Viewer } from '../sessions/viewer.ts';

export interface SubscriptionRequest {
  readonly query: string;
  readonly viewer: Viewer;
  readonly request: Omit<ExecutionArgs, 'contextValue'>;
  /** Throws if the operation must not begin. */
  readonly mayBegin?: (() => void) | undefined;
  /** Aborted when the client is gone or has stopped the operation. */
  readonly signal?: AbortSignal | undefined;
  /** Computes each response when there is room for it. */
  readonly whenRoom?: (<T>(respond: () => PromiseOrValue<T>) => PromiseOrValue<T>) | undefined;
}

type Work<T> = (context: GraphContext) => PromiseOrValue<T>;

/** How the graph reads for a viewer. */
export interface ReadForViewer {
  /** Reads from a new snapshot, with the viewer's rights in it. */
  readonly once: <T>(operation: SubscriptionRequest, task: Task, work: Work<T>) => PromiseOrValue<T>;
  /** The same in one piece. Null if the answer takes more than one piece: then read it again with `long`. */
  readonly inOnePiece: <T>(
    operation: SubscriptionRequest,
    options: { readonly position: JournalPosition; readonly turn: Task },
    work: (context: GraphContext, snapshot: ViewerSnapshot) => PromiseOrValue<T>,
  ) => PromiseOrValue<T | null>;
  /** Reads in pieces, with a permit of the viewer. */
  readonly long: <T>(
    operation: SubscriptionRequest,
    options: { readonly position: JournalPosition },
    work: (context: GraphContext) => Promise<T>,
  ) => Promise<T>;
  readonly mayTakeLong: (operation: SubscriptionRequest) => boolean;
}

export interface SubscriptionOptions {
  readonly schema: GraphQLSchema;
  readonly services: GraphServices;
  readonly scheduler: Scheduler;
  readonly results: Results;
  readonly read: ReadForViewer;
  readonly tracing: GraphTracing | undefined;
}

export function createSubscriptions({
  schema,
  services,
  scheduler,
  results,
  read,
  tracing,
}: SubscriptionOptions) {
  const { toResult, toLongResult } = results;
  const { accessCache, feed } = services;
  const { activity } = services.server;
  const sharedAnswers = new SharedAnswers({ schema, accessCache, feed });

  return async function subscribe(operation: SubscriptionRequest): Promise<GraphResult | GraphStream> {
    const { query, viewer, request, mayBegin, signal, whenRoom } = operation;
    const { source, head } = await scheduler.run(
      viewer.userId,
      (task) => {
        requireReceiver(signal);
        mayBegin?.();
        return read.once(operation, task, async (contextValue) => ({
          head: contextValue.position.number,
          source: await tryRequest(() => createSourceEventStream({ ...request, contextValue })),
        }));
      },
      { signal },
    );
    if (!(Symbol.asyncIterator in source)) {
      const trouble = findUnavailable(source.errors);
      if (trouble) throw trouble;
      return toResult(source, query);
    }
    const subscription: Subscription = {
      operation,
      member: sharedAnswers.join(operation, head),
      inOwnTrace: tracing ? tracing.traceAnswers(request) : (run) => run(),
    };
    activity.subscriptions++;
    return new ResponseStream({
      changes: source as ChangeStream<ReportedChange>,
      respond: (reported) => {
        const respond = () => answer(reported, subscription);
        return whenRoom ? whenRoom(respond) : respond();
      },
      onEnd: () => {
        subscription.member.leave();
        activity.subscriptions--;
      },
    });
  };

  function answer(
    reported: ReportedChange,
    { operation, member, inOwnTrace }: Subscription,
  ): PromiseOrValue<GraphResult> {
    const found = member.find(reported);
    if (found && !isPromise(found)) return countShared(found);
    return inOwnTrace(async () => {
      const shared = await found;
      if (shared) return countShared(shared);
      // Null: it takes more than one piece, for this subscription as for the others.
      const isLong = shared === null || read.mayTakeLong(operation);
      return (isLong ? null : await readShort(reported, operation, member)) ?? readLong(reported, operation);
    });
  }

  function countShared(result: GraphResult): GraphResult {
    activity.responses.shared++;
    return result;
  }

  /** At the turn of the first subscription of the equal ones. The others do not compute it: they are not charged. */
  async function readShort(
    reported: ReportedChange,
    operation: SubscriptionRequest,
    member: SharingMember,
  ): Promise<GraphResult | null> {
    const { viewer, signal } = operation;
    const atTurn = (turn: Task) => {
      const found = member.find(reported);
      // In an object: the time to wait for a promise would be charged.
      return found === undefined ? compute(reported, operation, { member, turn }) : { found };
    };
    for (;;) {
      const done = await scheduler.run(viewer.userId, atTurn, { signal, charge: eventCharge });
      if (!done || !('found' in done)) return done;
      const found = await done.found;
      if (found !== undefined) return found && countShared(found);
    }
  }

  /** Each answer has a budget and a snapshot of its own. Null if it takes more than one piece. */
  function compute(
    reported: ReportedChange,
    operation: SubscriptionRequest,
    { member, turn }: { readonly member: SharingMember; readonly turn: Task },
  ): PromiseOrValue<GraphResult | null> {
    const { query, request, signal } = operation;
    const { position } = reported;
    const shared = member.begin(reported);
    let isShared = false;
    const settle = (done: ExecutionResult | null) => {
      const result = done && toResult(requireAvailable(done), query);
      if (isShared) return shared!.settle(result);
      shared?.giveUp();
      return result;
    };
    const fail = (error: unknown): never => {
      if (isShared) shared!.fail(error);
      else shared?.giveUp();
      throw error;
    };
    const run = (contextValue: GraphContext, snapshot: ViewerSnapshot) => {
      requireReceiver(signal);
      activity.responses.computed++;
      isShared = shared !== undefined && member.isSharedFrom(snapshot, shared);
      if (isShared) shared!.head = snapshot.position.number;
      else shared?.giveUp();
      return execute({ ...request, rootValue: reported, contextValue });
    };
    try {
      const settled = whenDone(read.inOnePiece(operation, { position, turn }, run), settle);
      return isPromise(settled) ? settled.catch(fail) : settled;
    } catch (error) {
      return fail(error);
    }
  }

  /** Not shared: it waits for a permit and for turns of its own user, who may be slower than the others. */
  function readLong(reported: ReportedChange, operation: SubscriptionRequest): Promise<GraphResult> {
    const { query, request, signal } = operation;
    return read.long(operation, { position: reported.position }, async (contextValue) => {
      requireReceiver(signal);
      activity.responses.computed++;
      const done = await execute({ ...request, rootValue: reported, contextValue });
      return toLongResult(requireAvailable(done), query, contextValue.task);
    });
  }
}

/** One open subscription. */
interface Subscription {
  readonly operation: SubscriptionRequest;
  readonly member: SharingMember;
  readonly inOwnTrace: <T>(answer: () => Promise<T>) => Promise<T>;
}

/** A change is reported whole, or not yet: a client that keeps its cursor would never get the rest. */
function requireAvailable(done: ExecutionResult): ExecutionResult {
  const trouble = findUnavailable(done.errors);
  if (trouble) throw trouble;
  return done;
}

function requireReceiver(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abandoned();
}
