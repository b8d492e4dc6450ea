/** If several nodes refresh the same token concurrently, exactly one refresh succeeds. */

import { after, before, describe, test } from 'node:test';
import { postgres, type TestDatabase } from '../support/databases.ts';
import { selectLength } from '../support/run-length.ts';
import { startNodes, stopNodes, type NodeProcess } from './node-process.ts';
import { raceRefreshes, racerCount } from './refresh-race.ts';

const count = 3;
/** `npm run lab -- refresh-race` runs more rounds. */
const rounds = selectLength({ short: 8, long: 20 });

describe(`${racerCount} concurrent refreshes of one token over ${count} nodes on ${postgres.name}`, () => {
  let database: TestDatabase;
  let nodes: NodeProcess[] = [];
  before(async () => {
    database = await postgres.create();
    nodes = await startNodes(count, { databaseUrl: database.url });
  });
  after(async () => {
    await stopNodes(nodes);
    await database.remove();
  });

  test('succeed exactly once, and the new tokens are valid at every node', async () => {
    await raceRefreshes(nodes, rounds);
  });
});
