/** Caches the plans of queries. A query is compiled once for every combination of its @skip and @include conditions. */

import {
  getOperationAST,
  getVariableValues,
  OperationTypeNode,
  visit,
  type DocumentNode,
  type ExecutionArgs,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import type { GraphContext } from '../schema/builder.ts';
import type { TraceField } from './plan-run.ts';
import { planQuery, type PlannedData, type QueryPlan } from './query-plan.ts';
import type { Variables } from './selections.ts';

export interface QueryPlans {
  /** Undefined if graphql-js must execute the query: it is new, or no plan covers it. */
  planFor(request: PlannedRequest): ReadyPlan | undefined;
  /** The size of all plans, counted in fields. */
  readonly size: number;
}

type PlannedRequest = Pick<ExecutionArgs, 'document' | 'operationName' | 'variableValues'>;

/** A plan with the variables of one request. */
export interface ReadyPlan {
  run(context: GraphContext): PromiseOrValue<PlannedData>;
  readonly variables: Variables;
  readonly firstRead: QueryPlan['firstRead'];
}

/** In all plans. A field takes about a kilobyte, and so do four tokens of its document, which the plan keeps in memory. */
const maxFields = 20_000;
const tokensPerField = 4;
/** The maximum number of plans for one operation. */
const maxChoices = 8;

interface Operation {
  readonly node: OperationDefinitionNode;
  /** The variables that decide which fields are selected. */
  readonly conditions: readonly string[];
  /** The keys of its plans, by the values of the conditions. */
  readonly keys: Map<string, symbol>;
}

/** Without `trace`, nothing is traced. */
export function createQueryPlans(schema: GraphQLSchema, trace?: TraceField): QueryPlans {
  const operations = new WeakMap<DocumentNode, Map<string | null, Operation>>();
  /** Null for a query that no plan covers. */
  const plans = new LRUCache<symbol, { readonly plan: QueryPlan | undefined }>({ maxSize: maxFields });

  return {
    planFor({ document, operationName, variableValues }) {
      const cached = operations.get(document);
      if (!cached) {
        // Most documents are executed only once.
        operations.set(document, new Map());
        return undefined;
      }
      const operation = operationIn(document, operationName ?? null, cached);
      const variables = operation && variablesOf(operation.node, variableValues);
      const plan = variables && planOf(document, operation, variables);
      return (
        plan && {
          run: (context) => plan.run(context, variables, trace),
          variables,
          firstRead: plan.firstRead,
        }
      );
    },
    get size() {
      return plans.calculatedSize;
    },
  };

  function operationIn(
    document: DocumentNode,
    name: string | null,
    cached: Map<string | null, Operation>,
  ): Operation | undefined {
    const found = cached.get(name);
    if (found) return found;
    const node = getOperationAST(document, name);
    if (node?.operation !== OperationTypeNode.QUERY) return undefined;
    const operation = { node, conditions: conditionsIn(document), keys: new Map<string, symbol>() };
    cached.set(name, operation);
    return operation;
  }

  function variablesOf(
    { variableDefinitions = [] }: OperationDefinitionNode,
    values: PlannedRequest['variableValues'],
  ): Variables | undefined {
    if (variableDefinitions.length === 0) return noVariables;
    return getVariableValues(schema, variableDefinitions, values ?? {}, { maxErrors: 1 }).coerced;
  }

  function planOf(
    document: DocumentNode,
    { node, conditions, keys }: Operation,
    variables: Variables,
  ): QueryPlan | undefined {
    const choice = conditions.length === 0 ? '' : conditions.map((name) => String(variables[name])).join();
    let key = keys.get(choice);
    const found = key && plans.get(key);
    if (found) return found.plan;
    if (!key && keys.size >= maxChoices) return undefined;
    const plan = planQuery(schema, document, node, variables);
    keys.set(choice, (key ??= Symbol(choice)));
    plans.set(key, { plan }, { size: plan ? sizeOf(plan, document) : 1 });
    return plan;
  }
}

const noVariables: Variables = Object.freeze({});

function sizeOf({ size }: QueryPlan, { tokenCount = 0 }: DocumentNode): number {
  return 1 + size + Math.ceil(tokenCount / tokensPerField);
}

/** The variables in all directives of the document. A superfluous one does no harm. */
function conditionsIn(document: DocumentNode): string[] {
  const names = new Set<string>();
  visit(document, {
    Directive: (directive) => {
      visit(directive, { Variable: ({ name }) => void names.add(name.value) });
    },
  });
  return [...names];
}
