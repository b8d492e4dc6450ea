import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildSchema, parse, specifiedRules, validate } from 'graphql';
import { countComparisons, rulesFor } from './validation-rules.ts';

const schema = buildSchema(`
  input Filter { name: String }
  type Folder { name: String! folders(first: Int, filter: Filter): [Folder!]! }
  type Query { folder(id: ID): Folder }
  type Subscription { one: Int two: Int }
`);

/** Each query breaks a rule that is left out for queries that cannot break it. */
const wrong = [
  '{folder(id:$id){name}}',
  'query($id:ID){folder{name}}',
  'query($id:ID,$id:ID){folder(id:$id){name}}',
  'query($id:Folder){folder(id:$id){name}}',
  'query($id:Nothing){folder(id:$id){name}}',
  'query($id:[ID]){folder(id:$id){name}}',
  '{folder{...F}}',
  '{folder{name}} fragment F on Folder{name}',
  '{folder{...F}} fragment F on Folder{folders{...F}}',
  '{folder{...F ...F}} fragment F on Folder{name} fragment F on Folder{name}',
  '{folder{...on Query{folder{name}}}}',
  '{folder{...on Nothing{name}}}',
  '{folder{...on ID{name}}}',
  '{folder{name @nothing}}',
  '{folder{name @skip(if:true) @skip(if:true)}}',
  'subscription{one two}',
  '{folder}',
  '{folder{nothing}}',
  '{folder(id:{}){name}}',
  '{folder{folders(filter:{name:"a",name:"b"}){name}}}',
  '{folder{name} folder(id:"1"){name}}',
  '{folder{name}} {folder{name}}',
  'query A{folder{name}} query A{folder{name}}',
];

describe('the rules for a query', () => {
  for (const query of wrong) {
    test(`find the same errors as all rules: ${query}`, () => {
      const document = parse(query);
      const all = validate(schema, document, specifiedRules).map(({ message }) => message);
      assert.notDeepEqual(all, []);
      assert.deepEqual(
        validate(schema, document, rulesFor(query)).map(({ message }) => message),
        all,
      );
    });
  }

  test('are fewer for a simple query', () => {
    assert.ok(rulesFor('{folder{name}}').length <= specifiedRules.length / 2 + 1);
    assert.equal(rulesFor('subscription($a:ID @b){...F}').length, specifiedRules.length);
  });
});

describe('countComparisons()', () => {
  const countOf = (query: string) => countComparisons(parse(query), Infinity).count;
  const fragments = (count: number, body: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => `fragment F${index} on Folder{${body(index)}}`).join(' ');

  test('counts each different name once', () => {
    assert.equal(countOf('{folder{id name}}'), 3);
  });

  test('counts all pairs of the same name, even across fragments and selection sets', () => {
    assert.equal(countOf('{a a a a}'), 4 + 6);
    assert.equal(countOf('{a: x a: y ... on Query{a: z}}'), 4 + 3);
    assert.equal(countOf('{f{a} f{a}}'), 2 + 1 + 2 + 1);
  });

  test('counts all pairs of fragments in the same object', () => {
    const spreads = Array.from({ length: 100 }, (_, index) => `...F${index}`).join(' ');
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
});
