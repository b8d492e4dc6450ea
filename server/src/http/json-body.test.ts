import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findExcess } from './json-body.ts';

const excess = (text: string, values: number, names: number) =>
  findExcess(Buffer.from(text), { values, names });

describe('findExcess()', () => {
  test('counts members, lists and objects', () => {
    // The object, the list, two commas.
    assert.equal(excess('{"a":[1,2,3]}', 4, 9), undefined);
    assert.equal(excess('{"a":[1,2,3]}', 3, 9), 'values');
    assert.equal(excess('[[[[', 3, 9), 'values');
  });

  test('counts each different name once, and no other strings', () => {
    assert.equal(excess('[{"a":1},{"a":2},{"b" \n : "c"}]', 99, 2), undefined);
    assert.equal(excess('[{"a":1},{"a":2},{"b" \n : "c"}]', 99, 1), 'names');
    assert.equal(excess('["a","b","c","d"]', 99, 0), undefined);
  });

  test('ignores punctuation inside strings', () => {
    assert.equal(excess('["[{,:\\"[{,:"]', 1, 0), undefined);
    assert.equal(excess('{"a\\"b":1,"a\\"c":2}', 9, 1), 'names');
  });

  test('does not read beyond the end of an unfinished text', () => {
    for (const text of ['', '"', '"\\', '{"a', '{"a"', '{"a" ']) assert.equal(excess(text, 9, 9), undefined);
  });

  test('distinguishes tens of thousands of names', () => {
    const names = Array.from({ length: 50_000 }, (_, n) => `"${n}":0`);
    assert.equal(excess(`{${names.join()}}`, 1e6, 50_000), undefined);
    assert.equal(excess(`{${names.join()}}`, 1e6, 49_900), 'names');
  });
});
