/**
 * Parses, validates and caches documents, and checks their cost. A long document is checked in several steps, between
 * which other users are served.
 */

import {
  getOperationAST,
  GraphQLError,
  validate,
  type DocumentNode,
  type GraphQLFormattedError,
  type GraphQLSchema,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { Refusal } from '../refusal.ts';
import { countComparisons } from './cost/comparisons.ts';
import { coded } from './graph-results.ts';
import { toFieldPath, tooExpensive, type Limits } from './cost/limits.ts';
import { copyForCache, parseWithoutText, withLocations } from './locations.ts';
import type { Task } from '../concurrency/fair-scheduler.ts';
import { checkCost } from './cost/cost.ts';
import { measureSchema } from './cost/schema-sizes.ts';
import { unconditionalSubscriptionRoot } from './schema/subscription-root.ts';
import { inGroups, rulesFor } from './validation-rules.ts';

export type CheckedDocument = ValidDocument | InvalidDocument;

interface ValidDocument {
  readonly document: DocumentNode;
  /** The weighted number of its fields. */
  readonly cost: number;
  readonly errors?: undefined;
  /** How often it was executed since it was checked. */
  timesRun: number;
}

interface InvalidDocument {
  readonly document?: undefined;
  readonly errors: readonly GraphQLFormattedError[];
}

export interface Documents {
  /** The cached result of an earlier check. */
  find(query: string): CheckedDocument | undefined;
  /** Checks a text; the task can yield between the steps. */
  check(query: string, task: Pick<Task, 'yieldBefore'>): PromiseOrValue<CheckedDocument>;
}

const maxDocuments = 2_000;
/** In all cached documents: a token and its node of the syntax tree take about 300 bytes. */
const maxCachedTokens = 200_000;
/** The text is cached with its comments and long strings: so many characters count as a token. */
const charactersPerCachedToken = 75;
/** An invalid text and its errors take some kilobytes. */
const maxInvalid = 200;
const maxInvalidCharacters = 500_000;
const maxErrors = 20;
/** Each takes a microsecond. Ordinary queries need some hundred. */
const maxComparisons = 10_000;
/** A token has at least one character, and a space after it. */
const charactersPerToken = 2;
/** A longer document is validated by one group of rules after the other. Its errors are then ordered by group. */
const maxTokensAtOnce = 1_000;

export function createDocuments(schema: GraphQLSchema, limits: Limits): Documents {
  const sizes = measureSchema(schema);
  const valid = new LRUCache<string, ValidDocument>({
    max: maxDocuments,
    maxSize: maxCachedTokens,
    sizeCalculation: ({ document: { tokenCount = 0 } }, query) =>
      tokenCount + Math.ceil(query.length / charactersPerCachedToken) + 1,
  });
  const invalid = new LRUCache<string, InvalidDocument>({
    max: maxInvalid,
    maxSize: maxInvalidCharacters,
    sizeCalculation: (_, query) => query.length + 1,
  });

  return {
    find: (query) => valid.get(query) ?? invalid.get(query),
    check(query, task) {
      const step = <T>(size: number, work: () => T): PromiseOrValue<T> => {
        const turn = task.yieldBefore(size);
        return turn ? turn.then(work) : work();
      };
      return whenDone(checkNew(query, step), (checked) => {
        if (checked.document) valid.set(query, checked);
        else invalid.set(query, checked);
        return checked;
      });
    },
  };

  function checkNew(query: string, step: Step): PromiseOrValue<CheckedDocument> {
    const maxSteps = Math.min(limits.maxTokens, Math.ceil(query.length / charactersPerToken));
    const costed = step(maxSteps, () =>
      attempt(limits, () => {
        const document = parseWithin(query, limits);
        const { maxFields: fields, maxDepth: depth, maxValues: schemaValues } = limits;
        const cost = checkCost(schema, sizes, document, { fields, depth, schemaValues });
        checkComparisons(document);
        return { document, cost, timesRun: 0 };
      }),
    );
    return whenDone(costed, (checked) =>
      checked.document
        ? whenDone(validateAll(checked.document, query, step), (errors) => {
            const { tokenCount = 0 } = checked.document;
            if (errors.length === 0) {
              return step(tokenCount, () => ({ ...checked, document: copyForCache(checked.document) }));
            }
            const formatted = errors.map((error) => coded(error, 'GRAPHQL_VALIDATION_FAILED'));
            return { errors: withLocations(formatted, query) };
          })
        : checked,
    );
  }

  /** Checks the root of a subscription first: the rules of graphql-js throw if it has a condition. */
  function validateAll(
    document: DocumentNode,
    query: string,
    step: Step,
  ): PromiseOrValue<readonly GraphQLError[]> {
    const { tokenCount = 0 } = document;
    const isLong = tokenCount > maxTokensAtOnce;
    const groups = isLong ? inGroups(rulesFor(query)) : [rulesFor(query)];
    if (query.includes('subscription')) groups.unshift([unconditionalSubscriptionRoot]);
    return groups.reduce<PromiseOrValue<readonly GraphQLError[]>>(
      (found, rules) =>
        whenDone(found, (errors) =>
          errors.length > 0
            ? errors
            : step(tokenCount, () => validate(schema, document, rules, { maxErrors: maxErrors })),
        ),
      [],
    );
  }
}

/** Runs a step that processes so many tokens, at once or at the user's next turn. */
type Step = <T>(tokens: number, work: () => T) => PromiseOrValue<T>;

function attempt(limits: Limits, work: () => ValidDocument): CheckedDocument {
  try {
    return work();
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [coded(error, 'GRAPHQL_PARSE_FAILED')] };
    const refusal = error instanceof RangeError ? tooDeep(limits) : error;
    if (!(refusal instanceof Refusal)) throw error;
    return { errors: [coded(new GraphQLError(refusal.message), 'TOO_EXPENSIVE', refusal.details.facts)] };
  }
}

function parseWithin(query: string, { maxQueryCharacters, maxTokens }: Limits): DocumentNode {
  if (query.length > maxQueryCharacters) {
    throw tooExpensive(
      `The query has ${query.length} characters; it may have ${maxQueryCharacters}. Give long values as variables, or send several queries.`,
      { field: 'query', cost: query.length, budget: maxQueryCharacters },
    );
  }
  try {
    return parseWithoutText(query, { maxLexicalTokens: maxTokens });
  } catch (error) {
    if (error instanceof GraphQLError && /more tha[nt] \d+ tokens\. Parsing aborted/.test(error.message)) {
      throw tooExpensive(
        `The query has more than ${maxTokens} tokens (names, values and signs). Give values as variables, or send several queries.`,
        { field: 'query', cost: maxTokens + 1, budget: maxTokens },
      );
    }
    throw error;
  }
}

/** The parser is recursive: a query that exhausts the stack is deeper than any setting allows. */
function tooDeep({ maxDepth }: Limits): Refusal {
  return tooExpensive('The query is nested too deeply. Ask for less at a time.', {
    field: 'query',
    cost: maxDepth + 1,
    budget: maxDepth,
  });
}

function checkComparisons(document: DocumentNode): void {
  const { count, mostCompared } = countComparisons(document, maxComparisons);
  if (count <= maxComparisons) return;
  const field = toFieldPath([mostCompared]);
  throw tooExpensive(
    `To merge the fields of the query takes over ${maxComparisons} comparisons, most of them for ${field}. Select each field once, and use fewer fragments.`,
    { field, cost: count, budget: maxComparisons },
  );
}

/** The kind of the selected operation; undefined if the document has no such operation. */
export function operationKind(document: DocumentNode, operationName: string | null | undefined) {
  return getOperationAST(document, operationName)?.operation;
}
