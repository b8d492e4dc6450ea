/**
 * Creates the spans of GraphQL: one for each operation, and inside it one for each field that reads from the database. All
 * calls of a field at the same position in the query share a span. A span never contains the text, the variables or an alias of a
 * query.
 */

import { context, ROOT_CONTEXT, SpanKind, trace, type Attributes } from '@opentelemetry/api';
import {
  getOperationAST,
  isIntrospectionType,
  isObjectType,
  type ExecutionArgs,
  type GraphQLField,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import {
  bindActive,
  inSharedSpan,
  inSpan,
  startTrace,
  type SpanDescription,
  type Tracing,
} from '../observability/spans.ts';
import type { Scheduler } from '../concurrency/fair-scheduler.ts';
import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { GraphResult, GraphStream } from './operation.ts';
import type { TraceField } from './plan/plan-run.ts';

/** The hooks that the graph calls if traces are sent. */
export type GraphTracing = ReturnType<typeof createGraphTracing>;

export function createGraphTracing(tracing: Tracing) {
  return {
    traceOperation,
    traceFields,
    traceRead,
    bindScheduler,
    setOperation,
    traceResponses: (request: TracedRequest) => traceResponses(tracing, request),
  };
}

type TracedRequest = Pick<ExecutionArgs, 'document' | 'operationName'>;

function traceOperation<T extends GraphResult | GraphStream>(
  run: () => PromiseOrValue<T>,
): PromiseOrValue<T> {
  return inSpan('graphql', {}, run, resultAttributes);
}

function resultAttributes(result: GraphResult | GraphStream): Attributes {
  if ('next' in result) return {};
  return { 'espalier.graph.executed': result.isExecuted, 'espalier.graph.answer_length': result.text.length };
}

/** Names the active span after the parsed operation, for example `query`. */
function setOperation(request: TracedRequest): void {
  const span = trace.getActiveSpan();
  const operation = span && getOperationAST(request.document, request.operationName);
  if (operation) span.updateName(operation.operation).setAttributes(operationAttributes(operation));
}

function operationAttributes({ operation, name }: OperationDefinitionNode): Attributes {
  return {
    'graphql.operation.type': operation,
    ...(name && { 'graphql.operation.name': name.value }),
  };
}

/** Each response of a subscription is a trace of its own, with a link to the span that subscribed. */
function traceResponses(tracing: Tracing, request: TracedRequest) {
  const subscribeSpan = trace.getActiveSpan();
  const operation = getOperationAST(request.document, request.operationName);
  const options = {
    kind: SpanKind.SERVER,
    attributes: operation ? operationAttributes(operation) : {},
    links: subscribeSpan ? [{ context: subscribeSpan.spanContext() }] : [],
  };
  return <T>(respond: () => Promise<T>): Promise<T> => {
    const started = startTrace(tracing, 'subscription answer', options);
    return context.with(started?.context ?? ROOT_CONTEXT, respond).finally(() => started?.end());
  };
}

function bindScheduler(scheduler: Scheduler): Scheduler {
  return {
    run: (userId, work, options) => scheduler.run(userId, bindActive(work), options),
    runWrite: (userId, work, options) => scheduler.runWrite(userId, bindActive(work), options),
    schedule: (userId, work, options) => scheduler.schedule(userId, bindActive(work), options),
  };
}

/** For query plans: a span for each field that reads. */
const traceRead: TraceField = (info, read) => inSharedSpan(info.fieldNodes, () => describeField(info), read);

/** For graphql-js: a span for each field whose resolver reads. */
function traceFields(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (isObjectType(type) && !isIntrospectionType(type)) Object.values(type.getFields()).forEach(traceField);
  }
}

function traceField(field: GraphQLField<unknown, unknown>): void {
  const { resolve } = field;
  if (!resolve) return;
  field.resolve = (source, input, graphContext, info) =>
    traceRead(info, () => resolve(source, input, graphContext, info));
}

function describeField({ parentType, fieldName, path }: GraphQLResolveInfo): SpanDescription {
  let depth = 0;
  for (let step: GraphQLResolveInfo['path'] | undefined = path; step; step = step.prev) {
    if (typeof step.key === 'string') depth++;
  }
  return {
    name: `${parentType.name}.${fieldName}`,
    options: { attributes: { 'espalier.graph.depth': depth } },
  };
}
