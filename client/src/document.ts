/** GraphQL documents with the types of their results and variables, in the forms that common tools produce. */

import { printDocument } from './print-document.ts';

/**
 * A GraphQL document: a string, a parsed document (`TypedDocumentNode`, a `gql` tag), or the typed string of a code
 * generator (`TypedDocumentString`).
 */
export type GraphDocument<Result = Record<string, unknown>, Variables = Record<string, unknown>> =
  | string
  | TypedText<Result, Variables>
  | TypedNode<Result, Variables>;

interface Typed<Result, Variables> {
  /** Exists only in the type system, where it carries both types, as in @graphql-typed-document-node/core. */
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

/** The variables of a document that declares none. */
export type NoVariables = Record<never, never>;

export function documentText(document: GraphDocument<unknown, never>): string {
  if (typeof document === 'string') return document;
  return 'definitions' in document ? printDocument(document) : document.toString();
}
