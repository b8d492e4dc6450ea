/** Runs all races three times, and writes what they came to into bench/RESULTS.md. `npm run bench:results` */

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { describeMachine } from '../machine.ts';
import { raceNames, racesNamed, runRaces } from './races.ts';
import type { Outcome } from './race.ts';
import { toResultsPage } from './results-page.ts';

const file = fileURLToPath(new URL('../RESULTS.md', import.meta.url));
const runs = 3;
const mostMinutes = 60;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '7' }, requests: { type: 'string', default: '1000000' } },
});
const chosen = positionals.length === 0 ? raceNames : positionals.flatMap((name) => racesNamed(name) ?? []);
if (chosen.length === 0) throw new Error(`There are: ${raceNames.join(', ')}.`);

const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => stopping.abort(new Error(`Stopped by ${name}.`)));
}
const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(mostMinutes * 60_000)]);
const start = performance.now();
const [load = 0] = loadavg();
const done: Outcome[][] = [];
for (let run = 1; run <= runs; run++) {
  const note = (text: string) => console.error(`run ${run} of ${runs}: ${text}`);
  const [rounds, mostRequests] = [Number(values.rounds), Number(values.requests)];
  done.push(await runRaces(chosen, { rounds, mostRequests, note, signal }));
}
const page = toResultsPage(done, {
  machine: describeMachine(),
  commit: commit(),
  load,
  date: new Date(Date.now()),
  minutes: (performance.now() - start) / 60_000,
});
writeFileSync(file, await format(page, { ...(await resolveConfig(file)), parser: 'markdown' }));
console.error('bench/RESULTS.md is written.');

function commit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain', '--', ':!bench/RESULTS.md');
  return git('rev-parse', '--short=12', 'HEAD') + (changed ? ', with changes that are not committed' : '');
}
