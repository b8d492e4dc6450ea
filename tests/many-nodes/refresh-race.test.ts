/** However many refreshes of one token arrive at the same instant, and at whichever nodes, exactly one wins. */

import { after, before, describe, test } from 'node:test';
import { postgres, type TestDatabase } from '../databases.ts';
import { lengthOf } from '../run-length.ts';
import { startNodes, stopNodes, type NodeProcess } from './node-process.ts';
import { raceRefreshes, racers } from './refresh-race.ts';

const count = 3;
/** `npm run measure:refresh-race` runs more. */
const rounds = lengthOf({ short: 8, long: 20 });

describe(`racing refreshes over ${count} nodes on ${postgres.name}`, () => {
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

  test(`of ${racers} at the same instant exactly one gets 200, and its pair is good everywhere`, async () => {
    await raceRefreshes(nodes, rounds);
  });
});
