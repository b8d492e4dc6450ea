/**
 * Compares the responses of query plans with those of graphql-js, byte by byte. A new query is executed by
 * graphql-js, and a repeated one by its plan.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { parse, type GraphQLSchema } from 'graphql';
import { QueryPlans } from '../../server/src/graph/plan/query-plans.ts';
import { createSchema } from '../../server/src/graph/schema/schema.ts';
import { databaseKinds, scaleRounds } from '../support/databases.ts';
import { MirrorTestbed } from '../live/mirror/mirror-testbed.ts';
import { writeQuery, type Choose, type WriterOptions, type WrittenQuery } from './query-writer.ts';

const strings = ['', 'a', 'Town 1', 'Tö"wn'];
const scalars = { Int: [0, 1, 2, 3, -1, 70_000], Float: [0.5], Boolean: [true, false], String: strings };

/** Generates random queries, which fast-check can shrink after a failure. */
function arbitraryQueries(schema: GraphQLSchema, options: WriterOptions): fc.Arbitrary<WrittenQuery> {
  return fc.gen().map((pick) => {
    const choose: Choose = (below) => pick(fc.nat, { max: below - 1 });
    return writeQuery(schema, choose, options);
  });
}

describe('query plans', () => {
  const schema = createSchema();
  const planTwice = (plans: QueryPlans, query: string, rest: object = {}) => {
    const request = { document: parse(query), variableValues: {}, ...rest };
    plans.planFor(request);
    return plans.planFor(request);
  };
  const names = (count: number) => Array.from({ length: count }, (_, index) => `f${index}:name`).join(' ');

  test('are created when the same query arrives for the second time', () => {
    const plans = new QueryPlans(schema);
    const request = { document: parse('{folder{name}}') };
    assert.equal(plans.planFor(request), undefined);
    assert.ok(plans.planFor(request));
  });

  test('have a limited total size, even if many queries repeat', () => {
    const plans = new QueryPlans(schema);
    for (let number = 0; number < 100; number++) planTwice(plans, `{q${number}:folder{${names(500)}}}`);
    assert.ok(plans.size > 10_000 && plans.size <= 20_000, String(plans.size));
  });

  test('include their document in their size', () => {
    const plans = new QueryPlans(schema);
    const unused = Array.from({ length: 500 }, (_, index) => `query Q${index}{folder{name}}`).join(' ');
    planTwice(plans, `query A{folder{name}} ${unused}`, { operationName: 'A' });
    assert.ok(plans.size > 500, String(plans.size));
  });

  test('are at most 8 for one query with many conditions', () => {
    const plans = new QueryPlans(schema);
    const conditions = ['a', 'b', 'c', 'd', 'e'];
    const declared = conditions.map((name) => `$${name}:Boolean!`).join();
    const fields = conditions.map((name) => `${name}:name @include(if:$${name})`).join(' ');
    const document = parse(`query(${declared}){folder{name ${fields}}}`);
    const found = [];
    for (let choice = 0; choice <= 32; choice++) {
      const variableValues = Object.fromEntries(
        conditions.map((name, index) => [name, ((choice >> index) & 1) === 1]),
      );
      found.push(plans.planFor({ document, variableValues }));
    }
    assert.equal(found.filter((plan) => plan !== undefined).length, 8);
  });

  for (const query of [
    'mutation{createFolder(input:{name:"x"}){cursor}}',
    '{viewer{user{username}}}',
    '{__schema{queryType{name}}}',
    '{folder{access{level}}}',
    '{folder{parent{name}}}',
  ]) {
    test(`do not cover ${query}`, () => {
      assert.equal(planTwice(new QueryPlans(schema), query), undefined);
    });
  }
});

/** Fields that differ between two requests even if nothing changes. */
const timeDependentFields = new Set(['Query.server']);
const coveredFields: Readonly<Record<string, readonly string[]>> = {
  Query: ['folder', 'node', 'search', 'cursor'],
  Folder: [
    ...['id', 'name', 'title', 'icon', 'description', 'properties', 'accessLevel', 'version', 'createdAt'],
    ...['updatedAt', 'path', 'depth', 'position', 'ancestors', 'folders', 'descendants'],
  ],
};
/** Stops a run after this time as failed, so that shrinking a failing query does not take too long. */
const maxMs = 60_000;

type Path = readonly (string | number)[];
interface Body {
  readonly data?: unknown;
  readonly errors?: readonly { readonly path?: Path }[];
}

/**
 * Removes the parts of a response that depend on which field failed first. If several non-null siblings fail, one
 * failure makes their parent null. GraphQL allows the server to report any failure.
 */
function withoutRaces(text: string): string {
  const { data, errors } = JSON.parse(text) as Body;
  if (!errors) return text;
  const remaining = errors.map((error) => {
    const { path = [] } = error;
    const left = pathToNull(data, path);
    return JSON.stringify(left.length < path.length ? { isGone: left } : error);
  });
  return JSON.stringify({ errors: [...new Set(remaining)], data });
}

/** Returns the part of the path that still exists in the data. */
function pathToNull(data: unknown, path: Path): Path {
  let at = data;
  const end = path.findIndex((step) => {
    if (at === null || at === undefined) return true;
    at = (at as Record<string | number, unknown>)[step];
    return false;
  });
  return end < 0 ? path : path.slice(0, end);
}

for (const kind of databaseKinds) {
  describe(`query plans on ${kind.name}`, () => {
    const schema = createSchema();
    let testbed: MirrorTestbed;
    let viewers: readonly string[];
    let ids: readonly string[];
    const engines = { plan: 0, 'graphql-js': 0 };

    before(async () => {
      testbed = await MirrorTestbed.start(kind, {}, { onQuery: (engine) => void engines[engine]++ });
      ({ viewers, ids } = await fillTree(testbed));
    });
    after(() => testbed.stop());

    /** Runs a query for each viewer, first by graphql-js and then by its plan. */
    const compare = async ({ query, variables }: WrittenQuery, on = testbed): Promise<void> => {
      for (const viewer of viewers) {
        // A comment makes the query new for the second viewer.
        const own = `# ${viewer}\n${query}`;
        const first = await on.runText(viewer, own, variables);
        for (let time = 0; time < 2; time++) {
          const again = await on.runText(viewer, own, variables);
          assert.equal(withoutRaces(again), withoutRaces(first), own);
        }
      }
      assert.deepEqual(on.bugs, []);
    };

    test('escape every text of a list', async () => {
      const times = {
        'items{name}': 1,
        'edges{node{title id name}}': 2,
        'a:items{t:title} totalCount items{name}': 2,
      };
      for (const [selection, count] of Object.entries(times)) {
        const query = `{folder(path:"/a"){folders{${selection}}}}`;
        const first = await testbed.runText(viewers[0]!, query);
        assert.equal(first.match(/Tö\\"wn/g)?.length, count, first);
        assert.equal(await testbed.runText(viewers[0]!, query), first);
      }
    });

    test('return the same responses to random queries as graphql-js', async () => {
      const options = { scalars: { ...scalars, ID: ids }, without: timeDependentFields, maxDepth: 5 };
      await fc.assert(
        fc.asyncProperty(arbitraryQueries(schema, options), (written) => compare(written)),
        {
          numRuns: scaleRounds(kind, 60),
          interruptAfterTimeLimit: maxMs,
          markInterruptAsFailure: true,
        },
      );
    });

    test('cover every random query of the fields that clients use', async () => {
      const without = new Set<string>();
      for (const [type, fields] of Object.entries(coveredFields)) {
        const all = Object.keys(
          (schema.getType(type) as { getFields(): Record<string, unknown> }).getFields(),
        );
        for (const name of all) if (!fields.includes(name)) without.add(`${type}.${name}`);
      }
      const options = { scalars: { ...scalars, ID: ids }, without, maxDepth: 6 };
      Object.assign(engines, { plan: 0, 'graphql-js': 0 });
      await fc.assert(
        fc.asyncProperty(arbitraryQueries(schema, options), (written) => compare(written)),
        {
          numRuns: scaleRounds(kind, 150),
          interruptAfterTimeLimit: maxMs,
          markInterruptAsFailure: true,
        },
      );
      // The first of three runs uses graphql-js, and so do all runs of a query with refused variables.
      assert.ok(engines.plan > engines['graphql-js'] / 2, JSON.stringify(engines));
    });

    test('refuse expensive queries at the same fields', async (context) => {
      const limits = { maxFolders: 9, maxValues: 60, maxTextBytes: 90, maxPageSize: 5, maxScanned: 8 };
      for (const [name, value] of Object.entries(limits)) {
        const limited = await MirrorTestbed.start(kind, { [name]: value });
        context.after(() => limited.stop());
        ({ viewers } = await fillTree(limited));
        for (const query of [
          '{folder{folders{items{id name icon description parent{id} folders{items{name}}}}}}',
          '{folder{folders(first:6){items{name}} descendants{edges{cursor node{path}} pageInfo{endCursor}}}}',
          '{search(text:"town"){items{name title ancestors{name} position}}}',
          '{cursor folder(path:"/a"){icon folders(last:3 filter:{nameContains:"o"}){totalCount items{icon}}}}',
          '{folder{folders{items{icon folders{items{icon description}}}}}}',
        ]) {
          await compare({ query, variables: {} }, limited);
        }
      }
      ({ viewers } = await readViewers(testbed));
    });
  });
}

/** Creates a small tree with texts that need escaping, an administrator and a guest with grants. */
async function fillTree(
  testbed: MirrorTestbed,
): Promise<{ viewers: readonly string[]; ids: readonly string[] }> {
  const administrator = await testbed.administratorId();
  const execute = <Data>(query: string, variables = {}) => testbed.run<Data>(administrator, query, variables);
  const names = ['Town 0', 'Town 1', 'a",', 'b\\', 'Tö"wn', '🌳 \u2028'];
  const towns = names.map((name, index) => ({
    name,
    title: `To "${name}"`,
    ...(index % 2 === 0 && {
      icon: '🏠',
      description: `Line 1\nLine 2 of ${name}`,
      properties: { a: [1, 'ö'] },
    }),
  }));
  const tree = ['a', 'b'].map((name) => ({ name, title: `The ${name}`, folders: towns }));
  await execute('mutation($tree:[ImportedFolder!]){importFolders(input:{tree:$tree}){folderCount}}', {
    tree,
  });
  type QueryResult = { folder: { id: string } };
  const findId = async (path: string) =>
    (await execute<QueryResult>('query($path:String){folder(path:$path){id}}', { path })).data!.folder.id;
  const [rootId, a, inA, inB] = await Promise.all(['/', '/a', '/a/Town 1', '/b/Town 1'].map(findId));
  const created = await execute<{ createUser: { user: { id: string } } }>(
    'mutation{createUser(input:{username:"guest" password:"walnut cabin 1"}){user{id}}}',
  );
  const guest = created.data!.createUser.user.id;
  const grant = 'mutation($to:GrantAccessInput!){grantAccess(input:$to){grant{level}}}';
  await execute(grant, { to: { folderId: a, userId: guest, level: 'READ' } });
  await execute(grant, { to: { folderId: inA, userId: guest, level: 'NONE' } });
  await execute(grant, { to: { folderId: inB, userId: guest, level: 'WRITE' } });
  const ids = [rootId!, a!, inA!, inB!, 'none', '01890000-0000-7000-8000-000000000000'];
  return { viewers: [administrator, guest], ids };
}

async function readViewers(testbed: MirrorTestbed): Promise<{ viewers: readonly string[] }> {
  const administrator = await testbed.administratorId();
  const { data } = await testbed.run<{ users: { items: { id: string; username: string }[] } }>(
    administrator,
    '{users{items{id username}}}',
  );
  const guest = data!.users.items.find(({ username }) => username === 'guest')!;
  return { viewers: [administrator, guest.id] };
}
