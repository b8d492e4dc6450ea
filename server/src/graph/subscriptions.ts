/** Subscriptions: a source of changes, and one answer for each of them. */

import { createSourceEventStream, execute, type ExecutionArgs, type ExecutionResult } from 'graphql';
import type { PromiseOrValue } from '../database/database.ts';
import type { Followed } from '../journal/follow.ts';
import type { JournalPlace } from '../journal/journal-entry.ts';
import { abandoned } from '../refusal.ts';
import type { Tracer } from '../tracer.ts';
import type { GraphContext, GraphServices } from './builder.ts';
import { eventCharge, type FairTurns } from './fair-turns.ts';
import { troubleIn, tryRequest, type Results } from './graph-results.ts';
import { createGraphStream, type GraphResult, type GraphStream } from './graph-stream.ts';
import type { Pace } from './pace.ts';
import { tracedAnswers } from './traced-graph.ts';
import type { Viewer } from './viewer.ts';

export interface SubscriptionRequest {
  readonly query: string;
  readonly viewer: Viewer;
  readonly request: Omit<ExecutionArgs, 'contextValue'>;
  /** Throws if the operation must not begin. */
  readonly mayBegin?: (() => void) | undefined;
  /** Aborted when the client is gone or has stopped the operation. */
  readonly signal?: AbortSignal | undefined;
  /** Computes each response when there is room for it. */
  readonly whenRoom?: (<T>(respond: () => Promise<T>) => Promise<T>) | undefined;
}

type Work<T> = (context: GraphContext) => PromiseOrValue<T>;

/** How the graph reads for a viewer. */
export interface ReadForViewer {
  /** Reads from a new snapshot, with the viewer's rights in it. */
  readonly once: <T>(operation: SubscriptionRequest, pace: Pace, work: Work<T>) => PromiseOrValue<T>;
  /** The same in one piece. Null if the answer takes more than one: then it has to be read again, as a long read. */
  readonly inOnePiece: <T>(
    operation: SubscriptionRequest,
    options: { readonly place: JournalPlace; readonly turn: Pace },
    work: Work<T>,
  ) => PromiseOrValue<T | null>;
  /** Reads in pieces, with a permit of the viewer. */
  readonly long: <T>(
    operation: SubscriptionRequest,
    options: { readonly place: JournalPlace },
    work: (context: GraphContext) => Promise<T>,
  ) => Promise<T>;
  readonly mayTakeLong: (operation: SubscriptionRequest) => boolean;
}

export interface SubscriptionOptions {
  readonly services: GraphServices;
  readonly fairTurns: FairTurns;
  readonly results: Results;
  readonly read: ReadForViewer;
  readonly tracer: Tracer | undefined;
}

/** What a subscription reports. */
interface Reported {
  readonly place: JournalPlace;
}

export function createSubscriptions({ services, fairTurns, results, read, tracer }: SubscriptionOptions) {
  const { toResult, toLongResult } = results;

  return async function subscribe(operation: SubscriptionRequest): Promise<GraphResult | GraphStream> {
    const { query, viewer, request, mayBegin, signal, whenRoom } = operation;
    const source = await fairTurns.take(
      viewer.userId,
      (pace) => {
        requireReceiver(signal);
        mayBegin?.();
        return read.once(operation, pace, (contextValue) =>
          tryRequest(() => createSourceEventStream({ ...request, contextValue })),
        );
      },
      { signal },
    );
    if (!(Symbol.asyncIterator in source)) {
      const trouble = troubleIn(source.errors);
      if (trouble) throw trouble;
      return toResult(source, query);
    }
    const { activity } = services.server;
    const inOwnTrace = tracer ? tracedAnswers(tracer, request) : <T>(answer: () => T) => answer();
    activity.subscriptions++;
    return createGraphStream(source as Followed<Reported>, {
      answer: (reported) => {
        const respond = () => inOwnTrace(() => answer(reported, operation));
        return whenRoom ? whenRoom(respond) : respond();
      },
      onEnd: () => void activity.subscriptions--,
    });
  };

  /** Each answer has a budget and a snapshot of its own. */
  async function answer(reported: Reported, operation: SubscriptionRequest): Promise<GraphResult> {
    const { query, viewer, request, signal } = operation;
    const { place } = reported;
    const run = (contextValue: GraphContext) => {
      requireReceiver(signal);
      return execute({ ...request, rootValue: reported, contextValue });
    };
    const short = read.mayTakeLong(operation)
      ? null
      : await fairTurns.take(viewer.userId, (turn) => read.inOnePiece(operation, { place, turn }, run), {
          signal,
          charge: eventCharge,
        });
    if (short) return toAnswer(short);
    return read.long(operation, { place }, async (context) => toAnswer(await run(context), context.pace));

    function toAnswer(done: ExecutionResult, pace?: Pace): PromiseOrValue<GraphResult> {
      // A change is reported whole, or not yet: a client that keeps its cursor would never get the rest.
      const trouble = troubleIn(done.errors);
      if (trouble) throw trouble;
      return pace ? toLongResult(done, query, pace) : toResult(done, query);
    }
  }
}

function requireReceiver(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abandoned();
}
