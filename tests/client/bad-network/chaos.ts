/** A long run of the client on a bad network: `npm run lab -- chaos-client --operations N --seed N --percent P`. */

import { sqlite } from '../../support/databases.ts';
import { parseScriptOptions } from '../../support/script-options.ts';
import { runOnBadNetwork } from './bad-network-run.ts';

const {
  operations = '5000',
  percent = '15',
  restarts = '3',
  ...values
} = parseScriptOptions(
  `npm run lab -- chaos-client [--operations 5000] [--percent 15] [--restarts 3] [--seed N]

Run the TypeScript client on a network that drops, delays and truncates replies and closes sockets. Auth tokens expire
after two seconds, and the server restarts several times. No call may fail, the server must apply each change once, and
the watched tree must match the server at the end.`,
  ['operations', 'percent', 'restarts', 'seed'],
);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));

console.log(`seed ${seed} on ${sqlite.name}`);
const tally = await runOnBadNetwork({
  kind: sqlite,
  operations: Number(operations),
  percent: Number(percent),
  restarts: Number(restarts),
  seed,
  onProgress: (text) => console.log(text),
});
console.log(`\n${tally.summary()}\n`);
for (const violation of tally.violations) console.log(`VIOLATION ${violation}`);
const isGood = tally.violations.length === 0;
console.log(
  `${isGood ? 'The network caused no failure' : 'There are violations'} after ${tally.seconds.toFixed(0)} s.`,
);
process.exitCode = isGood ? 0 : 1;
