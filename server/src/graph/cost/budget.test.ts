import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { buildSchema, execute, parse, type GraphQLResolveInfo } from 'graphql';
import { Refusal } from '../../refusal.ts';
import { Budget, ElementFields } from './budget.ts';

const schema = buildSchema(`
  type Query { folder: Folder! }
  interface Node { id: ID! }
  type Folder implements Node { id: ID!, name: String!, text: String!, folders: Connection!, tags: [String!]! }
  type Connection { items: [Folder!]!, nodes: [Node!]!, pageInfo: PageInfo! }
  type PageInfo { hasNextPage: Boolean! }
`);

const limits = {
  maxFolders: 10,
  maxValues: 50,
  maxTextBytes: 10,
  maxPageSize: 5,
  maxScanned: 100,
  maxExportFolders: 2,
};
let budget: Budget;
beforeEach(() => void (budget = new Budget(limits, new ElementFields())));

/** The `info` arguments of all fields of this name. */
function infosOf(query: string, fieldName: string): GraphQLResolveInfo[] {
  const infos: GraphQLResolveInfo[] = [];
  const folder: Record<string, unknown> = {
    id: '1',
    name: 'a',
    text: 'b',
    tags: ['x'],
    __typename: 'Folder',
  };
  folder['folders'] = { items: [folder], nodes: [folder], pageInfo: { hasNextPage: false } };
  const { errors } = execute({
    schema,
    document: parse(query),
    rootValue: { folder },
    fieldResolver: (source: Record<string, unknown>, _, __, info) => {
      if (info.fieldName === fieldName) infos.push(info);
      return source[info.fieldName];
    },
  }) as { errors?: unknown };
  assert.equal(errors, undefined);
  return infos;
}

const infoOf = (query: string, fieldName = 'items') => infosOf(query, fieldName)[0]!;
const plain = () => infoOf('{folder{folders{items{name}}}}');

function refusalOf(work: () => unknown): Refusal {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error));
    assert.equal(error.code, 'TOO_EXPENSIVE');
    return error;
  }
  assert.fail('the work was not refused');
}

const many = (length: number) => Array.from({ length }, (_, index) => index);

describe('the budget for folders', () => {
  test('accepts folders until the sum exceeds the limit', () => {
    const info = infoOf('{folder{a: folders{items{name}}}}');
    const six = many(6);
    assert.equal(budget.spend(six, info), six);
    assert.equal(budget.foldersLeft, 4);
    const { message, details } = refusalOf(() => budget.spend(many(5), info));
    assert.deepEqual(details.facts, { field: 'folder.a', cost: 11, limit: 10 });
    assert.match(
      message,
      /^With folder\.a, the response would contain 11 or more folders; the limit is 10\. .*`first` and `after`/,
    );
    assert.equal(budget.foldersLeft, 0);
  });

  test('reports one folder more than the limit if the reader stopped early', () => {
    const { facts } = budget.tooManyFolders(plain()).details;
    assert.deepEqual(facts, { field: 'folder.folders', cost: 11, limit: 10 });
  });

  test('accepts exactly as many folders as the limit', () => {
    assert.equal(budget.spend(many(10), plain()).length, 10);
    assert.equal(budget.spend([], plain()).length, 0);
    assert.equal(budget.foldersLeft, 0);
  });
});

describe('the budget for values', () => {
  /** The number of values of each of six list elements, calculated from the cost in the refusal. */
  const valuesOf = (query: string, fieldName?: string) => {
    const counting = new Budget({ ...limits, maxValues: 0 }, new ElementFields());
    const { details } = refusalOf(() => counting.spend(many(6), infoOf(query, fieldName)));
    return Number(details.facts!['cost']) / 6;
  };

  test('counts the selected fields of each element', () => {
    assert.equal(valuesOf('{folder{folders{items{name}}}}'), 1);
    assert.equal(valuesOf('{folder{folders{items{id name a: name __typename}}}}'), 4);
    assert.equal(valuesOf('{folder{tags}}', 'tags'), 1);
  });

  test('counts a field once, even if fragments repeat it', () => {
    const query = `{folder{folders{items{...A ...B ...A name}}}}
      fragment A on Folder{name ... on Node{id}} fragment B on Folder{id name}`;
    assert.equal(valuesOf(query), 2);
  });

  test('does not count the elements of inner lists', () => {
    assert.equal(valuesOf('{folder{folders{items{name folders{items{id name text}}}}}}'), 3);
    assert.equal(valuesOf('{folder{folders{items{folders{pageInfo{hasNextPage}}}}}}'), 3);
    assert.equal(valuesOf('{folder{folders{items{tags}}}}'), 1);
  });

  test('counts fields that are selected through an interface', () => {
    assert.equal(valuesOf('{folder{folders{nodes{id ... on Folder{name text}}}}}', 'nodes'), 3);
  });

  test('refuses values with the field, the cost and the limit', () => {
    const info = infoOf('{folder{folders{items{id name text a: id b: id c: id}}}}');
    budget.spend(many(8), info);
    const { message, details } = refusalOf(() => budget.spend(many(1), info));
    assert.deepEqual(details.facts, { field: 'folder.folders.items', cost: 54, limit: 50 });
    assert.match(message, /54 values; the limit is 50\. Select fewer/);
  });

  test('counts each field of a document once, and caches the count', () => {
    const elementFields = new ElementFields();
    const info = plain();
    assert.equal(elementFields.count(info), 1);
    const unreadable = { ...info, fragments: null!, schema: null! };
    assert.equal(elementFields.count(unreadable), 1);
  });
});

describe('the budget for text', () => {
  test('accepts texts and null until the sum exceeds the limit', () => {
    const info = infoOf('{folder{t: text}}', 'text');
    assert.equal(budget.spendText('Füße', info), 'Füße');
    assert.equal(budget.spendText(null, info), null);
    assert.equal(budget.spendText(undefined, info), undefined);
    const { message, details } = refusalOf(() => budget.spendText('12345', info));
    assert.deepEqual(details.facts, { field: 'folder.t', cost: 11, limit: 10 });
    assert.match(message, /11 bytes of text; the limit is 10/);
  });
});

describe('the check of page sizes', () => {
  test('accepts pages up to the maximum size, and without a size', () => {
    for (const size of [null, undefined, 0, 1, 5]) budget.checkPage(size, 'first', plain());
  });

  test('refuses a larger page with the name of the argument', () => {
    const info = infoOf('{folder{folders{items{name}}}}', 'folders');
    const { message, details } = refusalOf(() => budget.checkPage(6, 'last', info));
    assert.deepEqual(details.facts, { field: 'folder.folders', cost: 6, limit: 5 });
    assert.match(message, /^`last` of folder\.folders is 6; the maximum is 5/);
  });
});

test('adds up the examined folders of all fields', () => {
  const [info] = infosOf('{folder{folders{items{id}}}}', 'items');
  budget.scan(60, info!);
  budget.scan(40, info!);
  assert.throws(() => budget.scan(1, info!), {
    code: 'TOO_EXPENSIVE',
    message: /^For folder\.folders\.items, the server would examine at least 101 folders/,
    details: { facts: { field: 'folder.folders.items', cost: 101, limit: 100 } },
  });
});

test('gives an export its own budget of ten values for each allowed folder', () => {
  const [info] = infosOf('{folder{folders{items{id name}}}}', 'items');
  budget.spendExport([1, 2, 3, 4, 5], info!);
  assert.throws(() => budget.spendExport([1, 2, 3, 4, 5, 6], info!), { code: 'TOO_EXPENSIVE' });
  assert.equal(budget.foldersLeft, 10);
});

test('counts a long alias as several values', () => {
  const alias = 'a'.repeat(100);
  const [info] = infosOf(`{folder{folders{items{${alias}: id}}}}`, 'items');
  budget.spend([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], info!);
  assert.throws(() => budget.spendText('x'.repeat(11), info!), { code: 'TOO_EXPENSIVE' });
  const fresh = new Budget({ ...limits, maxValues: 39 }, new ElementFields());
  assert.throws(() => fresh.spend([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], info!), { code: 'TOO_EXPENSIVE' });
});
