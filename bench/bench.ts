/**
 * Runs the races that are named, or all of them, and prints one table; studies run only by name.
 * `npm run bench -- root levels --rounds 3`
 */

import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { abuse } from './abuse.ts';
import { consoleScenario } from './console.ts';
import type { Outcome as RaceOutcome } from './floor/race.ts';
import { fields, raceNames, racesNamed, runRaces } from './floor/races.ts';
import { isRace, summariseRace, toRaceTable } from './floor/race-table.ts';
import { live } from './live.ts';
import { describeMachine } from './machine.ts';
import { summarise, type Measure, type Scenario } from './scenario.ts';
import { sizing } from './sizing.ts';
import { storm } from './storm.ts';
import { toTable } from './table.ts';

interface Outcome {
  readonly scenario: string;
  readonly notes: readonly string[];
  readonly measures: readonly Measure[];
}

const studies: readonly Scenario[] = [live, sizing, storm, abuse, consoleScenario];
const mostMinutes = 20;

const usage = `Usage: npm run bench -- [scenario …] [--rounds 7] [--requests 1000] [--json FILE]
                        [--sockets 5000] [--people 50] [--folders 1000000]

Without a scenario: all races against the floor.
${fields.map(({ name, entries }) => `  ${name}: ${entries.map((entry) => entry.name).join(', ')}`).join('\n')}
The name of a line stands for all of it. Studies run only by name: ${studies.map(({ name }) => name).join(', ')}.

--requests is the most of each side in a round, --json writes every round to a file. Sockets and people are of live,
folders of console.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sockets: { type: 'string', default: '5000' },
    people: { type: 'string', default: '50' },
    folders: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '7' },
    requests: { type: 'string', default: '1000000' },
    json: { type: 'string' },
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
const mostRequests = wholeNumber('requests');
const chosenRaces =
  positionals.length === 0 ? raceNames : positionals.flatMap((name) => racesNamed(name) ?? []);
const chosenStudies = positionals.filter((name) => !racesNamed(name)).map(studyOf);

const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => stopping.abort(new Error(`Stopped by ${name}.`)));
}
const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(mostMinutes * 60_000)]);

const raced = await race();
const outcomes: Outcome[] = [];
for (const study of chosenStudies) outcomes.push(await run(study));
console.log(tell());
if (values.json) writeFileSync(values.json, toJson());
for (const { scenario, measures } of outcomes) {
  for (const { name, unit, values: measured, below = Infinity } of measures) {
    if (measured.every((value) => value < below)) continue;
    console.error(`${scenario}: ${name} has to be less than ${below} ${unit}.`);
    process.exitCode = 1;
  }
}

async function race(): Promise<readonly RaceOutcome[]> {
  if (chosenRaces.length === 0) return [];
  const note = (text: string) => console.error(text);
  return runRaces(chosenRaces, { rounds: options.rounds, mostRequests, note, signal });
}

async function run(study: Scenario): Promise<Outcome> {
  const notes: string[] = [];
  const note = (text: string) => {
    notes.push(text);
    console.error(`${study.name}: ${text}`);
  };
  const measures = await study.run({ ...options, note, signal });
  return { scenario: study.name, notes, measures };
}

function toJson(): string {
  const races = raced.map((outcome) =>
    isRace(outcome) ? { ...outcome, summary: summariseRace(outcome) } : outcome,
  );
  const summarised = outcomes.map(({ measures, ...outcome }) => ({
    ...outcome,
    measures: measures.map((measure) => ({ ...measure, ...summarise(measure.values) })),
  }));
  return JSON.stringify({ machine: describeMachine(), races, outcomes: summarised }, null, 2);
}

function tell(): string {
  const { cores, processor, memoryGiB, node } = describeMachine();
  const measured = outcomes.flatMap(({ scenario, measures }) =>
    measures.map((measure) => ({ scenario, ...measure })),
  );
  return [
    '',
    `${cores} cores (${processor}), ${memoryGiB} GiB, Node ${node}. Times are of this machine at this hour; see bench/README.md.`,
    ...(raced.length > 0 ? ['', toRaceTable(raced)] : []),
    ...(measured.length > 0 ? ['', toTable(measured)] : []),
  ].join('\n');
}

function studyOf(name: string): Scenario {
  const found = studies.find((study) => study.name === name);
  return found ?? quit(`There is no scenario ${name}.\n${usage}`, 1);
}

function wholeNumber(name: 'sockets' | 'people' | 'folders' | 'rounds' | 'requests'): number {
  const number = Number(values[name]);
  if (Number.isInteger(number) && number >= 1) return number;
  quit(`--${name} takes a whole number of at least 1.\n${usage}`, 1);
}

function quit(text: string, exitCode: number): never {
  console.error(text);
  process.exit(exitCode);
}
