/**
 * What is told to a tracer of the graph: each operation, and inside it the fields that read something. Those that are read
 * together, at one place of the query for all its objects, are one span. Never told: the text of a query, its variables,
 * and what its client calls a field in the answer.
 */

import {
  getOperationAST,
  isIntrospectionType,
  isObjectType,
  type DocumentNode,
  type ExecutionArgs,
  type GraphQLField,
  type GraphQLResolveInfo,
  type GraphQLSchema,
} from 'graphql';
import type { Facts, SpanWords, Tracer } from '../tracer.ts';
import type { FairTurns } from './fair-turns.ts';
import type { GraphResult, GraphStream } from './graph-stream.ts';
import type { Graph } from './graph.ts';
import type { TraceField } from './plan/plan-run.ts';

/** Until it is known what it is. */
const operation: SpanWords = { name: 'graphql', kind: 'internal', facts: {} };

export function tracedGraph(graph: Graph, tracer: Tracer): Graph {
  return {
    ...graph,
    run: (...given) => tracer.inSpan(operation, () => graph.run(...given), factsOf),
    open: (...given) => tracer.inSpan(operation, () => graph.open(...given), factsOf),
  };
}

function factsOf(result: GraphResult | GraphStream): Facts {
  if ('next' in result) return {};
  return { 'espalier.graph.executed': result.isExecuted, 'espalier.graph.answer_length': result.text.length };
}

/** As soon as it is read. */
export function noteOperation(tracer: Tracer, document: DocumentNode, name: string | null | undefined): void {
  const words = operationWords(document, name);
  tracer.note(words.name, words.facts);
}

function operationWords(document: DocumentNode, name: string | null | undefined): Omit<SpanWords, 'kind'> {
  const found = getOperationAST(document, name);
  if (!found) return operation;
  const facts: Facts = { 'graphql.operation.type': found.operation };
  const isNamed = found.name !== undefined;
  return {
    name: found.operation,
    facts: isNamed ? { ...facts, 'graphql.operation.name': found.name.value } : facts,
  };
}

/** Each answer to a subscription is a trace of its own, with a link to where it was subscribed. */
export function tracedAnswers(
  tracer: Tracer,
  { document, operationName }: Pick<ExecutionArgs, 'document' | 'operationName'>,
): <T>(answer: () => Promise<T>) => Promise<T> {
  const words = operationWords(document, operationName);
  const begin = tracer.beginAfter({ ...words, name: 'subscription answer', kind: 'server' });
  return async (answer) => {
    const trace = begin();
    if (!trace) return tracer.apart(answer);
    try {
      return await trace.run(answer);
    } finally {
      trace.end();
    }
  };
}

/** Who waits for a turn is called by whoever had the one before. */
export function keptTurns(turns: FairTurns, tracer: Tracer): FairTurns {
  return {
    take: (userId, work, options) => turns.take(userId, tracer.keep(work), options),
    change: (userId, work, options) => turns.change(userId, tracer.keep(work), options),
    wait: (userId, work, options) => turns.wait(userId, tracer.keep(work), options),
  };
}

/** For query plans: a span for each field that reads. */
export function traceReads(tracer: Tracer): TraceField {
  return (info, read) => tracer.inGroup(info.fieldNodes, () => groupWords(info), read);
}

/** A span for each field whose resolver reads. */
export function traceFields(schema: GraphQLSchema, tracer: Tracer): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (isObjectType(type) && !isIntrospectionType(type)) {
      Object.values(type.getFields()).forEach((field) => traceField(field, tracer));
    }
  }
}

function traceField(field: GraphQLField<unknown, unknown>, tracer: Tracer): void {
  const { resolve } = field;
  if (resolve) {
    field.resolve = (source, given, context, info) =>
      tracer.inGroup(
        info.fieldNodes,
        () => groupWords(info),
        () => resolve(source, given, context, info),
      );
  }
}

function groupWords({ parentType, fieldName, path }: GraphQLResolveInfo): SpanWords {
  let depth = 0;
  for (let step: GraphQLResolveInfo['path'] | undefined = path; step; step = step.prev) {
    if (typeof step.key === 'string') depth++;
  }
  return {
    name: `${parentType.name}.${fieldName}`,
    kind: 'internal',
    facts: { 'espalier.graph.depth': depth },
  };
}
