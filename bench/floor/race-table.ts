/** Outcomes of races as lines of text, and what they come to. */

import { summarise, type Summary } from '../scenario.ts';
import { alignLines } from '../table.ts';
import type { Shot } from './contestant.ts';
import type { Outcome, RaceOutcome, Report, ReportOutcome } from './race.ts';

export interface RaceSummary {
  /** The floor's CPU divided by ours, round by round. */
  readonly ratio: Summary;
  /** Microseconds of CPU for a request. */
  readonly oursCpu: Summary;
  readonly floorCpu: Summary;
  readonly oursPerSecond: number;
  readonly floorPerSecond: number;
  readonly p50Ms?: number;
  readonly p99Ms?: number;
}

export function isRace(outcome: Outcome): outcome is RaceOutcome {
  return 'race' in outcome;
}

export function isReport(outcome: Outcome): outcome is ReportOutcome {
  return 'report' in outcome;
}

export function summariseRace({ rounds }: RaceOutcome): RaceSummary {
  const median = (values: readonly number[]) => summarise(values).median;
  const perSecond = ({ requests, elapsedMs }: Shot) => (requests / elapsedMs) * 1000;
  const isWaitedFor = rounds.every(({ ours }) => ours.p50Ms !== undefined);
  return {
    ratio: summarise(rounds.map(({ ours, floor }) => cpuOf(floor) / cpuOf(ours))),
    oursCpu: summarise(rounds.map(({ ours }) => cpuOf(ours))),
    floorCpu: summarise(rounds.map(({ floor }) => cpuOf(floor))),
    oursPerSecond: median(rounds.map(({ ours }) => perSecond(ours))),
    floorPerSecond: median(rounds.map(({ floor }) => perSecond(floor))),
    ...(isWaitedFor && {
      p50Ms: median(rounds.map(({ ours }) => ours.p50Ms!)),
      p99Ms: median(rounds.map(({ ours }) => ours.p99Ms!)),
    }),
  };
}

export function toRaceTable(outcomes: readonly Outcome[]): string {
  const races = outcomes.filter(isRace);
  const reports = outcomes.filter(isReport);
  const raceLines = [
    [
      'scenario',
      'ours µs',
      'floor µs',
      'ratio',
      'range',
      'at least',
      'aim',
      'ours/s',
      'floor/s',
      'p50 ms',
      'p99 ms',
    ],
    ...races.map(raceLine),
  ];
  const reportLines = [['scenario', 'median', 'range', 'aim', 'unit'], ...reports.map(reportLine)];
  return [
    ...(races.length > 0 ? [alignLines(raceLines, 1)] : []),
    ...(reports.length > 0 ? [alignLines(reportLines, 1)] : []),
  ].join('\n\n');
}

function raceLine(outcome: RaceOutcome): string[] {
  const { ratio, oursCpu, floorCpu, oursPerSecond, floorPerSecond, p50Ms, p99Ms } = summariseRace(outcome);
  const { name, atLeast, aim } = outcome.race;
  return [
    name,
    toNumber(oursCpu.median),
    toNumber(floorCpu.median),
    toRatio(ratio.median),
    `${toRatio(ratio.least)}–${toRatio(ratio.most)}`,
    marked(atLeast, (atLeast ?? 0) <= ratio.median),
    marked(aim, (aim ?? 0) <= ratio.median),
    toNumber(oursPerSecond),
    toNumber(floorPerSecond),
    p50Ms === undefined ? '' : p50Ms.toFixed(2),
    p99Ms === undefined ? '' : p99Ms.toFixed(2),
  ];
}

function reportLine({ report, values }: ReportOutcome): string[] {
  const { median, least, most } = summarise(values);
  const { name, aim, unit } = report;
  return [
    name,
    toNumber(median),
    `${toNumber(least)}–${toNumber(most)}`,
    marked(aim, isAimMet(report, median)),
    unit,
  ];
}

export function isAimMet({ aim = 0, isAimLeast }: Report, value: number): boolean {
  return isAimLeast ? value >= aim : value <= aim;
}

/** A figure, and whether it is reached. */
export function marked(target: number | undefined, isMet: boolean): string {
  return target === undefined ? '' : `${target} ${isMet ? '✓' : '✗'}`;
}

/** Never rounded up: what is short of a target does not look like it. */
export function toRatio(value: number): string {
  return (Math.floor(value * 100) / 100).toFixed(2);
}

export function toNumber(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) < 100 ? 1 : 0 });
}

function cpuOf({ cpuMicroseconds, requests }: Shot): number {
  return cpuMicroseconds / requests;
}
