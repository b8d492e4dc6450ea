import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parse, print, stripIgnoredCharacters, visit, type DocumentNode } from 'graphql';
import { documentText } from './document.ts';
import { printDocument } from './print-document.ts';

const documents = {
  'the shortest': '{a}',
  'names, aliases and arguments': 'query Q { one: a(b: 1, c: -2.5e10) { b } c }',
  'every kind of value':
    '{a(i: 0, f: 1.0, s: "x", e: RED, t: true, n: null, l: [1, [2], []], o: {a: {b: "c"}, d: []}, v: $v)}',
  'strings that need care': String.raw`{a(s: "quote \" slash \\ line \n tab \t nul \u0000 é 😀 \u{1F600}", t: "")}`,
  'block strings': '{a(s: """\n    two\n      lines "quoted" \\ and \\""" \n  """, e: """""")}',
  variables: `query Q($a: Int! = 1 @d, $b: [String!]! = ["x", "y"], $c: [[In]] = {a: 1}, $d: ID) @live(if: $d) { a }`,
  fragments: `query { ...F @include(if: true) ... on T @skip(if: false) { a } ... { b } ... @x { c } }
    fragment F on T @a(b: {c: "d"}) { id ...G } fragment G on T { name }`,
  'all operations': 'query A { a } mutation B($i: I!) { b(i: $i) { c } } subscription C { c @stream(n: 1) }',
  'fragments with variables': 'fragment F($a: Int = 1) on T { a(b: $a) }',
};

/** Removes locations and the notation of strings. */
function normalize(document: DocumentNode): unknown {
  const bare = visit(document, { StringValue: (node) => ({ ...node, block: undefined }) });
  return JSON.parse(JSON.stringify(bare, (key, value: unknown) => (key === 'loc' ? undefined : value)));
}

describe('printDocument()', () => {
  const options = { allowLegacyFragmentVariables: true };
  for (const [what, text] of Object.entries(documents)) {
    test(`preserves the meaning of ${what}`, () => {
      const parsed = parse(text, options);
      const printed = printDocument(parsed);
      assert.deepEqual(normalize(parse(printed, options)), normalize(parsed));
      assert.deepEqual(normalize(parse(printed, options)), normalize(parse(print(parsed), options)));
      assert.ok(printed.length <= stripIgnoredCharacters(print(parsed)).length + 20, printed);
    });
  }

  test('accepts a document from JSON, as code generators write it', () => {
    const parsed = JSON.parse(
      JSON.stringify(parse(documents.fragments, { noLocation: true })),
    ) as DocumentNode;
    assert.deepEqual(normalize(parse(documentText(parsed))), normalize(parse(documents.fragments)));
  });

  test('returns strings unchanged', () => {
    assert.equal(documentText('{ a }'), '{ a }');
    assert.equal(documentText(new String('{ b }')), '{ b }');
  });

  test('rejects a type definition', () => {
    assert.throws(() => printDocument(parse('type T { a: Int }')), /ObjectTypeDefinition/);
  });
});
