/** Answers of queries that come back, which are planned, against those of graphql-js for the same: not a letter differs. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { execute, parse, validate, type GraphQLSchema } from 'graphql';
import { createCompiledQueries } from '../../server/src/graph/compiled/compiled-queries.ts';
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
        assert.equal(compiled.answer(request, contextValue), undefined, 'not when it is new');
        for (let time = 0; time < 2; time++) {
          const text = await compiled.answer(request, contextValue);
          if (errors) assert.equal(text, undefined, query);
          else if (text !== undefined) assert.equal(text, JSON.stringify({ data }), query);
          if (!errors) good++;
          if (text !== undefined) planned++;
        }
      }),
      { numRuns: 600 },
    );
    assert.ok(good > 100, `${good} without errors`);
    assert.equal(planned, good, 'all that goes well is planned');
  });
});

/** What differs between two moments in which nobody changes anything. */
const ofTheMoment = new Set(['Query.server']);

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
            for (let time = 0; time < 2; time++)
              assert.equal(await bed.runText(viewer, own, variables), first, own);
            if (!first.includes('"errors"')) good++;
          }
        }),
        { numRuns: roundsOn(kind, 150) },
      );
      assert.ok(good > 0);
      assert.deepEqual(bed.bugs, []);
    });
  });
}
