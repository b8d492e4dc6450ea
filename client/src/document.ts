/** A GraphQL document with the types of its result and variables, in any of the forms in which tools make them. */

import { printDocument } from './print-document.ts';

/**
 * A text, a parsed document (`TypedDocumentNode`, `gql` tags), or the strings that code generators make
 * (`TypedDocumentString`).
 */
export type GraphDocument<Result = Record<string, unknown>, Variables = Record<string, unknown>> =
  string | TypedText<Result, Variables> | TypedNode<Result, Variables>;

interface Typed<Result, Variables> {
  /** Never there: it carries the types, as in @graphql-typed-document-node/core. */
  readonly __apiType?: ((variables: Variables) => Result) | undefined;
}

interface TypedText<Result, Variables> extends Typed<Result, Variables> {
  toString(): string;
  readonly length: number;
}

interface TypedNode<Result, Variables> extends Typed<Result, Variables> {
  readonly kind: 'Document' | (string & {});
  readonly definitions: readonly object[];
}

/** Of a document that needs no variables. */
export type NoVariables = Record<never, never>;

export function documentText(document: GraphDocument<unknown, never>): string {
  if (typeof document === 'string') return document;
  return 'definitions' in document ? printDocument(document) : document.toString();
}
