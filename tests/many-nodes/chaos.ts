/**
 * Kills and restarts nodes and their database under load and checks that no acknowledged change is lost: `npm
 * run lab -- chaos --rounds N --seed N --minutes M --log FILE`. A round kills each node and restarts
 * PostgreSQL once.
 */

import { writeFileSync } from 'node:fs';
import { parseScriptOptions } from '../support/script-options.ts';
import { runChaos } from './chaos/faults.ts';

const {
  rounds = '5',
  nodes = '3',
  minutes = '30',
  ...values
} = parseScriptOptions(
  'npm run lab -- chaos [--rounds 5] [--nodes 3] [--seed N] [--minutes 30] [--log FILE]\n\nKills nodes and their PostgreSQL under load, and checks that no acknowledged change is lost.',
  ['rounds', 'nodes', 'seed', 'minutes', 'log'],
);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const deadline = performance.now() + Number(minutes) * 60_000;
let isInterrupted = false;
process.once('SIGINT', () => (isInterrupted = true));

console.log(`seed ${seed}`);
const { violations, tally, logLines } = await runChaos({
  nodes: Number(nodes),
  rounds: Number(rounds),
  restarts: 1,
  isThorough: true,
  pauseMs: 2_000,
  seed,
  onProgress: (text) => console.log(text),
  isOver: () => isInterrupted || performance.now() > deadline,
});
console.log(`\n${tally.summary()}\n`);
if (values.log) writeFileSync(values.log, logLines.join('\n'));
for (const violation of violations) console.log(`VIOLATION ${violation}`);
console.log(
  `${violations.length === 0 ? 'Nothing was lost' : 'There are violations'}, in ${tally.seconds.toFixed(0)} s.`,
);
process.exitCode = violations.length === 0 ? 0 : 1;
