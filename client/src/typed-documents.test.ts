/** Lets the compiler check that documents carry the types of their results and variables. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse, type DocumentNode } from 'graphql';
import type { Client } from './client.ts';

// Copied from @graphql-typed-document-node/core and the client preset of GraphQL Code Generator.
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

interface NameResult {
  folder: { name: string } | null;
}
type ById = Exact<{ id: string; first?: number | null }>;
type Optional = Exact<{ first?: number | null }>;
type None = Exact<Record<string, never>>;

const text = '{folder{name}}';
const byId = parse(text) as unknown as TypedDocumentNode<NameResult, ById>;
const optional = parse(text) as unknown as TypedDocumentNode<NameResult, Optional>;
const none = parse(text) as unknown as TypedDocumentNode<NameResult, None>;
const byIdText = new TypedDocumentString<NameResult, ById>(text);

/** Accepts exactly the expected type, and no wider or narrower one. */
function isExactly<Expected>() {
  return <Actual>(actual: Actual, _: Same<Actual, Expected> extends true ? 'same' : never) => void actual;
}
type Same<One, Other> =
  (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;

interface Loose {
  readonly anything: number;
}

async function compile(client: Client, loose: Loose): Promise<void> {
  const isNameResult = isExactly<NameResult>();
  isNameResult(await client.query(byId, { id: '1' }), 'same');
  isNameResult(await client.query(byIdText, { id: '1', first: 2 }), 'same');
  isNameResult(await client.query(optional), 'same');
  isNameResult(await client.query(optional, undefined, { timeoutSeconds: 1 }), 'same');
  isNameResult(await client.query(optional, { first: 1 }), 'same');
  isNameResult(await client.query(none), 'same');
  isNameResult(await client.mutate(byId, { id: '1' }), 'same');
  isNameResult(await client.query<NameResult>(text), 'same');
  isNameResult(await client.query<NameResult>(text, loose), 'same');
  isNameResult(await client.query<NameResult, ById>(text, { id: '1' }), 'same');
  const isUnknown = isExactly<Record<string, unknown>>();
  isUnknown(await client.query(text), 'same');
  isUnknown(await client.query(parse(text), loose), 'same');
  for await (const event of client.subscribe(byId, () => ({ id: '1' }))) isNameResult(event, 'same');
  for await (const event of client.subscribe(byIdText, { id: '1' })) isNameResult(event, 'same');

  // @ts-expect-error -- the id is missing
  await client.query(byId);
  // @ts-expect-error -- it is a string
  await client.query(byId, { id: 1 });
  // @ts-expect-error -- there is no such variable
  await client.query(byId, { id: '1', last: 1 });
  // @ts-expect-error -- the id is missing
  await client.mutate(byIdText, {});
  // @ts-expect-error -- the name is a string
  isNameResult(await client.query<{ folder: { name: number } }>(text), 'same');
}

test('documents carry the types of their results and variables', () => {
  assert.equal(typeof compile, 'function');
});
