import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildSchema, parse, visit, type GraphQLFormattedError, type GraphQLSchema } from 'graphql';
import { Documents, type CheckedDocument } from './documents.ts';
import type { Limits } from './cost/limits.ts';

const schema = buildSchema(`
  type Query { folder(id: ID): Folder }
  type Folder { id: ID!, name: String!, folders(first: Int): [Folder!]! }
`);
const limits: Limits = {
  maxQueryCharacters: 100_000,
  maxQueryTokens: 5_000,
  maxFields: 500,
  maxDepth: 64,
  maxFolders: 20_000,
  maxValues: 400_000,
  maxTextBytes: 1_000_000,
  maxPageSize: 20_000,
  maxExportFolders: 100_000,
  maxScanned: 2_000_000,
  maxImportFolders: 100_000,
  maxBacklog: 10_000,
};
/** A task that never yields. */
const immediateTask = { yieldBefore: () => undefined };
function createChecker(checked: GraphQLSchema, limits: Limits) {
  const documents = new Documents(checked, limits);
  const check = (query: string) =>
    (documents.find(query) ?? documents.check(query, immediateTask)) as CheckedDocument;
  return { find: (query: string) => documents.find(query), check };
}

const documents = createChecker(schema, limits);
const errorsOf = (query: string) => documents.check(query).errors ?? [];
const repeat = (count: number, write: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => write(index)).join(' ');

test('checks a valid query once', () => {
  const first = documents.check('{folder{name}}');
  assert.ok(first.document);
  assert.equal(documents.check('{folder{name}}').document, first.document);
});

test('checks an invalid query once', () => {
  for (const query of ['{', '{nothing}', `{folder{${repeat(600, (at) => `a${at}: name`)}}}`]) {
    const { errors } = documents.check(query);
    assert.ok(errors);
    assert.equal(documents.check(query).errors, errors);
  }
});

test('evicts the oldest invalid queries, and no valid ones', () => {
  const some = createChecker(schema, limits);
  some.check('{folder{name}}');
  for (let number = 0; number < 300; number++) some.check(`{nothing${number}}`);
  assert.equal(some.find('{nothing0}'), undefined);
  assert.ok(some.find('{nothing299}')?.errors);
  assert.ok(some.find('{folder{name}}')?.document);
});

test('checks a long query in steps, each in its own time slice', async () => {
  const sizes: number[] = [];
  const slices: (() => void)[] = [];
  const task = {
    yieldBefore: (size: number) => {
      sizes.push(size);
      return new Promise<void>((resolve) => slices.push(resolve));
    },
  };
  const fields = repeat(300, (at) => `a${at}: folder(id: $id){name}`);
  const query = `query($id: ID){${repeat(1, () => fields)}}`;
  const long = new Documents(schema, { ...limits, maxFields: 1_000 });
  let isDone = false;
  const checked = Promise.resolve(long.check(query, task)).finally(() => (isDone = true));
  for (let step = 0; !isDone; step++) {
    assert.equal(slices.length, step + 1, 'no step starts before its time slice');
    slices[step]!();
    await new Promise(setImmediate);
  }
  assert.ok((await checked).document);
  assert.equal(sizes.length, 5, 'parsing, three groups of rules, and the copy for the cache');
  assert.ok(sizes.every((size) => size <= limits.maxQueryTokens));
});

test('includes comments and long strings in the size of cached texts', () => {
  const own = createChecker(schema, limits);
  const texts = Array.from({ length: 400 }, (_, at) => `{__typename} # ${at} ${'x'.repeat(99_000)}`);
  for (const text of texts) assert.ok(own.check(text).document);
  const cached = texts.filter((text) => own.find(text)).length;
  assert.ok(cached > 0 && cached < 200, String(cached));
});

test('caches a copy of a document without its tokens', () => {
  const query =
    'query Q($id: ID = "a"){folder(id: $id){...F name @include(if: true)}} fragment F on Folder{id}';
  const parsed = parse(query, { noLocation: true });
  const { document } = documents.check(query);
  const bare = visit(document!, { enter: (node) => ({ ...node, loc: undefined }) });
  assert.deepEqual(JSON.parse(JSON.stringify(bare)), JSON.parse(JSON.stringify(parsed)));
  assert.equal(document!.tokenCount, parse(query).tokenCount);
  assert.equal(document!.loc?.startToken, undefined);
});

test('never caches a query as both valid and invalid', () => {
  const strict = createChecker(schema, { ...limits, maxFields: 1 });
  assert.ok(strict.check('{folder{name}}').errors);
  assert.ok(strict.check('{folder{name}}').errors);
  assert.ok(documents.check('{folder{name}}').document);
});

describe('a query over a limit', () => {
  const cases: readonly [string, string, object][] = [
    [
      'too many characters',
      `{folder{name}}${' '.repeat(100_000)}`,
      { field: 'query', cost: 100_014, limit: 100_000 },
    ],
    ['too many tokens', `{${'a '.repeat(10_000)}}`, { field: 'query', cost: 5_001, limit: 5_000 }],
    [
      'too many fields',
      `{folder{${repeat(600, (at) => `a${at}: nothing`)}}}`,
      { field: 'folder', cost: 601, limit: 500 },
    ],
    [
      'too many levels',
      `${'{folder'.repeat(100)}{name}${'}'.repeat(100)}`,
      { field: `folder${'.folder'.repeat(7)}…`, cost: 101, limit: 64 },
    ],
    [
      'too many repeated fields',
      `{folder{${'name '.repeat(300)}}}`,
      { field: 'name', cost: 45_151, limit: 10_000 },
    ],
    [
      'too many levels for the stack',
      `{folder(id: ${'['.repeat(2_450)}${']'.repeat(2_450)}){name}}`,
      { field: 'query', cost: 65, limit: 64 },
    ],
  ];
  for (const [what, query, facts] of cases) {
    test(`is refused before validation: ${what}`, () => {
      const [error, ...more] = errorsOf(query);
      assert.deepEqual(error!.extensions, { code: 'TOO_EXPENSIVE', ...facts });
      assert.match(error!.message, /\. (Pass|Select|Request) .*\.$/, 'the message says what to do');
      assert.deepEqual(more, []);
    });
  }
});

test('leaves circular fragments to validation', () => {
  for (const body of ['...A', 'name folders{...A}', 'folders{...A} folders{id ...A}']) {
    const [error] = errorsOf(`{folder{...A}} fragment A on Folder{${body}}`);
    assert.equal(error!.extensions!['code'], 'GRAPHQL_VALIDATION_FAILED');
    assert.match(error!.message, /Cannot spread fragment "A" within itself/);
  }
});

test('returns at most twenty errors, and says that there are more', () => {
  const errors = errorsOf(`{folder{${repeat(100, (at) => `nothing${at}`)}}}`);
  assert.equal(errors.length, 21);
  assert.match(errors[20]!.message, /Too many validation errors/);
});

describe('the location of an error', () => {
  const locationsOf = (errors: readonly GraphQLFormattedError[]) => errors.map(({ locations }) => locations);

  test('is a line and a column, for all kinds of line ends', () => {
    assert.deepEqual(locationsOf(errorsOf('{a\n  b\r\n   c\r d}')), [
      [{ line: 1, column: 2 }],
      [{ line: 2, column: 3 }],
      [{ line: 3, column: 4 }],
      [{ line: 4, column: 2 }],
    ]);
    assert.deepEqual(locationsOf(errorsOf('{\n  folder{\n')), [[{ line: 3, column: 1 }]]);
  });

  test('lists at most five positions', () => {
    const [error] = errorsOf(`{folder(${'id: 1 '.repeat(50)}){name}}`);
    assert.equal(error!.locations!.length, 5);
  });
});

test('rejects a condition on the root field of a subscription', () => {
  const subscriptions = createChecker(
    buildSchema('type Query { a: Int } type Subscription { changed: Changed } type Changed { name: String }'),
    limits,
  );
  const refused = [
    'subscription{changed @skip(if: true){name}}',
    'subscription($b: Boolean!){changed @include(if: $b){name}}',
    'subscription{... on Subscription @include(if: false){changed{name}}}',
    'subscription{...F} fragment F on Subscription{changed @skip(if: true){name}}',
    'subscription{...F @skip(if: true)} fragment F on Subscription{changed{name}}',
  ];
  for (const query of refused) {
    const codes = subscriptions.check(query).errors?.map(({ extensions }) => extensions?.['code']);
    assert.deepEqual(codes, ['GRAPHQL_VALIDATION_FAILED'], query);
  }
  assert.ok(subscriptions.check('subscription{changed{name @skip(if: true)}}').document);
  assert.ok(subscriptions.check('{a @skip(if: true)}').document);
});
