/** Queries as parsed and validated documents. Clients repeat their queries: each text is worked out once. */

import {
  getOperationAST,
  GraphQLError,
  parse,
  validate,
  type DocumentNode,
  type GraphQLFormattedError,
  type GraphQLSchema,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { coded } from './graph-error.ts';

export type Checked =
  | { readonly document: DocumentNode; readonly errors?: undefined }
  | { readonly document?: undefined; readonly errors: readonly GraphQLFormattedError[] };

export interface Documents {
  check(query: string): Checked;
}

const mostDocuments = 2_000;
const mostCharacters = 8_000_000;
const mostTokens = 10_000;

export function createDocuments(schema: GraphQLSchema): Documents {
  const known = new LRUCache<string, DocumentNode>({
    max: mostDocuments,
    maxSize: mostCharacters,
    sizeCalculation: (_, query) => query.length + 1,
  });
  return {
    check(query) {
      const document = known.get(query);
      if (document) return { document };
      const checked = checkNew(schema, query);
      if (checked.document) known.set(query, checked.document);
      return checked;
    },
  };
}

function checkNew(schema: GraphQLSchema, query: string): Checked {
  try {
    const document = parse(query, { maxTokens: mostTokens });
    const errors = validate(schema, document);
    return errors.length > 0
      ? { errors: errors.map((error) => coded(error, 'GRAPHQL_VALIDATION_FAILED')) }
      : { document };
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [coded(error, 'GRAPHQL_PARSE_FAILED')] };
    // The parser and the rules go down by recursion: a query nested without end exhausts the stack.
    if (error instanceof RangeError) {
      return { errors: [coded(new GraphQLError('The query is nested too deeply.'), 'GRAPHQL_PARSE_FAILED')] };
    }
    throw error;
  }
}

/** Which kind of operation would run; undefined if the document does not say. */
export function operationKind(document: DocumentNode, operationName: string | null | undefined) {
  return getOperationAST(document, operationName)?.operation;
}
