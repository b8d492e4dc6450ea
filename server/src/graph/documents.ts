/**
 * Parses, validates and caches documents, and checks their cost. A long document is checked in several steps, between
 * which other users are served.
 */

import {
  GraphQLError,
  Location,
  parse,
  Source,
  validate,
  type DocumentNode,
  type GraphQLFormattedError,
  type GraphQLSchema,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Task } from '../concurrency/fair-scheduler.ts';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { Refusal } from '../refusal.ts';
import { checkCost, measureSchema, type SchemaSizes } from './cost/cost.ts';
import { toFieldPath, tooExpensive, type Limits } from './cost/limits.ts';
import { withCode, withLocations } from './graph-results.ts';
import { countComparisons, ruleGroups } from './validation-rules.ts';

export type CheckedDocument = ValidDocument | InvalidDocument;

interface ValidDocument {
  readonly document: DocumentNode;
  /** The weighted number of fields. */
  readonly cost: number;
  readonly errors?: undefined;
  /** How many times the document was executed since it was checked. */
  timesRun: number;
}

interface InvalidDocument {
  readonly document?: undefined;
  readonly errors: readonly GraphQLFormattedError[];
}

const maxDocuments = 2_000;
/** The maximum for all cached documents together. A token and its node of the syntax tree take about 300 bytes. */
const maxCachedTokens = 200_000;
/** Cached texts include comments and long strings, so this number of characters also counts as a token. */
const charactersPerCachedToken = 75;
/** An invalid text and its errors take a few kilobytes. */
const maxInvalid = 200;
const maxInvalidCharacters = 500_000;
const maxErrors = 20;
/** A comparison takes a microsecond. Ordinary queries need a few hundred. */
const maxComparisons = 10_000;
/** An estimate for a text that is not parsed yet: a token usually has at least one character, and a space after it. */
const charactersPerToken = 2;
/** A longer document is validated in steps, with one group of rules each. Its errors are then ordered by group. */
const maxTokensAtOnce = 1_000;

export class Documents {
  readonly #schema: GraphQLSchema;
  readonly #limits: Limits;
  readonly #schemaSizes: SchemaSizes;
  readonly #valid = new LRUCache<string, ValidDocument>({
    max: maxDocuments,
    maxSize: maxCachedTokens,
    sizeCalculation: ({ document: { tokenCount = 0 } }, query) =>
      tokenCount + Math.ceil(query.length / charactersPerCachedToken) + 1,
  });
  readonly #invalid = new LRUCache<string, InvalidDocument>({
    max: maxInvalid,
    maxSize: maxInvalidCharacters,
    sizeCalculation: (_, query) => query.length + 1,
  });

  constructor(schema: GraphQLSchema, limits: Limits) {
    this.#schema = schema;
    this.#limits = limits;
    this.#schemaSizes = measureSchema(schema);
  }

  /** The cached result of an earlier check. */
  find(query: string): CheckedDocument | undefined {
    return this.#valid.get(query) ?? this.#invalid.get(query);
  }

  /** Checks a text; the task can yield between the steps. */
  check(query: string, task: Pick<Task, 'yieldBefore'>): PromiseOrValue<CheckedDocument> {
    const step: Step = (size, work) => {
      const nextSlice = task.yieldBefore(size);
      return nextSlice ? nextSlice.then(work) : work();
    };
    const maxSteps = Math.min(this.#limits.maxQueryTokens, Math.ceil(query.length / charactersPerToken));
    const costed = step(maxSteps, () => this.#parse(query));
    const checked = whenDone(costed, (parsed) =>
      parsed.document ? this.#validate(parsed, query, step) : parsed,
    );
    return whenDone(checked, (result) => {
      if (result.document) this.#valid.set(query, result);
      else this.#invalid.set(query, result);
      return result;
    });
  }

  /** Parses a text, and checks its cost before it is validated. */
  #parse(query: string): CheckedDocument {
    const { maxFields: fields, maxDepth: depth, maxValues: schemaValues } = this.#limits;
    try {
      const document = parseWithin(query, this.#limits);
      const cost = checkCost(this.#schemaSizes, document, { fields, depth, schemaValues });
      checkComparisons(document);
      return { document, cost, timesRun: 0 };
    } catch (error) {
      if (error instanceof GraphQLError) return { errors: [withCode(error, 'GRAPHQL_PARSE_FAILED')] };
      const refusal = error instanceof RangeError ? tooDeep(this.#limits) : error;
      if (!(refusal instanceof Refusal)) throw error;
      return {
        errors: [withCode(new GraphQLError(refusal.message), 'TOO_EXPENSIVE', refusal.details.facts)],
      };
    }
  }

  #validate(parsed: ValidDocument, query: string, step: Step): PromiseOrValue<CheckedDocument> {
    const { document } = parsed;
    const { tokenCount = 0 } = document;
    const groups = ruleGroups(query, tokenCount > maxTokensAtOnce);
    const validated = groups.reduce<PromiseOrValue<readonly GraphQLError[]>>(
      (found, rules) =>
        whenDone(found, (errors) =>
          errors.length > 0
            ? errors
            : step(tokenCount, () => validate(this.#schema, document, rules, { maxErrors })),
        ),
      [],
    );
    return whenDone(validated, (errors) => {
      if (errors.length === 0) {
        return step(tokenCount, () => ({ ...parsed, document: copyForCache(document) }));
      }
      const formatted = errors.map((error) => withCode(error, 'GRAPHQL_VALIDATION_FAILED'));
      return { errors: withLocations(formatted, query) };
    });
  }
}

/** Runs a step that processes this number of tokens, either immediately or in the user's next time slice. */
type Step = <T>(tokens: number, work: () => T) => PromiseOrValue<T>;

function parseWithin(query: string, { maxQueryCharacters, maxQueryTokens }: Limits): DocumentNode {
  if (query.length > maxQueryCharacters) {
    throw tooExpensive(
      `The query has ${query.length} characters; the limit is ${maxQueryCharacters}. Pass long values as variables, or send several queries.`,
      { field: 'query', cost: query.length, limit: maxQueryCharacters },
    );
  }
  try {
    const source = new Source(query);
    const document = parse(source, { maxLexicalTokens: maxQueryTokens });
    // With an empty text, graphql-js reports offsets as the locations of errors; `withLocations` converts them.
    source.body = '';
    return document;
  } catch (error) {
    if (error instanceof GraphQLError && /more tha[nt] \d+ tokens\. Parsing aborted/.test(error.message)) {
      throw tooExpensive(
        `The query has more than ${maxQueryTokens} tokens (names, values and punctuation). Pass values as variables, or send several queries.`,
        { field: 'query', cost: maxQueryTokens + 1, limit: maxQueryTokens },
      );
    }
    throw error;
  }
}

/**
 * A copy for the cache, without the tokens that the parser links to all nodes. Because only the copy is cached, V8 allocates the
 * parser's objects as short-lived ones. Otherwise, a client that always sends new texts causes garbage collector pauses of 50 ms
 * (measured with `npm run bench -- abuse`).
 */
function copyForCache(document: DocumentNode): DocumentNode {
  const copy = copyNode(document) as DocumentNode;
  // `copyNode` does not copy this property, because graphql-js makes it non-enumerable.
  return Object.defineProperty(copy, 'tokenCount', { value: document.tokenCount });
}

function copyNode(node: object): object {
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(node)) {
    if (value instanceof Location) copy[name] = { start: value.start, end: value.end, source: value.source };
    else if (Array.isArray(value)) copy[name] = value.map(copyNode);
    else copy[name] = typeof value === 'object' && value !== null ? copyNode(value as object) : value;
  }
  return copy;
}

/** The parser is recursive: a query that exhausts the stack is deeper than any setting allows. */
function tooDeep({ maxDepth }: Limits): Refusal {
  return tooExpensive(
    `The query is nested more than ${maxDepth} levels deep. Request deeper folders by their id in another query.`,
    {
      field: 'query',
      cost: maxDepth + 1,
      limit: maxDepth,
    },
  );
}

function checkComparisons(document: DocumentNode): void {
  const { count, mostCompared } = countComparisons(document, maxComparisons);
  if (count <= maxComparisons) return;
  const field = toFieldPath([mostCompared]);
  throw tooExpensive(
    `Merging the fields of the query needs more than ${maxComparisons} comparisons, mostly for ${field}. Select each field once, and use fewer fragments.`,
    { field, cost: count, limit: maxComparisons },
  );
}
