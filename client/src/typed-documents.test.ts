/** Checked by the compiler: documents carry the types of their results and variables. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse, type DocumentNode } from 'graphql';
import type { Client } from './client.ts';

// As @graphql-typed-document-node/core and the client preset of GraphQL Code Generator have them.
interface DocumentTypeDecoration<TResult, TVariables> {
  __apiType?: (variables: TVariables) => TResult;
}
interface TypedDocumentNode<TResult, TVariables>
  extends DocumentNode, DocumentTypeDecoration<TResult, TVariables> {}
type Exact<T extends Record<string, unknown>> = { [K in keyof T]: T[K] };
class TypedDocumentString<TResult, TVariables>
  extends String
  implements DocumentTypeDecoration<TResult, TVariables>
{
  declare __apiType?: NonNullable<DocumentTypeDecoration<TResult, TVariables>['__apiType']>;
}

interface Named {
  folder: { name: string } | null;
}
type ById = Exact<{ id: string; first?: number | null }>;
type Optional = Exact<{ first?: number | null }>;
type None = Exact<Record<string, never>>;

const text = '{folder{name}}';
const byId = parse(text) as unknown as TypedDocumentNode<Named, ById>;
const optional = parse(text) as unknown as TypedDocumentNode<Named, Optional>;
const none = parse(text) as unknown as TypedDocumentNode<Named, None>;
const byIdText = new TypedDocumentString<Named, ById>(text);

/** Takes what is of this very type, and nothing wider or narrower. */
function isExactly<Expected>() {
  return <Given>(given: Given, _: Same<Given, Expected> extends true ? 'same' : never) => void given;
}
type Same<One, Other> =
  (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;

interface Loose {
  readonly anything: number;
}

async function compile(client: Client, loose: Loose): Promise<void> {
  const isNamed = isExactly<Named>();
  isNamed(await client.query(byId, { id: '1' }), 'same');
  isNamed(await client.query(byIdText, { id: '1', first: 2 }), 'same');
  isNamed(await client.query(optional), 'same');
  isNamed(await client.query(optional, undefined, { timeoutSeconds: 1 }), 'same');
  isNamed(await client.query(optional, { first: 1 }), 'same');
  isNamed(await client.query(none), 'same');
  isNamed(await client.mutate(byId, { id: '1' }), 'same');
  isNamed(await client.query<Named>(text), 'same');
  isNamed(await client.query<Named>(text, loose), 'same');
  isNamed(await client.query<Named, ById>(text, { id: '1' }), 'same');
  const isUnknown = isExactly<Record<string, unknown>>();
  isUnknown(await client.query(text), 'same');
  isUnknown(await client.query(parse(text), loose), 'same');
  for await (const told of client.subscribe(byId, () => ({ id: '1' }))) isNamed(told, 'same');
  for await (const told of client.subscribe(byIdText, { id: '1' })) isNamed(told, 'same');

  // @ts-expect-error -- there is an id to be given
  await client.query(byId);
  // @ts-expect-error -- it is a string
  await client.query(byId, { id: 1 });
  // @ts-expect-error -- there is no such variable
  await client.query(byId, { id: '1', last: 1 });
  // @ts-expect-error -- there is an id to be given
  await client.mutate(byIdText, {});
  // @ts-expect-error -- the name is a string
  isNamed(await client.query<{ folder: { name: number } }>(text), 'same');
}

test('documents carry the types of their results and variables', () => {
  assert.equal(typeof compile, 'function');
});
