import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildSchema, getIntrospectionQuery, isIntrospectionType, isObjectType, parse } from 'graphql';
import { Refusal } from '../../refusal.ts';
import { createSchema } from '../schema/schema.ts';
import { checkCost, measureSchema, weightOf, weights, type QueryCost } from './cost.ts';

const schema = buildSchema(`
  type Query { folder(id: ID): Folder, search(text: String!): [Folder!]! }
  type Mutation { moveFolder: Folder!, createUser: Folder! }
  type Folder { id: ID!, name: String!, parent: Folder, folders: [Folder!]!, descendants: [Folder!]! }
`);
const sizes = measureSchema(schema);
const endless: QueryCost = { fields: Infinity, depth: Infinity, schemaValues: Infinity };

function refusalOf(query: string, budgets: Partial<QueryCost>): Refusal | undefined {
  try {
    checkCost(sizes, parse(query), { ...endless, ...budgets });
    return undefined;
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error));
    assert.equal(error.code, 'TOO_EXPENSIVE');
    return error;
  }
}

const factsOf = (query: string, budgets: Partial<QueryCost>) => refusalOf(query, budgets)?.details.facts;
const fieldsOf = (query: string) => factsOf(query, { fields: 0 })?.['cost'];
const depthOf = (query: string) => factsOf(query, { depth: 0 })?.['cost'];
const repeat = (count: number, write: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => write(index)).join(' ');

describe('the fields of a query', () => {
  test('are counted with aliases, and in every spread of a fragment', () => {
    assert.equal(fieldsOf('{folder{name}}'), 2);
    assert.equal(fieldsOf('{a: folder{name} b: folder{name x: name}}'), 5);
    assert.equal(fieldsOf('{folder{... on Folder{name ... @skip(if: true){id}}}}'), 3);
    const twice = 'fragment F on Folder{id name}';
    assert.equal(fieldsOf(`{folder{...F folders{...F}}} ${twice}`), 6);
  });

  test('are counted in nested fragments without expanding these', () => {
    const levels = repeat(4, (level) => {
      const next = level < 3 ? `...F${level + 1}` : 'name';
      return `fragment F${level} on Folder{${repeat(40, (index) => `a${index}: folders{${next}}`)}}`;
    });
    assert.equal(fieldsOf(`{folder{...F0}} ${levels}`), 1 + 40 + 40 ** 2 + 40 ** 3 + 2 * 40 ** 4);
  });

  test('are counted up to a billion', () => {
    const doubled = repeat(200, (at) => `fragment F${at} on Folder{...F${at + 1} ...F${at + 1}}`);
    assert.equal(fieldsOf(`{folder{...F0}} ${doubled} fragment F200 on Folder{name}`), 1_000_000_000);
  });

  test('are counted once in a circular fragment, and never in an unknown fragment', () => {
    assert.equal(fieldsOf('{folder{...A}} fragment A on Folder{name folders{...A}}'), 3);
    assert.equal(fieldsOf('{...A} fragment A on Query{...B} fragment B on Query{...A}'), undefined);
    assert.equal(fieldsOf('{folder{name ...Nowhere}}'), 2);
  });

  test('are counted with their weights', () => {
    assert.equal(fieldsOf('{search(text: "a"){name}}'), 51);
    assert.equal(fieldsOf('{folder{descendants{name}}}'), 7);
    assert.equal(fieldsOf('mutation{moveFolder{name}}'), 21);
    assert.equal(fieldsOf('mutation{updateFolder{name}}'), 6);
    assert.equal(fieldsOf('mutation{...M} fragment M on Mutation{a: createUser{id} b: createUser{id}}'), 102);
  });

  test('are counted even if the schema does not contain them', () => {
    assert.equal(fieldsOf('{nothing{of{this constructor __proto__}}}'), 5);
    assert.equal(fieldsOf('subscription{a{b}}'), 2);
    assert.equal(fieldsOf('{...F} fragment F on Nothing{a}'), 1);
  });

  test('are also counted in an unused fragment', () => {
    const query = `{folder{name}} fragment F on Folder{${'name '.repeat(20)}}`;
    assert.deepEqual(factsOf(query, { fields: 10 }), { field: 'F', cost: 20, limit: 10 });
  });
});

describe('the depth of a query', () => {
  test('is not increased by fragments', () => {
    assert.equal(depthOf('{folder{name}}'), 2);
    assert.equal(depthOf('{... on Query{... on Query{folder{...F}}}} fragment F on Folder{parent{name}}'), 3);
  });

  test('over the limit is refused with a shortened path', () => {
    const query = `{folder{${'parent{'.repeat(30)}name${'}'.repeat(30)}}}`;
    const names = `folder${'.parent'.repeat(7)}…`;
    assert.deepEqual(factsOf(query, { depth: 20 }), { field: names, cost: 32, limit: 20 });
  });
});

describe('the refusal of a query', () => {
  const aliases = repeat(20, (index) => `a${index}: name`);

  test('names the innermost field that has most of the cost', () => {
    const query = `{folder{name folders{${aliases}}}}`;
    assert.deepEqual(factsOf(query, { fields: 10 }), { field: 'folder.folders', cost: 23, limit: 10 });
    assert.deepEqual(
      factsOf(`{f: folder{...F}} fragment F on Folder{x: folders{${aliases}}}`, { fields: 10 }),
      {
        field: 'f.x',
        cost: 22,
        limit: 10,
      },
    );
  });

  test('names the operation if no field has most of the cost', () => {
    const query = `{${repeat(20, (index) => `a${index}: folder{id}`)}}`;
    assert.equal(factsOf(query, { fields: 10 })?.['field'], 'query');
    assert.equal(factsOf(`query Home ${query}`, { fields: 10 })?.['field'], 'Home');
  });

  test('contains the cost, the limit and advice', () => {
    const { message } = refusalOf(`{folder{${aliases}}}`, { fields: 10 })!;
    assert.match(message, /selects 21 fields, mostly in folder; the limit is 10.*Select fewer/);
  });

  test('shortens a long name', () => {
    const field = factsOf(`{${'a'.repeat(5_000)}{b c}}`, { fields: 1 })?.['field'];
    assert.equal(field, `${'a'.repeat(200)}…`);
  });

  test('does not loop on circular fragments', () => {
    const circle = `fragment A on Folder{${aliases} x: folders{...B}} fragment B on Folder{y: folders{...A}}`;
    assert.equal(factsOf(`{folder{...A}} ${circle}`, { fields: 10 })?.['limit'], 10);
  });
});

describe('introspection queries', () => {
  test('cost as many values as the lists of the schema contain', () => {
    const nested = '{__schema{types{fields{type{fields{name description}}}}}}';
    const types = sizes.get('types')!;
    const fields = sizes.get('fields')!;
    assert.deepEqual(factsOf(nested, { schemaValues: 0 }), {
      field: '__schema.types',
      cost: 1 + types * (1 + fields * (1 + 1 + fields * 2)),
      limit: 0,
    });
  });

  test('are not charged for fields of other types with the same names', () => {
    assert.equal(factsOf('{folder{types{fields{name}}}}', { schemaValues: 0 }), undefined);
  });

  test('of common tools are within the default limits', () => {
    const query = getIntrospectionQuery({
      descriptions: true,
      specifiedByUrl: true,
      directiveIsRepeatable: true,
      schemaDescription: true,
      inputValueDeprecation: true,
      oneOf: true,
    });
    assert.equal(refusalOf(query, { fields: 500, depth: 64, schemaValues: 400_000 }), undefined);
  });
});

test('has a weight for every root field and every field with arguments', () => {
  const schema = createSchema();
  const roots = [schema.getQueryType(), schema.getSubscriptionType()];
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  for (const type of types.filter((each) => !isIntrospectionType(each))) {
    for (const { name, args } of Object.values(type.getFields())) {
      if (type === schema.getMutationType()) assert.ok(weightOf(name, true) >= 5, name);
      else if (roots.includes(type) || args.length > 0) {
        assert.ok(Object.hasOwn(weights, name), `${type.name}.${name} has no weight`);
      }
    }
  }
});
