/**
 * Queries as parsed, priced and validated documents. Clients repeat their queries: each text is worked out once. A long
 * text is worked out in several steps, between which other users are served.
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
import type { Limits } from './cost/limits.ts';
import { copyToKeep, parseWithoutText, withLocations } from './locations.ts';
import type { Task } from '../concurrency/fair-scheduler.ts';
import { checkCost } from './cost/cost.ts';
import { measureSchema } from './cost/schema-sizes.ts';
import { unconditionalSubscriptionRoot } from './schema/subscription-root.ts';
import { tooExpensive, toFieldPath } from './cost/limits.ts';
import { inGroups, rulesFor } from './validation-rules.ts';

export type CheckedDocument = Good | Bad;

interface Good {
  readonly document: DocumentNode;
  /** Its fields, weighted. */
  readonly cost: number;
  readonly errors?: undefined;
  /** Since it was checked. */
  timesRun: number;
}

interface Bad {
  readonly document?: undefined;
  readonly errors: readonly GraphQLFormattedError[];
}

export interface Documents {
  /** What was found out about this text earlier, if it is remembered. */
  find(query: string): CheckedDocument | undefined;
  /** Works a text out, and waits at the user's task between the steps. */
  check(query: string, task: Pick<Task, 'yieldBefore'>): PromiseOrValue<CheckedDocument>;
}

const mostDocuments = 2_000;
/** Of all documents together: a token and its part of the tree take about 300 bytes. */
const mostTokensKept = 200_000;
/** A text is kept, and so are the comments and long strings in it: so many characters count as a token. */
const charactersPerTokenKept = 75;
/** A refused text and its errors take some kilobytes. */
const maxRefused = 200;
const maxRefusedCharacters = 500_000;
const mostErrors = 20;
/** A microsecond each. Honest queries need some hundred. */
const mostComparisons = 10_000;
/** A token has at least one character, and a space after it. */
const charactersPerToken = 2;
/** A longer document is validated by one group of rules after the other. Its errors are then ordered by group. */
const maxTokensAtOnce = 1_000;

export function createDocuments(schema: GraphQLSchema, limits: Limits): Documents {
  const sizes = measureSchema(schema);
  const good = new LRUCache<string, Good>({
    max: mostDocuments,
    maxSize: mostTokensKept,
    sizeCalculation: ({ document: { tokenCount = 0 } }, query) =>
      tokenCount + Math.ceil(query.length / charactersPerTokenKept) + 1,
  });
  const refused = new LRUCache<string, Bad>({
    max: maxRefused,
    maxSize: maxRefusedCharacters,
    sizeCalculation: (_, query) => query.length + 1,
  });

  return {
    find: (query) => good.get(query) ?? refused.get(query),
    check(query, task) {
      const step = <T>(size: number, work: () => T): PromiseOrValue<T> => {
        const turn = task.yieldBefore(size);
        return turn ? turn.then(work) : work();
      };
      return whenDone(checkNew(query, step), (checked) => {
        if (checked.document) good.set(query, checked);
        else refused.set(query, checked);
        return checked;
      });
    },
  };

  function checkNew(query: string, step: Step): PromiseOrValue<CheckedDocument> {
    const atMost = Math.min(limits.maxTokens, Math.ceil(query.length / charactersPerToken));
    const priced = step(atMost, () =>
      attempt(limits, () => {
        const document = parseWithin(query, limits);
        const { maxFields: fields, maxDepth: depth, maxValues: schemaValues } = limits;
        const cost = checkCost(schema, sizes, document, { fields, depth, schemaValues });
        checkComparisons(document);
        return { document, cost, timesRun: 0 };
      }),
    );
    return whenDone(priced, (checked) =>
      checked.document
        ? whenDone(validateAll(checked.document, query, step), (errors) => {
            const { tokenCount = 0 } = checked.document;
            if (errors.length === 0) {
              return step(tokenCount, () => ({ ...checked, document: copyToKeep(checked.document) }));
            }
            const shown = errors.map((error) => coded(error, 'GRAPHQL_VALIDATION_FAILED'));
            return { errors: withLocations(shown, query) };
          })
        : checked,
    );
  }

  /** The root of a subscription first: the rules of graphql would stumble over a condition there. */
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
            : step(tokenCount, () => validate(schema, document, rules, { maxErrors: mostErrors })),
        ),
      [],
    );
  }
}

/** Does a part of the work that concerns so many tokens, as soon as it may. */
type Step = <T>(tokens: number, work: () => T) => PromiseOrValue<T>;

function attempt(limits: Limits, work: () => Good): CheckedDocument {
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

/** The parser goes down by recursion: what exhausts the stack is deeper than any setting allows. */
function tooDeep({ maxDepth }: Limits): Refusal {
  return tooExpensive('The query is nested too deeply. Ask for less at a time.', {
    field: 'query',
    cost: maxDepth + 1,
    budget: maxDepth,
  });
}

function checkComparisons(document: DocumentNode): void {
  const { count, most } = countComparisons(document, mostComparisons);
  if (count <= mostComparisons) return;
  const field = toFieldPath([most]);
  throw tooExpensive(
    `To merge the fields of the query takes over ${mostComparisons} comparisons, most of them for ${field}. Select each field once, and use fewer fragments.`,
    { field, cost: count, budget: mostComparisons },
  );
}

/** Which kind of operation would run; undefined if the document does not say. */
export function operationKind(document: DocumentNode, operationName: string | null | undefined) {
  return getOperationAST(document, operationName)?.operation;
}
