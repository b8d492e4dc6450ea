/** Runs graph queries for a viewer. Knows nothing of HTTP, tokens or sockets. */

import { createSourceEventStream, execute, OperationTypeNode, type ExecutionArgs } from 'graphql';
import type { GraphRequest } from '@espalier/contract';
import { isPromise, whenDone, type PromiseOrValue, type Reading } from '../database/database.ts';
import { viewTree } from '../folders/folders.ts';
import type { Followed } from '../journal/follow.ts';
import type { JournalPlace } from '../journal/journal-entry.ts';
import { Refusal } from '../refusal.ts';
import type { Tracer } from '../tracer.ts';
import { createTurns } from '../turns.ts';
import { Budget } from './price/budget.ts';
import type { Standing } from '../access/access-book.ts';
import { KnownWays } from '../access/known-ways.ts';
import type { GraphContext, GraphServices } from './builder.ts';
import { createCompiledQueries, type ReadyPlan } from './compiled/compiled-queries.ts';
import { createDocuments, operationKind } from './documents.ts';
import { ElementFields } from './price/element-fields.ts';
import { createFairTurns } from './fair-turns.ts';
import { createGraphStream, type GraphResult, type GraphStream } from './graph-stream.ts';
import {
  cannotStream,
  createResults,
  nestedTooDeeply,
  notExecuted,
  troubleIn,
  tryExecute,
  tryRequest,
  type ResultOptions,
} from './graph-results.ts';
import { createLongReads, takesLong } from './long-reads.ts';
import { Once } from './once.ts';
import { createSchema } from './schema.ts';
import { KeptTexts } from './tree/kept-texts.ts';
import { keptTurns, noteOperation, traceFields, tracedAnswers, tracedGraph } from './traced-graph.ts';
import type { WholeServices } from './tree/whole-text.ts';
import { areNestedTooDeeply } from './variables.ts';
import type { Viewer } from './viewer.ts';

export interface GraphOptions extends GraphServices, ResultOptions {
  /** Told of each operation: whether its text was known, and what it costs, if it can be run. */
  readonly onDocument?: ((isKnown: boolean, price: number | undefined) => void) | undefined;
  /** Without it, nothing is traced. */
  readonly tracer?: Tracer | undefined;
}

export type { GraphResult, GraphStream };

export interface GraphLimits {
  /** Mutations are refused. */
  readonly queriesOnly?: boolean;
  /** Asked when its turn has come; what is thrown is the answer, and nothing was begun. */
  readonly mayBegin?: (() => void) | undefined;
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
  /** Does what takes long beside the graph, such as reading a long request, when it is this viewer's turn. */
  inTurn<T>(viewer: Viewer, work: () => T): Promise<T>;
  /** Whether a request that can be run is answered with a stream. */
  isSubscription(request: GraphRequest): boolean;
  /** Refuses a viewer who can no longer log in. */
  admit(viewer: Viewer): PromiseOrValue<void>;
}

export function createGraph({ onBug, onTrouble, onDocument, tracer, ...services }: GraphOptions): Graph {
  const schema = createSchema();
  if (tracer) traceFields(schema, tracer);
  const documents = createDocuments(schema, services.limits);
  const compiled = createCompiledQueries(schema);
  const elementFields = new ElementFields();
  const fairTurns = tracer ? keptTurns(createFairTurns(), tracer) : createFairTurns();
  const longReads = createLongReads(services.database, services.accessBook, fairTurns);
  const turns = createTurns();
  const toResult = createResults({ onBug, onTrouble });
  const { keptAnswersMegabytes } = services.limits;
  const wholeServices: WholeServices = {
    ...services,
    ways: new KnownWays(),
    kept: keptAnswersMegabytes > 0 ? new KeptTexts(keptAnswersMegabytes) : undefined,
  };

  const graph: Graph = {
    run(request, viewer, limits) {
      const { operation, refused } = prepare(request, viewer, limits);
      if (refused) return refused;
      return operation.kind === OperationTypeNode.SUBSCRIPTION ? cannotStream() : runOnce(operation);
    },
    open(request, viewer, limits) {
      const { operation, refused } = prepare(request, viewer, limits);
      if (refused) return refused;
      return operation.kind === OperationTypeNode.SUBSCRIPTION ? subscribe(operation) : runOnce(operation);
    },
    inTurn: ({ userId }, work) => fairTurns.wait(userId, work),
    isSubscription({ query, operationName }) {
      const { document } = documents.check(query);
      return (
        document !== undefined && operationKind(document, operationName) === OperationTypeNode.SUBSCRIPTION
      );
    },
    admit: ({ userId }) => whenDone(services.accessBook.accessOf(userId), () => undefined),
  };
  return tracer ? tracedGraph(graph, tracer) : graph;

  /** All that is judged before anything is run. */
  function prepare(
    { query, operationName, variables }: GraphRequest,
    viewer: Viewer,
    limits?: GraphLimits,
  ): { operation: Operation; refused?: undefined } | { operation?: undefined; refused: GraphResult } {
    const checked = documents.check(query);
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
    if (tracer) noteOperation(tracer, document, operationName);
    if (limits?.queriesOnly && kind === OperationTypeNode.MUTATION) {
      throw new Refusal('METHOD_NOT_ALLOWED', 'A mutation must be sent by POST.', { allow: ['POST'] });
    }
    const request = { schema, document, operationName, variableValues: variables };
    return { operation: { ...limits, kind, query, viewer, request } };
  }

  function runOnce(operation: Operation): PromiseOrValue<GraphResult> {
    if (operation.kind === OperationTypeNode.MUTATION) return runChange(operation);
    return takesLong(operation.request.document) ? runLong(operation) : runQuery(operation);
  }

  function runQuery(operation: Operation): PromiseOrValue<GraphResult> {
    return fairTurns.take(operation.viewer.userId, () => {
      operation.mayBegin?.();
      const plan = compiled.planFor(operation.request);
      const whole = plan?.whole(wholeServices, operation.viewer.userId);
      return whole === undefined ? runByFields(operation, plan) : { isExecuted: true, text: whole };
    });
  }

  function runByFields(
    { query, viewer, request }: Operation,
    plan: ReadyPlan | undefined,
  ): PromiseOrValue<GraphResult> {
    const standing = (reading: Reading) => services.accessBook.accessFor(reading, viewer.userId);
    const execution = (contextValue: GraphContext) =>
      whenDone(tryExecute({ ...request, contextValue }), (done) => toResult(done, query));
    if (!plan) return withContext({ viewer }, standing, execution);
    const answered = withContext({ viewer }, standing, (context) =>
      whenDone(plan.answer(context), (text) => (text === null ? null : { isExecuted: true, text })),
    );
    // Read anew: what was in the plan's way may have ended its reading.
    return whenDone(answered, (result) => result ?? withContext({ viewer }, standing, execution));
  }

  function runChange({
    query,
    viewer,
    request,
    mayBegin,
    idempotencyKey,
  }: Operation): PromiseOrValue<GraphResult> {
    // It reads anew after what it changed, and keeps no reading open until then.
    const standing = () => services.accessBook.accessOf(viewer.userId);
    return fairTurns.change(viewer.userId, () => {
      mayBegin?.();
      return withContext({ viewer, idempotencyKey }, standing, (contextValue) =>
        whenDone(tryExecute({ ...request, contextValue }), (done) =>
          toResult(done, query, { isChanged: contextValue.isChanged }),
        ),
      );
    });
  }

  /** Waits for its turn before it takes anything from others, and then reads all of it at one moment. */
  function runLong({ query, viewer, request, mayBegin }: Operation): Promise<GraphResult> {
    return longReads.run(viewer.userId, async (reader, standing) => {
      mayBegin?.();
      const reading = { ...reader, isOfOneMoment: true, end: () => undefined };
      const contextValue = { ...contextOf({ viewer }, standing, reading), isLong: true };
      return toResult(await tryExecute({ ...request, contextValue }), query);
    });
  }

  /** What is read for an answer is read together, and done with when the answer is there. */
  function withContext<T>(
    asked: Asked,
    standing: (reading: Reading) => PromiseOrValue<Standing>,
    work: (context: GraphContext) => PromiseOrValue<T>,
  ): PromiseOrValue<T> {
    const reading = services.database.reading();
    let context: GraphContext | undefined;
    // A mutation may have begun another one.
    const end = () => (context?.reader ?? reading).end();
    try {
      const result = whenDone(standing(reading), (found) =>
        work((context = contextOf(asked, found, reading))),
      );
      if (isPromise(result)) return result.finally(end);
      end();
      return result;
    } catch (error) {
      end();
      throw error;
    }
  }

  async function subscribe({ query, viewer, request }: Operation): Promise<GraphResult | GraphStream> {
    const source = await withContext(
      { viewer },
      (reading) => services.accessBook.accessFor(reading, viewer.userId),
      (contextValue) => tryRequest(() => createSourceEventStream({ ...request, contextValue })),
    );
    if (!(Symbol.asyncIterator in source)) {
      const trouble = troubleIn(source.errors);
      if (trouble) throw trouble;
      return toResult(source, query);
    }
    const { activity } = services.server;
    const inOwnTrace = tracer ? tracedAnswers(tracer, request) : <T>(answer: () => T) => answer();
    activity.subscriptions++;
    return createGraphStream(source as Followed<Told>, {
      answer: (told) => inOwnTrace(() => answerTold(told, { query, viewer, request })),
      onEnd: () => void activity.subscriptions--,
    });
  }

  /** Each answer has a budget of its own, and is seen with the rights of the moment in which it is read. */
  async function answerTold(
    told: Told,
    { query, viewer, request }: Pick<Operation, 'query' | 'viewer' | 'request'>,
  ): Promise<GraphResult> {
    const standing = (reading: Reading) =>
      whenDone(services.accessBook.accessFor(reading, viewer.userId), ({ access }) => ({
        access,
        place: told.place,
      }));
    const answered = await turns.take(async () =>
      withContext({ viewer }, standing, (contextValue) =>
        execute({ ...request, rootValue: told, contextValue }),
      ),
    );
    // A change is told whole, or not yet: whoever keeps its cursor would never be told the rest.
    const trouble = troubleIn(answered.errors);
    if (trouble) throw trouble;
    return toResult(answered, query);
  }

  function contextOf(
    { viewer, idempotencyKey }: Asked,
    { access, place }: Standing,
    reader: Reading,
  ): GraphContext {
    const budget = new Budget(services.limits, elementFields);
    const view = viewTree(reader, access);
    return {
      ...services,
      viewer,
      isLong: false,
      once: idempotencyKey === undefined ? undefined : new Once(idempotencyKey, viewer.userId),
      isChanged: false,
      reader,
      access,
      view,
      place,
      budget,
      longReads,
      turns,
    };
  }
}

/** Who asks, and under which key. */
interface Asked extends Pick<GraphLimits, 'idempotencyKey'> {
  readonly viewer: Viewer;
}

/** What a subscription is told of. */
interface Told {
  readonly place: JournalPlace;
}

/** A request that may be run, once or for each change. */
interface Operation extends Asked, GraphLimits {
  readonly kind: OperationTypeNode | undefined;
  readonly query: string;
  readonly request: Omit<ExecutionArgs, 'contextValue'>;
}
