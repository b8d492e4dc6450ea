import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areNestedTooDeeply, mostVariableLevels } from './variables.ts';

const nested = (levels: number, wrap: (inner: unknown) => unknown) => {
  let value: unknown = 'leaf';
  for (let level = 0; level < levels; level++) value = wrap(value);
  return { value };
};

test('variables may be nested as deep as allowed, in objects and in lists', () => {
  for (const wrap of [(inner: unknown) => [inner], (inner: unknown) => ({ inner })]) {
    assert.equal(areNestedTooDeeply(nested(mostVariableLevels, wrap)), false);
    assert.equal(areNestedTooDeeply(nested(mostVariableLevels + 1, wrap)), true);
    assert.equal(areNestedTooDeeply(nested(100_000, wrap)), true);
  }
});

test('flat variables may be of any size', () => {
  const folders = Array.from({ length: 100_000 }, (_, place) => ({ name: `Folder ${place}`, icon: null }));
  assert.equal(areNestedTooDeeply({ folders }), false);
});

test('nothing at all is fine', () => {
  assert.equal(areNestedTooDeeply({}), false);
  assert.equal(areNestedTooDeeply({ a: null, b: undefined, c: 1, d: [] }), false);
});
