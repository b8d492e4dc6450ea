/** Runs the scenarios that are named, or all, and prints one table. `npm run bench -- live --sockets 5000 --json` */

import { availableParallelism, cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { consoleScenario } from './console.ts';
import { live } from './live.ts';
import { summarise, type Measure, type Scenario } from './scenario.ts';
import { sizing } from './sizing.ts';
import { storm } from './storm.ts';
import { toTable } from './table.ts';

interface Outcome {
  readonly scenario: string;
  readonly notes: readonly string[];
  readonly measures: readonly Measure[];
}

const scenarios: readonly Scenario[] = [live, sizing, storm, consoleScenario];
const mostMinutes = 20;

const usage =
  'Usage: npm run bench -- [scenario …] [--sockets 5000] [--people 50] [--folders 1000000] [--rounds 7] [--json]';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sockets: { type: 'string', default: '5000' },
    people: { type: 'string', default: '50' },
    folders: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '7' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) quit(usage, 0);
const options = {
  sockets: wholeNumber('sockets'),
  people: wholeNumber('people'),
  folders: wholeNumber('folders'),
  rounds: wholeNumber('rounds'),
};
const chosen = positionals.length === 0 ? scenarios : positionals.map(scenarioOf);

const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => stopping.abort(new Error(`Stopped by ${name}.`)));
}
const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(mostMinutes * 60_000)]);

const outcomes: Outcome[] = [];
for (const scenario of chosen) outcomes.push(await run(scenario));
console.log(values.json ? toJson(outcomes) : tell(outcomes));
for (const { scenario, measures } of outcomes) {
  for (const { name, unit, values: measured, below = Infinity } of measures) {
    if (measured.every((value) => value < below)) continue;
    console.error(`${scenario}: ${name} has to be less than ${below} ${unit}.`);
    process.exitCode = 1;
  }
}

async function run(scenario: Scenario): Promise<Outcome> {
  const notes: string[] = [];
  const note = (text: string) => {
    notes.push(text);
    console.error(`${scenario.name}: ${text}`);
  };
  const measures = await scenario.run({ ...options, note, signal });
  return { scenario: scenario.name, notes, measures };
}

function toJson(done: readonly Outcome[]): string {
  const summarised = done.map(({ measures, ...outcome }) => ({
    ...outcome,
    measures: measures.map((measure) => ({ ...measure, ...summarise(measure.values) })),
  }));
  return JSON.stringify({ machine: describeMachine(), outcomes: summarised }, null, 2);
}

function tell(done: readonly Outcome[]): string {
  const { cores, processor, memoryGiB, node } = describeMachine();
  return [
    '',
    `${cores} cores (${processor}), ${memoryGiB} GiB, Node ${node}. Times are of this machine at this hour; see bench/README.md.`,
    '',
    toTable(done.flatMap(({ scenario, measures }) => measures.map((measure) => ({ scenario, ...measure })))),
  ].join('\n');
}

function describeMachine() {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
  };
}

function scenarioOf(name: string): Scenario {
  const found = scenarios.find((scenario) => scenario.name === name);
  if (found) return found;
  const known = scenarios.map((scenario) => scenario.name).join(', ');
  quit(`There is no scenario ${name}. There are: ${known}.\n${usage}`, 1);
}

function wholeNumber(name: 'sockets' | 'people' | 'folders' | 'rounds'): number {
  const number = Number(values[name]);
  if (Number.isInteger(number) && number >= 1) return number;
  quit(`--${name} takes a whole number of at least 1.\n${usage}`, 1);
}

function quit(text: string, exitCode: number): never {
  console.error(text);
  process.exit(exitCode);
}
