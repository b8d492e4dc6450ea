/**
 * Nodes and their database are killed and restarted under load, and nothing that was acknowledged may be lost:
 * `npm run chaos -- --rounds N --seed N --minutes M --log FILE`. A round kills each node and restarts PostgreSQL once.
 */

import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runChaos } from './chaos/faults.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    nodes: { type: 'string', default: '3' },
    seed: { type: 'string' },
    minutes: { type: 'string', default: '30' },
    log: { type: 'string' },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const deadline = performance.now() + Number(values.minutes) * 60_000;
let isInterrupted = false;
process.once('SIGINT', () => (isInterrupted = true));

console.log(`seed ${seed}`);
const { violations, tally, logLines } = await runChaos({
  nodes: Number(values.nodes),
  rounds: Number(values.rounds),
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
