/** Queries as parsed, priced and validated documents. Clients repeat their queries: each text is worked out once. */

import {
  getOperationAST,
  GraphQLError,
  validate,
  type DocumentNode,
  type GraphQLFormattedError,
  type GraphQLSchema,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { Refusal } from '../refusal.ts';
import { countComparisons } from './price/comparisons.ts';
import { coded } from './graph-error.ts';
import type { Limits } from './price/limits.ts';
import { parseWithoutText, withLocations } from './locations.ts';
import { checkPrice } from './price/price.ts';
import { measureSchema } from './price/schema-sizes.ts';
import { unconditionalSubscriptionRoot } from './subscription-root.ts';
import { tooExpensive, toFieldPath } from './price/too-expensive.ts';
import { rulesFor } from './validation-rules.ts';

export type Checked = Good | Bad;

interface Good {
  readonly document: DocumentNode;
  /** Its fields, weighted. */
  readonly price: number;
  readonly errors?: undefined;
  /** Since it was checked. */
  timesRun: number;
}

interface Bad {
  readonly document?: undefined;
  readonly errors: readonly GraphQLFormattedError[];
}

export interface Documents {
  check(query: string): Checked;
}

const mostDocuments = 2_000;
/** Of all documents together: a token and its part of the tree take about 300 bytes. */
const mostTokensKept = 200_000;
const mostErrors = 20;
/** A microsecond each. Honest queries need some hundred. */
const mostComparisons = 10_000;

export function createDocuments(schema: GraphQLSchema, limits: Limits): Documents {
  const sizes = measureSchema(schema);
  const known = new LRUCache<string, Good>({
    max: mostDocuments,
    maxSize: mostTokensKept,
    sizeCalculation: ({ document: { tokenCount = 0 } }) => tokenCount + 1,
  });

  return {
    check(query) {
      const found = known.get(query);
      if (found) return found;
      const checked = checkNew(query);
      if (checked.document) known.set(query, checked);
      return checked;
    },
  };

  function checkNew(query: string): Checked {
    try {
      const document = parseWithin(query, limits);
      const { maxFields: fields, maxDepth: depth, maxValues: schemaValues } = limits;
      const price = checkPrice(schema, sizes, document, { fields, depth, schemaValues });
      checkComparisons(document);
      const errors = validateAll(schema, document, query);
      if (errors.length === 0) return { document, price, timesRun: 0 };
      const shown = errors.map((error) => coded(error, 'GRAPHQL_VALIDATION_FAILED'));
      return { errors: withLocations(shown, query) };
    } catch (error) {
      if (error instanceof GraphQLError) return { errors: [coded(error, 'GRAPHQL_PARSE_FAILED')] };
      const refusal = error instanceof RangeError ? tooDeep(limits) : error;
      if (!(refusal instanceof Refusal)) throw error;
      return { errors: [coded(new GraphQLError(refusal.message), 'TOO_EXPENSIVE', refusal.details.facts)] };
    }
  }
}

/** The root of a subscription first: the rules of graphql would stumble over a condition there. */
function validateAll(schema: GraphQLSchema, document: DocumentNode, query: string): readonly GraphQLError[] {
  const ofRoot = query.includes('subscription')
    ? validate(schema, document, [unconditionalSubscriptionRoot], { maxErrors: mostErrors })
    : [];
  return ofRoot.length > 0 ? ofRoot : validate(schema, document, rulesFor(query), { maxErrors: mostErrors });
}

function parseWithin(query: string, { maxQueryCharacters, maxTokens }: Limits): DocumentNode {
  if (query.length > maxQueryCharacters) {
    throw tooExpensive(
      `The query has ${query.length} characters; it may have ${maxQueryCharacters}. Give long values as variables, or send several queries.`,
      { field: 'query', price: query.length, budget: maxQueryCharacters },
    );
  }
  try {
    return parseWithoutText(query, { maxLexicalTokens: maxTokens });
  } catch (error) {
    if (error instanceof GraphQLError && /more tha[nt] \d+ tokens\. Parsing aborted/.test(error.message)) {
      throw tooExpensive(
        `The query has more than ${maxTokens} tokens (names, values and signs). Give values as variables, or send several queries.`,
        { field: 'query', price: maxTokens + 1, budget: maxTokens },
      );
    }
    throw error;
  }
}

/** The parser goes down by recursion: what exhausts the stack is deeper than any setting allows. */
function tooDeep({ maxDepth }: Limits): Refusal {
  return tooExpensive('The query is nested too deeply. Ask for less at a time.', {
    field: 'query',
    price: maxDepth + 1,
    budget: maxDepth,
  });
}

function checkComparisons(document: DocumentNode): void {
  const { count, most } = countComparisons(document, mostComparisons);
  if (count <= mostComparisons) return;
  const field = toFieldPath([most]);
  throw tooExpensive(
    `To merge the fields of the query takes over ${mostComparisons} comparisons, most of them for ${field}. Select each field once, and use fewer fragments.`,
    { field, price: count, budget: mostComparisons },
  );
}

/** Which kind of operation would run; undefined if the document does not say. */
export function operationKind(document: DocumentNode, operationName: string | null | undefined) {
  return getOperationAST(document, operationName)?.operation;
}
