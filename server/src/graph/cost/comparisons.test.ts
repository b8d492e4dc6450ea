import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'graphql';
import { countComparisons } from './comparisons.ts';

const countOf = (query: string) => countComparisons(parse(query), Infinity).count;
const fragments = (count: number, body: (place: number) => string) =>
  Array.from({ length: count }, (_, place) => `fragment F${place} on Folder{${body(place)}}`).join(' ');

test('counts each different name once', () => {
  assert.equal(countOf('{folder{id name}}'), 3);
});

test('counts all pairs of the same name, also across fragments and selection sets', () => {
  assert.equal(countOf('{a a a a}'), 4 + 6);
  assert.equal(countOf('{a: x a: y ... on Query{a: z}}'), 4 + 3);
  assert.equal(countOf('{f{a} f{a}}'), 2 + 1 + 2 + 1);
});

test('counts all pairs of fragments in the same object', () => {
  const spreads = Array.from({ length: 100 }, (_, place) => `...F${place}`).join(' ');
  assert.ok(countOf(`{folder{${spreads}}} ${fragments(100, (at) => `a${at}`)}`) > (100 * 99) / 2);
});

test('stops at circular fragments', () => {
  assert.ok(countOf('{...A} fragment A on Query{a{...A} a{x ...A}}') < 30);
  assert.ok(countOf('{...A} fragment A on Query{a{...B}} fragment B on Query{a{...A x}}') < 30);
});

test('stops counting at the limit, and names the field that is compared most', () => {
  const { count, mostCompared } = countComparisons(parse(`{id folder{${'name '.repeat(300)}}}`), 1_000);
  assert.equal(mostCompared, 'name');
  assert.ok(count > 1_000);
  const wide = `{folder{...F0}} ${fragments(40, () => Array.from({ length: 40 }, (_, at) => `...F${at}`).join(' '))}`;
  assert.ok(countComparisons(parse(wide), 1_000).count > 1_000);
});
