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
  /** Undefined if there is no plan: graphql-js is to be asked. */
  planFor(
    request: Pick<ExecutionArgs, 'document' | 'operationName' | 'variableValues'>,
  ): ReadyPlan | undefined;
  /** What all plans take, counted in fields. */
  readonly size: number;
}

/** A plan, and the variables to follow it with. */
export interface ReadyPlan {
  /** The text of the whole answer, without a context; undefined if it is not to be had so. */
  whole(services: unknown, userId: string): string | undefined;
  /** The text of the whole answer; null if it came to nothing: graphql-js is to be asked. */
  answer(context: unknown): PromiseOrValue<string | null>;
}

/** Of all plans together: one takes about a kilobyte, and so do four tokens of its document, which it keeps. */
const mostFields = 20_000;
const tokensOfAField = 4;
/** What makes the whole answer keeps a prepared statement, or two. */
const fieldsOfAWhole = 50;
/** Of one operation: for each choice of the conditions in its document. */
const mostPlans = 8;
/** From then on it is tried only now and then: what was in the way may be over. */
const mostFailures = 4;
const triesOfMany = 100;

/** As long as its document is kept. */
interface Known {
  readonly operations: Map<string | null, Operation>;
  /** Successes make up for them. */
  failures: number;
  passedOver: number;
}

interface Operation {
  readonly node: OperationDefinitionNode;
  /** The variables that decide which fields are selected. */
  readonly conditions: readonly string[];
  /** By the choice of the conditions, under which name there is a plan, or was one. */
  readonly plans: Map<string, symbol>;
}

/** Null for what cannot be planned. */
interface Kept {
  readonly plan: Plan | null;
}

export function createCompiledQueries(schema: GraphQLSchema): CompiledQueries {
  const known = new WeakMap<DocumentNode, Known>();
  const plans = new LRUCache<symbol, Kept>({ maxSize: mostFields });

  return {
    planFor({ document, operationName, variableValues }) {
      const found = known.get(document);
      if (!found) {
        known.set(document, { operations: new Map(), failures: 0, passedOver: 0 });
        return undefined;
      }
      if (found.failures >= mostFailures && ++found.passedOver % triesOfMany !== 0) return undefined;
      const operation = operationOf(document, operationName, found);
      if (!operation) return undefined;
      const variables = variablesOf(operation.node, variableValues);
      const plan = variables && keptPlan(document, operation, variables);
      return plan ? new Following(plan, variables, found) : undefined;
    },
    get size() {
      return plans.calculatedSize;
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
    const operation = { node, conditions: conditionsIn(document), plans: new Map<string, symbol>() };
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

  function keptPlan(
    document: DocumentNode,
    { node, conditions, plans: names }: Operation,
    variables: Variables,
  ): Plan | null {
    const choice = conditions.length === 0 ? '' : conditions.map((name) => String(variables[name])).join();
    let name = names.get(choice);
    const kept = name && plans.get(name);
    if (kept) return kept.plan;
    if (!name && names.size >= mostPlans) return null;
    const plan = tryToPlan(document, node, variables);
    names.set(choice, (name ??= Symbol(choice)));
    plans.set(name, { plan }, { size: plan ? sizeOf(plan, document) : 1 });
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

function sizeOf({ size, whole }: Plan, { tokenCount = 0 }: DocumentNode): number {
  return 1 + size + (whole ? fieldsOfAWhole : 0) + Math.ceil(tokenCount / tokensOfAField);
}

class Following implements ReadyPlan {
  readonly #plan: Plan;
  readonly #variables: Variables;
  readonly #known: Known;

  constructor(plan: Plan, variables: Variables, known: Known) {
    this.#plan = plan;
    this.#variables = variables;
    this.#known = known;
  }

  whole(services: unknown, userId: string): string | undefined {
    try {
      return this.#plan.whole?.(this.#variables, services, userId);
    } catch {
      // Whatever it is, who follows the plan meets it again, and can tell.
      return undefined;
    }
  }

  answer(context: unknown): PromiseOrValue<string | null> {
    try {
      const texts = this.#plan.data(nothing, { context, variables: this.#variables });
      if (!isPromise(texts)) return this.#succeed(texts);
      return texts.then(
        (found) => this.#succeed(found),
        () => this.#fail(),
      );
    } catch {
      return this.#fail();
    }
  }

  #succeed([text]: readonly string[]): string {
    const known = this.#known;
    if (known.failures > 0) known.failures--;
    return `{"data":${text!}}`;
  }

  #fail(): null {
    const known = this.#known;
    if (known.failures < mostFailures) known.failures++;
    return null;
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
