/** Lists that are too long for one statement. The server reads them in segments, and the response is the same. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../../support/databases.ts';
import { TreeTestbed } from '../tree-testbed.ts';

const count = 4_500;
const hiddenNumber = 2_500;
const numbers = Array.from({ length: count }, (_, index) => index + 1);
const maxStatementsPerRound = 10;

interface Page {
  readonly items: readonly { readonly name: string }[];
  readonly totalCount: number;
  readonly pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    endCursor: string;
    startCursor: string;
  };
}

for (const kind of databaseKinds) {
  describe(`large lists on ${kind.name}`, () => {
    let tree: TreeTestbed;
    let house: string;
    let readerToken: string;
    const statements: string[] = [];

    before(async () => {
      tree = await TreeTestbed.start(kind, { onStatement: (text) => void statements.push(text) });
      house = await tree.create('House');
      await tree.import(
        numbers.map((number) => `Leaf ${number}`),
        house,
      );
      const secret = await tree.idOf(`/House/Leaf ${hiddenNumber}`);
      ({ authToken: readerToken } = await tree.person({ [house]: 'READ', [secret]: 'NONE' }));
    });
    after(() => tree.stop());

    const list = async (args: string, authToken?: string) => {
      const query = `query($id: ID){folder(id: $id){folders${args}{items{name} totalCount
        pageInfo{hasNextPage hasPreviousPage startCursor endCursor}}}}`;
      return (await tree.query<{ folder: { folders: Page } }>(query, { id: house }, authToken)).folder
        .folders;
    };
    const namesIn = ({ items }: Page) => items.map(({ name }) => Number(name.slice('Leaf '.length)));
    const has7 = (number: number) => String(number).includes('7');
    const sevens = numbers.filter(has7);

    test('contain all folders in order', async () => {
      assert.deepEqual(namesIn(await list('')), numbers);
      const seen = numbers.filter((number) => number !== hiddenNumber);
      assert.deepEqual(namesIn(await list('', readerToken)), seen);
    });

    test('can be paged from both ends', async () => {
      const first = await list('(first: 3000)');
      assert.deepEqual(namesIn(first), numbers.slice(0, 3_000));
      assert.deepEqual([first.pageInfo.hasNextPage, first.pageInfo.hasPreviousPage], [true, false]);
      const rest = await list(`(first: 3000, after: "${first.pageInfo.endCursor}")`);
      assert.deepEqual(namesIn(rest), numbers.slice(3_000));
      assert.deepEqual([rest.pageInfo.hasNextPage, rest.pageInfo.hasPreviousPage], [false, true]);
      const last = await list('(last: 3000)');
      assert.deepEqual(namesIn(last), numbers.slice(-3_000));
      const before = await list(`(last: 3000, before: "${last.pageInfo.startCursor}")`);
      assert.deepEqual(namesIn(before), numbers.slice(0, -3_000));
      assert.deepEqual(namesIn(await list('(first: 5, skip: 2200)')), numbers.slice(2_200, 2_205));
    });

    test('can be filtered and paged from both ends, with the count of the matches', async () => {
      const filter = 'filter: {nameContains: "7"}';
      const all = await list(`(${filter})`);
      assert.deepEqual(namesIn(all), sevens);
      assert.equal(all.totalCount, sevens.length);
      assert.deepEqual(namesIn(await list(`(first: 900, ${filter})`)), sevens.slice(0, 900));
      assert.deepEqual(namesIn(await list(`(last: 900, ${filter})`)), sevens.slice(-900));
      assert.deepEqual(namesIn(await list(`(first: 9, skip: 800, ${filter})`)), sevens.slice(800, 809));
      const page = await list(`(first: 700, ${filter})`);
      const next = await list(`(first: 9, after: "${page.pageInfo.endCursor}", ${filter})`);
      assert.deepEqual(namesIn(next), sevens.slice(700, 709));
      assert.ok(next.pageInfo.hasPreviousPage && next.pageInfo.hasNextPage);
      const previous = await list(`(last: 9, before: "${next.pageInfo.startCursor}", ${filter})`);
      assert.deepEqual(namesIn(previous), sevens.slice(691, 700));
      const rare = await list('(first: 2, filter: {nameContains: "leaf 4499"})', readerToken);
      assert.deepEqual([namesIn(rare), rare.totalCount], [[4_499], 1]);
    });

    for (const field of ['CREATED', 'UPDATED']) {
      test(`contain the matches of a filter in the order of ${field}`, async () => {
        const order = (direction: string) =>
          `orderBy: {field: ${field}, direction: ${direction}}, filter: {nameContains: "7"}`;
        const ascending = namesIn(await list(`(${order('ASC')})`));
        assert.deepEqual(
          ascending.toSorted((one, other) => one - other),
          sevens,
        );
        assert.deepEqual(namesIn(await list(`(${order('DESC')})`)), ascending.toReversed());
        assert.deepEqual(namesIn(await list(`(last: 5, ${order('ASC')})`)), ascending.slice(-5));
      });
    }

    test('let other requests run between their statements', async () => {
      const filters = Array.from(
        { length: 10 },
        (_, index) => `a${index}: folders(first: 1, filter: {nameContains: "x${index}"}){totalCount}`,
      );
      let rounds = 0;
      let isDone = false;
      const countRound = () => {
        rounds++;
        if (!isDone) setImmediate(countRound);
      };
      const roundOf: number[] = [];
      statements.length = 0;
      const push = statements.push.bind(statements);
      statements.push = (text) => (roundOf.push(rounds), push(text));
      countRound();
      try {
        await tree.query(`query($id: ID){folder(id: $id){${filters.join(' ')}}}`, { id: house }, readerToken);
      } finally {
        isDone = true;
        statements.push = push;
      }
      const perRound = [...Map.groupBy(roundOf, (round) => round).values()].map(({ length }) => length);
      assert.ok(roundOf.length > 40, String(roundOf.length));
      assert.ok(Math.max(...perRound) <= maxStatementsPerRound, perRound.join());
    });
  });
}
