/**
 * Compiles queries about folders into plans that write the response; graphql-js executes all other queries. A query is compiled
 * once for every combination of its @skip and @include conditions, and its plans are cached.
 */

import {
  getOperationAST,
  getVariableValues,
  GraphQLError,
  isNullableType,
  OperationTypeNode,
  visit,
  type DocumentNode,
  type ExecutionArgs,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { inOrder, whenDone, whenFailed, type PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import type { GraphContext } from '../schema/builder.ts';
import { planConnections, planFolders } from './folder-plan.ts';
import type { ObjectWriter } from './json-writer.ts';
import { planFirstRead, type PlannedFirstRead } from './plan-first-read.ts';
import { PlanRun, quote, type TraceField } from './plan-run.ts';
import { Selections, UnplannableError, type SelectedField, type Variables } from './selections.ts';

type PlannedRequest = Pick<ExecutionArgs, 'document' | 'operationName' | 'variableValues'>;

/** A plan with the variables of one request. */
export interface ReadyPlan {
  run(context: GraphContext): PromiseOrValue<PlannedData>;
  readonly variables: Variables;
  readonly firstRead: QueryPlan['firstRead'];
}

/** The text of `data`, and the errors of the fields that are null in it. */
export interface PlannedData {
  readonly text: string;
  readonly errors: readonly GraphQLError[];
}

interface QueryPlan {
  readonly fields: readonly RootField[];
  /** Undefined if it reads no folder by its id. */
  readonly firstRead: PlannedFirstRead | undefined;
  /** The number of its fields. */
  readonly size: number;
}

interface RootField {
  /** The key in the response, with the separators around it. */
  readonly label: string;
  readonly isNullable: boolean;
  readonly write: (run: PlanRun) => PromiseOrValue<string>;
}

interface PlannedOperation {
  /** The variables that decide which fields are selected. Undefined before the second execution. */
  conditions?: readonly string[];
  /** The keys of its plans, by the values of the conditions. */
  readonly keys: Map<string, symbol>;
}

/**
 * The maximum size of all plans together. A field takes about a kilobyte. A plan also keeps its document in memory, where four
 * tokens take as much.
 */
const maxFields = 20_000;
const tokensPerField = 4;
/** The maximum number of plans for one operation. */
const maxChoices = 8;
const noVariables: Variables = Object.freeze({});

export class QueryPlans {
  readonly #schema: GraphQLSchema;
  readonly #trace: TraceField | undefined;
  readonly #operations = new WeakMap<OperationDefinitionNode, PlannedOperation>();
  /** `plan` is undefined for a query that no plan covers. */
  readonly #plans = new LRUCache<symbol, { readonly plan: QueryPlan | undefined }>({ maxSize: maxFields });

  /** Without `trace`, nothing is traced. */
  constructor(schema: GraphQLSchema, trace?: TraceField) {
    this.#schema = schema;
    this.#trace = trace;
  }

  /** The size of all plans, counted in fields. */
  get size(): number {
    return this.#plans.calculatedSize;
  }

  /** Undefined if graphql-js must execute the query: it is new, or no plan covers it. */
  planFor({ document, operationName, variableValues }: PlannedRequest): ReadyPlan | undefined {
    const node = getOperationAST(document, operationName);
    if (node?.operation !== OperationTypeNode.QUERY) return undefined;
    const operation = this.#operations.get(node);
    if (!operation) {
      // Most documents are executed only once, so the first execution compiles no plan.
      this.#operations.set(node, { keys: new Map() });
      return undefined;
    }
    const variables = this.#variablesOf(node, variableValues);
    const plan = variables && this.#planOf(document, node, operation, variables);
    if (!plan) return undefined;
    return {
      run: (context) => runFields(plan.fields, new PlanRun(context, variables, this.#trace)),
      variables,
      firstRead: plan.firstRead,
    };
  }

  #variablesOf(
    { variableDefinitions = [] }: OperationDefinitionNode,
    values: PlannedRequest['variableValues'],
  ): Variables | undefined {
    if (variableDefinitions.length === 0) return noVariables;
    return getVariableValues(this.#schema, variableDefinitions, values ?? {}, { maxErrors: 1 }).coerced;
  }

  #planOf(
    document: DocumentNode,
    node: OperationDefinitionNode,
    operation: PlannedOperation,
    variables: Variables,
  ): QueryPlan | undefined {
    const { keys } = operation;
    const conditions = (operation.conditions ??= conditionsIn(document));
    const choice = conditions.length === 0 ? '' : conditions.map((name) => String(variables[name])).join();
    let key = keys.get(choice);
    const found = key && this.#plans.get(key);
    if (found) return found.plan;
    if (!key && keys.size >= maxChoices) return undefined;
    const plan = planQuery(this.#schema, document, node, variables);
    keys.set(choice, (key ??= Symbol(choice)));
    const { tokenCount = 0 } = document;
    this.#plans.set(
      key,
      { plan },
      { size: plan ? 1 + plan.size + Math.ceil(tokenCount / tokensPerField) : 1 },
    );
    return plan;
  }
}

/** The variables in all directives of the document. A variable that is not a condition does no harm. */
function conditionsIn(document: DocumentNode): string[] {
  const names = new Set<string>();
  visit(document, {
    Directive: (directive) => {
      visit(directive, { Variable: ({ name }) => void names.add(name.value) });
    },
  });
  return [...names];
}

/** Undefined if no plan covers the query. `variables` decide only which fields are selected. */
function planQuery(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
): QueryPlan | undefined {
  try {
    const selections = new Selections(schema, document, operation, variables);
    const selected = selections.ofOperation();
    const fields = selected.map((field, index) => ({
      label: `${index > 0 ? ',' : ''}${JSON.stringify(field.key)}:`,
      isNullable: isNullableType(field.info.returnType),
      write: rootWriter(selections, field),
    }));
    return { fields, firstRead: planFirstRead(selections, selected), size: selections.size };
  } catch (error) {
    if (error instanceof UnplannableError || error instanceof GraphQLError) return undefined;
    throw error;
  }
}

function rootWriter(selections: Selections, field: SelectedField): RootField['write'] {
  switch (field.name) {
    case '__typename':
      return () => '"Query"';
    case 'cursor':
      return (run) => quote(resolve<string>(field, run) as string);
    case 'folder':
    case 'node':
      return objectWriter(field, planFolders(selections, field));
    case 'search':
      return objectWriter(field, planConnections(selections, field));
    default:
      throw new UnplannableError();
  }
}

function objectWriter<T>(field: SelectedField, writer: ObjectWriter<T>): RootField['write'] {
  return (run) =>
    whenDone(resolve<T | null>(field, run), (object) =>
      object === null ? 'null' : whenDone(writer.write([object], run), ([text]) => text!),
    );
}

function resolve<T>(field: SelectedField, run: PlanRun): PromiseOrValue<T> {
  const input = field.argumentsIn(run.variables);
  return run.locate(field, () => run.resolve(field, input));
}

function runFields(fields: readonly RootField[], run: PlanRun): PromiseOrValue<PlannedData> {
  const written = whenFailed(
    () => inOrder(fields, (field) => writeField(field, run)),
    (error) => {
      // A field that cannot be null has failed, so `data` is null.
      run.report(error);
      return null;
    },
  );
  return whenDone(written, (texts) => ({
    // Not `join`, which copies each text once more.
    text: texts ? `${texts.reduce((all, text) => all + text, '{')}}` : 'null',
    errors: run.errors,
  }));
}

function writeField({ label, isNullable, write }: RootField, run: PlanRun): PromiseOrValue<string> {
  const text = whenFailed(
    () => write(run),
    (error) => {
      if (!isNullable) throw error;
      run.report(error);
      return 'null';
    },
  );
  return whenDone(text, (value) => label + value);
}
