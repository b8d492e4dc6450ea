/**
 * A large tree costs what a small one costs: the same statements, and an index answers each. The cost itself is
 * measured by `npm run measure:tree`.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds, type DatabaseKind } from '../support/databases.ts';
import { findEstate, letterOrders, plantEstate, type Ask, type Estate } from './estate.ts';
import { noteStatistics, planOf } from './plans.ts';
import { scenarios, type Scenario } from './scenarios.ts';
import { shapeEstate } from './tree-shape.ts';
import { PeopleTestbed } from '../people/people-testbed.ts';

interface Planted {
  readonly people: PeopleTestbed;
  readonly estate: Estate;
  /** The administrator's auth token, and that of somebody with one grant. */
  readonly authTokens: readonly string[];
  readonly statements: string[];
}

const indexOfOrder = {
  NAME: 'folders_in_order',
  CREATED: 'folders_by_creation',
  UPDATED: 'folders_by_update',
};

for (const kind of databaseKinds) {
  describe(`20,000 folders on ${kind.name}`, () => {
    let small: Planted;
    let large: Planted;
    before(async () => {
      small = await plant(kind, 1_000);
      large = await plant(kind, 20_000);
      await noteStatistics(kind, large.people.testbed.database.url);
    });
    after(async () => {
      await small.people.stop();
      await large.people.stop();
    });

    ['the administrator', 'somebody with one grant'].forEach((viewer, place) => {
      for (const scenario of scenarios) {
        test(`take the statements of 1,000 for ${viewer}, and no scan: ${scenario.name}`, async () => {
          const expected = await run(small, scenario, place);
          const { answer, statements } = await run(large, scenario, place);
          assert.deepEqual(shapeOf(answer), shapeOf(expected.answer));
          assert.deepEqual(statements, expected.statements);
          for (const statement of new Set(statements)) {
            const { scans } = await planOf(kind, large.people.testbed.database.url, statement);
            assert.deepEqual(scans, [], statement);
          }
        });
      }
    });

    for (const [place, order] of letterOrders.entries()) {
      test(`are chosen for a page by ${order} from the index of that order, without sorting them`, async () => {
        const { statements } = await run(large, scenarios[place]!, 0);
        const choosing = statements.find((text) => /parent_id = (each\.value|\?)/.test(text))!;
        const { choice } = await planOf(kind, large.people.testbed.database.url, choosing);
        assert.deepEqual(choice, [indexOfOrder[order]]);
      });
    }
  });
}

async function plant(kind: DatabaseKind, size: number): Promise<Planted> {
  const statements: string[] = [];
  const people = await PeopleTestbed.start(kind, { onStatement: (text) => statements.push(text) });
  const ask: Ask = (query, variables) => people.query(query, variables);
  const shape = shapeEstate(size);
  const id = await plantEstate(ask, shape);
  const estate = await findEstate(ask, id, shape);
  const person = await people.createUser();
  await people.mutate('grantAccess', { folderId: id, userId: person.id, level: 'WRITE' }, 'folder{id}');
  const { authToken } = await people.logIn(person);
  return { people, estate, authTokens: [people.authToken, authToken], statements };
}

async function run({ people, estate, authTokens, statements }: Planted, scenario: Scenario, viewer: number) {
  const ask: Ask = (query, variables) => people.query(query, variables, authTokens[viewer]);
  statements.length = 0;
  const answer = await scenario.request(ask, estate, viewer);
  return { answer, statements: [...statements] };
}

/** What an answer is made of, without its values. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]));
}
