import assert from 'node:assert/strict';
import { test } from 'node:test';
import { excessOf } from './json-body.ts';

const excess = (text: string, values: number, names: number) =>
  excessOf(Buffer.from(text), { values, names });

test('members, lists and objects are counted', () => {
  // The object, the list, two commas.
  assert.equal(excess('{"a":[1,2,3]}', 4, 9), undefined);
  assert.equal(excess('{"a":[1,2,3]}', 3, 9), 'values');
  assert.equal(excess('[[[[', 3, 9), 'values');
});

test('different names are counted, the same one once, and texts that are no names not at all', () => {
  assert.equal(excess('[{"a":1},{"a":2},{"b" \n : "c"}]', 99, 2), undefined);
  assert.equal(excess('[{"a":1},{"a":2},{"b" \n : "c"}]', 99, 1), 'names');
  assert.equal(excess('["a","b","c","d"]', 99, 0), undefined);
});

test('what is inside a text is text', () => {
  assert.equal(excess('["[{,:\\"[{,:"]', 1, 0), undefined);
  assert.equal(excess('{"a\\"b":1,"a\\"c":2}', 9, 1), 'names');
});

test('a text that ends too early is not read beyond its end', () => {
  for (const text of ['', '"', '"\\', '{"a', '{"a"', '{"a" ']) assert.equal(excess(text, 9, 9), undefined);
});

test('names that differ are told apart, as many as there are', () => {
  const names = Array.from({ length: 50_000 }, (_, n) => `"${n}":0`);
  assert.equal(excess(`{${names.join()}}`, 1e6, 50_000), undefined);
  assert.equal(excess(`{${names.join()}}`, 1e6, 49_900), 'names');
});
