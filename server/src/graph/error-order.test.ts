import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GraphQLError } from 'graphql';
import { inOrderOfFields } from './error-order.ts';

const errorAt = (path: string) =>
  new GraphQLError(path, { path: path.split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step)) });
const ordered = (paths: string[], data: unknown) =>
  inOrderOfFields(paths.map(errorAt), data).map(({ message }) => message);

test('errors come in the order of the fields, and of the elements of lists', () => {
  const data = { b: { y: null, x: null }, a: [{ n: null }, { n: null }] };
  assert.deepEqual(ordered(['a.1.n', 'a.0.n', 'b.x', 'b.y'], data), ['b.y', 'b.x', 'a.0.n', 'a.1.n']);
});

test('what an error has taken away keeps its order, and nothing fails', () => {
  assert.deepEqual(ordered(['a.y', 'a.x'], { a: null }), ['a.y', 'a.x']);
  assert.deepEqual(ordered(['b', 'a'], null), ['b', 'a']);
  assert.deepEqual(ordered(['a.x', 'a'], { a: null }), ['a', 'a.x']);
  assert.deepEqual(ordered([], null), []);
});
