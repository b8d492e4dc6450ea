/** Answers of queries that come back, which are planned, against those of graphql-js for the same: not a letter differs. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { execute, parse, validate, type GraphQLSchema } from 'graphql';
import {
  createCompiledQueries,
  type CompiledQueries,
} from '../../server/src/graph/compiled/compiled-queries.ts';
import { createSchema } from '../../server/src/graph/schema.ts';
import { databaseKinds, roundsOn } from '../databases.ts';
import { MirrorBed } from '../live/mirror-bed.ts';
import { createMoodySchema } from './moody-schema.ts';
import { writeQuery, type Choose, type WriterOptions, type WrittenQuery } from './query-writer.ts';

const strings = ['', 'a', 'Town 1', 'Tö"wn'];
const scalars = { Int: [0, 1, 2, 3, -1, 70_000], Float: [0.5], Boolean: [true, false], String: strings };

/** Queries by chance, which fast-check makes smaller when one fails. */
function queriesFor(schema: GraphQLSchema, options: WriterOptions): fc.Arbitrary<WrittenQuery> {
  return fc.gen().map((pick) => {
    const choose: Choose = (below) => pick(fc.nat, { max: below - 1 });
    return writeQuery(schema, choose, options);
  });
}

describe('a planned query', () => {
  const schema = createMoodySchema();
  const queries = queriesFor(schema, { scalars: { ...scalars, ID: strings }, mostDepth: 4 });
  /** Where something fails, nothing is planned: most of these go well. */
  const moods = [{ seldom: 1_000_000 }, { seldom: 200 }, { seldom: 20 }];

  test('is answered as graphql-js answers it, or not at all', async () => {
    let good = 0;
    let planned = 0;
    await fc.assert(
      fc.asyncProperty(queries, fc.constantFrom(...moods), async ({ query, variables }, contextValue) => {
        const document = parse(query);
        assert.deepEqual(validate(schema, document), [], query);
        const request = { document, variableValues: variables };
        const { data, errors } = await execute({
          schema,
          ...request,
          contextValue: { ...contextValue, isLate: true },
        });
        const compiled = createCompiledQueries(schema);
        assert.equal(compiled.planFor(request)?.answer(contextValue), undefined, 'not when it is new');
        for (let time = 0; time < 2; time++) {
          const text = await compiled.planFor(request)?.answer(contextValue);
          if (errors) assert.equal(text ?? null, null, query);
          else if (typeof text === 'string') assert.equal(text, JSON.stringify({ data }), query);
          if (!errors) good++;
          if (typeof text === 'string') planned++;
        }
      }),
      { numRuns: 400 },
    );
    assert.ok(good > 100, `${good} without errors`);
    assert.equal(planned, good, 'all that goes well is planned');
  });
});

describe('plans', () => {
  const schema = createMoodySchema();
  const twice = async (compiled: CompiledQueries, query: string, variableValues = {}) => {
    const request = { document: parse(query), variableValues };
    for (let time = 0; time < 2; time++) await compiled.planFor(request)?.answer({ seldom: 1_000_000 });
    return compiled.planFor(request)?.answer({ seldom: 1_000_000 });
  };
  const fields = (count: number, condition = '') =>
    Array.from({ length: count }, (_, place) => `f${place}:title${condition}`).join(' ');

  test('take no more than so much, however many queries come back', async () => {
    const compiled = createCompiledQueries(schema);
    for (let number = 0; number < 100; number++) await twice(compiled, `{q${number}:title ${fields(500)}}`);
    assert.ok(compiled.size > 10_000 && compiled.size <= 20_000, String(compiled.size));
  });

  test('are not held by the number of their fields alone: they keep their document', async () => {
    const compiled = createCompiledQueries(schema);
    const unused = Array.from({ length: 500 }, (_, place) => `query Q${place}{title}`).join(' ');
    const request = { document: parse(`query A{title} ${unused}`), operationName: 'A' };
    for (let time = 0; time < 2; time++) await compiled.planFor(request)?.answer({ seldom: 1_000_000 });
    assert.ok(compiled.size > 500, String(compiled.size));
  });

  test('of one query are few, whatever its conditions choose', async () => {
    const compiled = createCompiledQueries(schema);
    const names = ['a', 'b', 'c', 'd', 'e'];
    const query = `query(${names.map((name) => `$${name}:Boolean!`).join()}){title ${names.map((name) => `${name}:title @include(if:$${name})`).join(' ')}}`;
    const document = parse(query);
    const answers = [];
    for (let choice = 0; choice <= 32; choice++) {
      const variableValues = Object.fromEntries(
        names.map((name, place) => [name, ((choice >> place) & 1) === 1]),
      );
      answers.push(await compiled.planFor({ document, variableValues })?.answer({ seldom: 1_000_000 }));
    }
    assert.equal(answers.filter((answer) => typeof answer === 'string').length, 8);
  });

  test('that come to nothing are tried again now and then', async () => {
    const compiled = createCompiledQueries(schema);
    const request = { document: parse('{count things{name}}'), variableValues: {} };
    const ask = (seldom: number) => compiled.planFor(request)?.answer({ seldom });
    await ask(1_000_000);
    for (let time = 0; time < 4; time++) assert.equal(await ask(1), null);
    const answers = [];
    for (let time = 0; time < 200; time++) answers.push(await ask(1_000_000));
    assert.equal(answers.slice(0, 99).filter((answer) => answer !== undefined).length, 0);
    assert.ok(answers.slice(100).every((answer) => typeof answer === 'string'));
  });
});

/** What differs between two moments in which nobody changes anything. */
const ofTheMoment = new Set(['Query.server']);
/** Then a query that fails is told as it is, however far it has been made smaller. */
const mostMs = 60_000;

type Path = readonly (string | number)[];
interface Answered {
  readonly data?: unknown;
  readonly errors?: readonly { readonly path?: Path }[];
}

/**
 * An answer without what depends on which field was the first to fail. Where fields that cannot be null fail side by
 * side, one of them takes away what is above them all, and GraphQL lets it be any: of these, only what is gone is left.
 */
function withoutRaces(text: string): string {
  const { data, errors } = JSON.parse(text) as Answered;
  if (!errors) return text;
  const told = errors.map((error) => {
    const { path = [] } = error;
    const left = pathToNull(data, path);
    return JSON.stringify(left.length < path.length ? { isGone: left } : error);
  });
  return JSON.stringify({ errors: [...new Set(told)], data });
}

/** As much of the path as is left of the data. */
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
  describe(`queries that come back, on ${kind.name},`, () => {
    let bed: MirrorBed;
    let viewers: readonly string[];
    let ids: readonly string[];

    before(async () => {
      bed = await MirrorBed.start(kind);
      const administrator = await bed.administratorId();
      const ask = <Data>(query: string, variables = {}) => bed.run<Data>(administrator, query, variables);
      const names = ['Town 0', 'Town 1', 'a",', 'b\\', 'Tö"wn', '🌳 \u2028'];
      const towns = names.map((name) => ({ name, title: `To "${name}"` }));
      const tree = ['a', 'b'].map((name) => ({ name, title: `The ${name}`, folders: towns }));
      await ask('mutation($tree:[ImportedFolder!]){importFolders(input:{tree:$tree}){folderCount}}', {
        tree,
      });
      type Items = { items: { id: string; folders: { items: { id: string }[] } }[] };
      const { data } = await ask<{ folder: { id: string; folders: Items } }>(
        '{folder{id folders{items{id folders{items{id}}}}}}',
      );
      const root = data!.folder;
      const [inA, inB] = root.folders.items.map(({ folders }) => folders.items[1]!.id);
      ids = [root.id, root.folders.items[0]!.id, inA!, inB!, 'none', '01890000-0000-7000-8000-000000000000'];
      const created = await ask<{ createUser: { user: { id: string } } }>(
        'mutation{createUser(input:{username:"guest" password:"walnut cabin 1"}){user{id}}}',
      );
      const guest = created.data!.createUser.user.id;
      const grant = 'mutation($to:GrantAccessInput!){grantAccess(input:$to){grant{level}}}';
      await ask(grant, { to: { folderId: root.folders.items[0]!.id, userId: guest, level: 'READ' } });
      await ask(grant, { to: { folderId: inA!, userId: guest, level: 'NONE' } });
      await ask(grant, { to: { folderId: inB!, userId: guest, level: 'WRITE' } });
      viewers = [administrator, guest];
    });
    after(() => bed.stop());

    test('show every letter of a list as it is', async () => {
      const times = {
        'items{name}': 1,
        'edges{node{title id name}}': 2,
        'a:items{t:title} totalCount items{name}': 2,
      };
      for (const [selection, count] of Object.entries(times)) {
        const query = `{folder(path:"/a"){folders{${selection}}}}`;
        const first = await bed.runText(viewers[0]!, query);
        assert.equal(first.match(/Tö\\"wn/g)?.length, count, first);
        assert.equal(await bed.runText(viewers[0]!, query), first);
      }
    });

    test('are answered as they were the first time', async () => {
      let good = 0;
      const options = { scalars: { ...scalars, ID: ids }, without: ofTheMoment, mostDepth: 5 };
      await fc.assert(
        fc.asyncProperty(queriesFor(createSchema(), options), async ({ query, variables }) => {
          for (const viewer of viewers) {
            // Of its own: else the second viewer would not ask it for the first time.
            const own = `# ${viewer}\n${query}`;
            const first = await bed.runText(viewer, own, variables);
            for (let time = 0; time < 2; time++) {
              const again = await bed.runText(viewer, own, variables);
              assert.equal(withoutRaces(again), withoutRaces(first), own);
            }
            if (!first.includes('"errors"')) good++;
          }
        }),
        { numRuns: roundsOn(kind, 100), interruptAfterTimeLimit: mostMs, markInterruptAsFailure: true },
      );
      assert.ok(good > 0);
      assert.deepEqual(bed.bugs, []);
    });
  });
}
