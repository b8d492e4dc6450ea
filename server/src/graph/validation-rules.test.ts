import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildSchema, parse, specifiedRules, validate } from 'graphql';
import { rulesFor } from './validation-rules.ts';

const schema = buildSchema(`
  input Filter { name: String }
  type Folder { name: String! folders(first: Int, filter: Filter): [Folder!]! }
  type Query { folder(id: ID): Folder }
  type Subscription { one: Int two: Int }
`);

/** Each breaks a rule that is left out where nothing can break it. */
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
