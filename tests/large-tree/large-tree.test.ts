/**
 * Reads of a large tree run the same statements as those of a small tree, and each uses an index. `npm run lab -- large-tree`
 * measures the cost.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds, type DatabaseKind } from '../support/databases.ts';
import { findEstate, letterOrders, createEstate, type RunQuery, type Estate } from './estate.ts';
import { updateStatistics, readPlan } from './plans.ts';
import { scenarios, type Scenario } from './scenarios.ts';
import { shapeEstate } from './tree-shape.ts';
import { PeopleTestbed } from '../people/people-testbed.ts';

interface CreatedEstate {
  readonly people: PeopleTestbed;
  readonly estate: Estate;
  /** The auth tokens of the administrator and of a user with one grant. */
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
    let small: CreatedEstate;
    let large: CreatedEstate;
    before(async () => {
      small = await createEstateOn(kind, 1_000);
      large = await createEstateOn(kind, 20_000);
      await updateStatistics(kind, large.people.server.database.url);
    });
    after(async () => {
      await small.people.stop();
      await large.people.stop();
    });

    ['the administrator', 'a user with one grant'].forEach((viewer, index) => {
      for (const scenario of scenarios) {
        test(`need the same statements as 1,000 folders for ${viewer}, without a scan: ${scenario.name}`, async () => {
          const expected = await run(small, scenario, index);
          const { answer, statements } = await run(large, scenario, index);
          assert.deepEqual(shapeOf(answer), shapeOf(expected.answer));
          assert.deepEqual(statements, expected.statements);
          for (const statement of new Set(statements)) {
            const { scans } = await readPlan(kind, large.people.server.database.url, statement);
            assert.deepEqual(scans, [], statement);
          }
        });
      }
    });

    for (const [index, order] of letterOrders.entries()) {
      test(`use the index of ${order} for a page in that order, without sorting`, async () => {
        const { statements } = await run(large, scenarios[index]!, 0);
        const pageStatement = statements.find((text) => /parent_id = (each\.value|\?)/.test(text))!;
        const { pageSteps } = await readPlan(kind, large.people.server.database.url, pageStatement);
        assert.deepEqual(pageSteps, [indexOfOrder[order]]);
      });
    }
  });
}

async function createEstateOn(kind: DatabaseKind, size: number): Promise<CreatedEstate> {
  const statements: string[] = [];
  const people = await PeopleTestbed.start(kind, { onStatement: (text) => statements.push(text) });
  const query: RunQuery = (query, variables) => people.query(query, variables);
  const shape = shapeEstate(size);
  const id = await createEstate(query, shape);
  const estate = await findEstate(query, id, shape);
  const person = await people.createUser();
  await people.mutate('grantAccess', { folderId: id, userId: person.id, level: 'WRITE' }, 'folder{id}');
  const { authToken } = await people.logIn(person);
  return { people, estate, authTokens: [people.authToken, authToken], statements };
}

async function run(
  { people, estate, authTokens, statements }: CreatedEstate,
  scenario: Scenario,
  viewer: number,
) {
  const query: RunQuery = (query, variables) => people.query(query, variables, authTokens[viewer]);
  statements.length = 0;
  const answer = await scenario.request(query, estate, viewer);
  return { answer, statements: [...statements] };
}

/** Returns the structure of a response without its values. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]));
}
