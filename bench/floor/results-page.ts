/** The outcomes of several runs as a page: every run's median, the range over all rounds, and what is reached. */

import { summarise, type Summary } from '../scenario.ts';
import type { describeMachine } from '../machine.ts';
import type { Outcome, Race, RaceOutcome, Report, ReportOutcome } from './race.ts';
import { isAimMet, isRace, isReport, marked, summariseRace, toNumber, toRatio } from './race-table.ts';
import { nameOf } from './races.ts';
import { whyShort } from './shortfalls.ts';

export interface Circumstances {
  readonly machine: ReturnType<typeof describeMachine>;
  readonly commit: string;
  /** How many processes wanted to run, on average, before the first. */
  readonly load: number;
  readonly date: Date;
  readonly minutes: number;
}

/** The outcomes of each run; every run has the same scenarios. */
export function toResultsPage(runs: readonly (readonly Outcome[])[], around: Circumstances): string {
  const { machine, commit, load, date, minutes } = around;
  const byName = Map.groupBy(runs.flat(), nameOf);
  const races = [...byName.values()].map((each) => each.filter(isRace)).filter(({ length }) => length > 0);
  const reports = [...byName.values()]
    .map((each) => each.filter(isReport))
    .filter(({ length }) => length > 0);
  return `# Results

Made by \`npm run bench:results\`: ${runs.length} runs one after the other, ${minutes.toFixed(0)} minutes in all, on ${date.toISOString().slice(0, 10)}.
[README.md](README.md) tells how to read it.

- Commit: ${commit}
- Machine: ${machine.cores} cores (${machine.processor}), ${machine.memoryGiB} GiB of memory, ${machine.kernel}
- Node ${machine.node}
- Load of the machine before the first run: ${load.toFixed(1)}

${toTable(
  [
    'scenario',
    'ours µs',
    'floor µs',
    'ratio',
    'of each run, with its range',
    'at least',
    'aim',
    'ours/s',
    'p50 ms',
    'p99 ms',
  ],
  races.map(raceLine),
)}

${toTable(['scenario', 'median', 'of each run, with its range', 'aim', 'unit'], reports.map(reportLine))}

## What is short of its aim, and why

${shortfalls(races, reports)}

## What is raced

${toTable(
  ['scenario', 'ours', 'the floor'],
  races.map(([first]) => describeRace(first!.race)),
)}

${toTable(
  ['scenario', 'what is measured'],
  reports.map(([first]) => describeReport(first!.report)),
)}
`;
}

function shortfalls(
  races: readonly (readonly RaceOutcome[])[],
  reports: readonly (readonly ReportOutcome[])[],
): string {
  const short = [
    ...races
      .filter((outcomes) => ratioOf(outcomes) < Math.max(...targetsOf(outcomes[0]!.race)))
      .map(([first]) => first!.race.name),
    ...reports
      .filter((outcomes) => !isAimMet(outcomes[0]!.report, medianOf(outcomes)))
      .map(([first]) => first!.report.name),
  ];
  return short.map((name) => `- **${name}**: ${whyShort(name)}`).join('\n') || 'Nothing.';
}

function targetsOf({ atLeast = 0, aim = 0 }: Race): number[] {
  return [atLeast, aim];
}

function ratioOf(outcomes: readonly RaceOutcome[]): number {
  return summarise(outcomes.map((each) => summariseRace(each).ratio.median)).median;
}

function medianOf(outcomes: readonly ReportOutcome[]): number {
  return summarise(outcomes.map(({ values }) => summarise(values).median)).median;
}

/** The figures are medians of the runs' medians. */
function raceLine(outcomes: readonly RaceOutcome[]): string[] {
  const { name, atLeast, aim } = outcomes[0]!.race;
  const summaries = outcomes.map(summariseRace);
  const median = (of: (summary: (typeof summaries)[number]) => number) => summarise(summaries.map(of)).median;
  const ratio = ratioOf(outcomes);
  const isWaitedFor = summaries.every(({ p50Ms }) => p50Ms !== undefined);
  return [
    name,
    toNumber(median((each) => each.oursCpu.median)),
    toNumber(median((each) => each.floorCpu.median)),
    toRatio(ratio),
    summaries.map((each) => withRange(each.ratio, toRatio)).join(', '),
    marked(atLeast, (atLeast ?? 0) <= ratio),
    marked(aim, (aim ?? 0) <= ratio),
    toNumber(median((each) => each.oursPerSecond)),
    isWaitedFor ? median((each) => each.p50Ms!).toFixed(2) : '',
    isWaitedFor ? median((each) => each.p99Ms!).toFixed(2) : '',
  ];
}

function reportLine(outcomes: readonly ReportOutcome[]): string[] {
  const { report } = outcomes[0]!;
  const summaries = outcomes.map(({ values }) => summarise(values));
  const median = medianOf(outcomes);
  return [
    report.name,
    toNumber(median),
    summaries.map((each) => withRange(each, toNumber)).join(', '),
    marked(report.aim, isAimMet(report, median)),
    report.unit,
  ];
}

function withRange({ median, least, most }: Summary, toText: (value: number) => string): string {
  return `${toText(median)} (${toText(least)} to ${toText(most)})`;
}

function describeRace({ name, about, floor }: Race): string[] {
  return [name, about, floor];
}

function describeReport({ name, about }: Report): string[] {
  return [name, about];
}

function toTable(head: readonly string[], lines: readonly (readonly string[])[]): string {
  if (lines.length === 0) return '';
  const toLine = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [toLine(head), toLine(head.map(() => '---')), ...lines.map(toLine)].join('\n');
}
