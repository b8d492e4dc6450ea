/**
 * `npm run lab -- refresh-race --rounds N` repeats the race of refresh-race.test.ts more often and prints the
 * wins of each node.
 */

import { postgres } from '../support/databases.ts';
import { withPostgres } from '../postgres/provided-postgres.ts';
import { parseScriptOptions } from '../support/script-options.ts';
import { startNodes, stopNodes } from './node-process.ts';
import { raceRefreshes, racerCount } from './refresh-race.ts';

const values = parseScriptOptions(
  'npm run lab -- refresh-race [--rounds 200] [--nodes 3]\n\nRefreshes one token concurrently on several nodes, and checks that exactly one request succeeds.',
  ['rounds', 'nodes'],
);
const [rounds, count] = [Number(values.rounds ?? 200), Number(values.nodes ?? 3)];

await withPostgres(async () => {
  const database = await postgres.create();
  try {
    const nodes = await startNodes(count, { databaseUrl: database.url });
    try {
      const began = performance.now();
      const { wins } = await raceRefreshes(nodes, rounds, (round) => {
        if ((round + 1) % 50 === 0) console.log(`${round + 1} rounds`);
      });
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      console.log(
        `${rounds} rounds of ${racerCount} refreshes over ${count} nodes: one winner each, ${seconds} s.`,
      );
      console.log(`Won by node: ${wins.join(', ')}.`);
    } finally {
      await stopNodes(nodes);
    }
  } finally {
    await database.remove();
  }
});
