import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areNestedTooDeeply, sortByField, maxVariableLevels } from './graph-results.ts';
import { GraphQLError } from 'graphql';

const nested = (levels: number, wrap: (inner: unknown) => unknown) => {
  let value: unknown = 'leaf';
  for (let level = 0; level < levels; level++) value = wrap(value);
  return { value };
};

test('accepts variables up to the maximum depth, in objects and in lists', () => {
  for (const wrap of [(inner: unknown) => [inner], (inner: unknown) => ({ inner })]) {
    assert.equal(areNestedTooDeeply(nested(maxVariableLevels, wrap)), false);
    assert.equal(areNestedTooDeeply(nested(maxVariableLevels + 1, wrap)), true);
    assert.equal(areNestedTooDeeply(nested(100_000, wrap)), true);
  }
});

test('accepts flat variables of any size', () => {
  const folders = Array.from({ length: 100_000 }, (_, index) => ({ name: `Folder ${index}`, icon: null }));
  assert.equal(areNestedTooDeeply({ folders }), false);
});

test('accepts empty variables', () => {
  assert.equal(areNestedTooDeeply({}), false);
  assert.equal(areNestedTooDeeply({ a: null, b: undefined, c: 1, d: [] }), false);
});

const errorAt = (path: string) =>
  new GraphQLError(path, { path: path.split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step)) });
const ordered = (paths: string[], data: unknown) =>
  sortByField(paths.map(errorAt), data).map(({ message }) => message);
test('sorts errors in the order of fields and list elements', () => {
  const data = { b: { y: null, x: null }, a: [{ n: null }, { n: null }] };
  assert.deepEqual(ordered(['a.1.n', 'a.0.n', 'b.x', 'b.y'], data), ['b.y', 'b.x', 'a.0.n', 'a.1.n']);
});
test('sorts errors below a value that is null by their location', () => {
  assert.deepEqual(ordered(['a.y', 'a.x'], { a: null }), ['a.y', 'a.x']);
  assert.deepEqual(ordered(['b', 'a'], null), ['b', 'a']);
  assert.deepEqual(ordered(['a.x', 'a'], { a: null }), ['a', 'a.x']);
  assert.deepEqual(ordered([], null), []);
});
