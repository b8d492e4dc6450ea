/**
 * Queries that come back are planned once, and then answered without asking graphql-js again. An answer is either exactly
 * what graphql-js would have given, or there is none: then it is asked after all, and tells what is wrong.
 */

import {
  getOperationAST,
  getVariableValues,
  GraphQLError,
  OperationTypeNode,
  visit,
  type DocumentNode,
  type ExecutionArgs,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { isPromise, type PromiseOrValue } from '../../database/database.ts';
import { planQuery, Unplanned, type Plan, type Variables } from './plan.ts';

export interface CompiledQueries {
  /** The text of the whole answer; undefined if graphql-js has to be asked. */
  answer(
    request: Pick<ExecutionArgs, 'document' | 'operationName' | 'variableValues'>,
    context: unknown,
  ): PromiseOrValue<string | undefined>;
}

const mostDocuments = 2_000;
/** Of all plans together: a field takes about a kilobyte. */
const mostFields = 20_000;
/** Of one document: for each choice of the conditions in it. */
const mostPlans = 8;
/** From then on it is not tried any more. */
const mostFailures = 4;

interface Known {
  readonly operations: Map<string | null, Operation>;
  size: number;
  /** Successes make up for them. */
  failures: number;
}

interface Operation {
  readonly node: OperationDefinitionNode;
  /** The variables that decide which fields are selected. */
  readonly conditions: readonly string[];
  /** Null for what cannot be planned. */
  readonly plans: Map<string, Plan | null>;
}

export function createCompiledQueries(schema: GraphQLSchema): CompiledQueries {
  const known = new LRUCache<DocumentNode, Known>({
    max: mostDocuments,
    maxSize: mostFields,
    sizeCalculation: ({ size }) => 1 + size,
  });

  return {
    answer({ document, operationName, variableValues }, context) {
      const found = known.get(document);
      if (!found) {
        known.set(document, { operations: new Map(), size: 0, failures: 0 });
        return undefined;
      }
      if (found.failures >= mostFailures) return undefined;
      const operation = operationOf(document, operationName, found);
      if (!operation) return undefined;
      const variables = variablesOf(operation.node, variableValues);
      const plan = variables && planFor(document, operation, variables, found);
      return plan ? follow(plan, { context, variables }, found) : undefined;
    },
  };

  function operationOf(
    document: DocumentNode,
    operationName: string | null | undefined,
    { operations }: Known,
  ): Operation | undefined {
    const name = operationName ?? null;
    const found = operations.get(name);
    if (found) return found;
    const node = getOperationAST(document, name);
    if (node?.operation !== OperationTypeNode.QUERY) return undefined;
    const operation = { node, conditions: conditionsIn(document), plans: new Map<string, Plan | null>() };
    operations.set(name, operation);
    return operation;
  }

  function variablesOf(
    { variableDefinitions = [] }: OperationDefinitionNode,
    given: ExecutionArgs['variableValues'],
  ): Variables | undefined {
    if (variableDefinitions.length === 0) return noVariables;
    return getVariableValues(schema, variableDefinitions, given ?? {}, { maxErrors: 1 }).coerced;
  }

  function planFor(
    document: DocumentNode,
    { node, conditions, plans }: Operation,
    variables: Variables,
    whole: Known,
  ): Plan | null {
    const choice = conditions.length === 0 ? '' : conditions.map((name) => String(variables[name])).join();
    let plan = plans.get(choice);
    if (plan !== undefined) return plan;
    if (plans.size >= mostPlans) return null;
    plan = tryToPlan(document, node, variables);
    plans.set(choice, plan);
    whole.size += plan?.size ?? 0;
    known.set(document, whole);
    return plan;
  }

  function tryToPlan(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Variables,
  ): Plan | null {
    try {
      return planQuery(schema, document, operation, variables);
    } catch (error) {
      if (error instanceof Unplanned || error instanceof GraphQLError) return null;
      throw error;
    }
  }
}

const noVariables: Variables = Object.freeze({});
const nothing = [undefined];

function follow(
  { data }: Plan,
  run: Parameters<Plan['data']>[1],
  known: Known,
): PromiseOrValue<string | undefined> {
  const fail = () => void known.failures++;
  try {
    const texts = data(nothing, run);
    return isPromise(texts) ? texts.then(whole, fail) : whole(texts);
  } catch {
    return fail();
  }

  function whole([text]: readonly string[]): string {
    if (known.failures > 0) known.failures--;
    return `{"data":${text!}}`;
  }
}

/** Of the whole document: one too many does no harm. */
function conditionsIn(document: DocumentNode): string[] {
  const names = new Set<string>();
  visit(document, {
    Directive: (directive) => {
      visit(directive, { Variable: ({ name }) => void names.add(name.value) });
    },
  });
  return [...names];
}
