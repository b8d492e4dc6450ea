/**
 * Kills a node on a database file at random moments under load and checks that no acknowledged change is
 * lost: `npm run lab -- crashes --kills N --seed N --log FILE`. Each start must be ready within two seconds.
 */

import { writeFileSync } from 'node:fs';
import { parseScriptOptions } from '../support/script-options.ts';
import { runCrashes } from './chaos/crashes.ts';

const readyTimeoutMs = 2_000;

const values = parseScriptOptions(
  'npm run lab -- crashes [--kills 100] [--seed N] [--log FILE]\n\nKills a node on a database file at random moments under load, and checks that no acknowledged change is lost.',
  ['kills', 'seed', 'log'],
);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
let isInterrupted = false;
process.once('SIGINT', () => (isInterrupted = true));

console.log(`seed ${seed}`);
const { violations, tally, logLines } = await runCrashes({
  kills: Number(values.kills ?? 100),
  nodes: 1,
  seed,
  onProgress: (text) => console.error(text),
  isOver: () => isInterrupted,
});
console.log(`\n${tally.summary()}\n`);
if (values.log) writeFileSync(values.log, logLines.join('\n'));
for (const violation of violations) console.log(`VIOLATION ${violation}`);
const starts = tally.timesOf('from start to ready');
const slow = starts.filter((ms) => ms > readyTimeoutMs).length;
console.log(
  `${slow} of ${starts.length} starts took longer than ${readyTimeoutMs / 1000} s to become ready.`,
);
console.log(
  `${violations.length === 0 ? 'Nothing was lost or undone' : 'There are violations'}, in ${tally.seconds.toFixed(0)} s.`,
);
process.exitCode = violations.length === 0 && slow === 0 ? 0 : 1;
