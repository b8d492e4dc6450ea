/** All races, and how those that are chosen are run: one after the other, each side on the same core. */

import { execFileSync } from 'node:child_process';
import { availableParallelism, loadavg } from 'node:os';
import { descendantsOf } from '../sizing-processes.ts';
import { changeField } from './changes.ts';
import { importField } from './import.ts';
import { LoadProcess } from './load-process.ts';
import { millionField } from './million.ts';
import type { Course, Field, Outcome } from './race.ts';
import { postgresField } from './postgres.ts';
import { readField } from './reads.ts';
import { startField } from './start.ts';
import { tokenField } from './tokens.ts';
import { uniqueField } from './unique.ts';
import { workerField } from './workers.ts';

export const fields: readonly Field[] = [
  readField,
  tokenField,
  changeField,
  importField,
  postgresField,
  millionField,
  uniqueField,
  workerField,
  startField,
];

export const raceNames: readonly string[] = fields.flatMap(({ entries }) => entries.map(({ name }) => name));

/** The races that a name stands for: itself, or all of its field. */
export function racesNamed(name: string): readonly string[] | undefined {
  if (raceNames.includes(name)) return [name];
  return fields.find((field) => field.name === name)?.entries.map((entry) => entry.name);
}

export interface RaceOptions {
  readonly rounds: number;
  readonly mostRequests: number;
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
}

export async function runRaces(chosen: readonly string[], options: RaceOptions): Promise<Outcome[]> {
  const [busy = 0] = loadavg();
  if (busy > 1)
    options.note(`this machine has other work (load ${busy.toFixed(1)}): the ratios are less certain`);
  const pinTo = findCores(options.note);
  const load = new LoadProcess(options.signal);
  pinTo(load.pid, loadCore);
  const course: Course = {
    ...options,
    load,
    pin: (pid) => pinTo(pid, sidesCore),
    pinAside: (pid) => pinTo(pid, loadCore),
  };
  const outcomes: Outcome[] = [];
  try {
    for (const field of fields) {
      if (!field.entries.some(({ name }) => chosen.includes(name))) continue;
      let start = performance.now();
      for await (const outcome of field.run(chosen, course)) {
        outcomes.push(outcome);
        options.note(
          `${nameOf(outcome)} is over, after ${((performance.now() - start) / 1000).toFixed(0)} s`,
        );
        start = performance.now();
      }
    }
  } finally {
    await load.stop();
  }
  return outcomes;
}

export function nameOf(outcome: Outcome): string {
  return 'race' in outcome ? outcome.race.name : outcome.report.name;
}

const sidesCore = 0;
const loadCore = 1;

/** https://man7.org/linux/man-pages/man1/taskset.1.html; with all threads, and those that come later are of the same. */
function findCores(note: (text: string) => void): (pid: number, core: number) => void {
  const pinOne = (pid: number, core: number) =>
    void execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(core), String(pid)], {
      stdio: 'ignore',
    });
  const cannot = (why: string) => {
    note(`${why}: server and load share the cores as they come`);
    return () => undefined;
  };
  if (availableParallelism() < 2) return cannot('there is one core only');
  try {
    execFileSync('taskset', ['--cpu-list', '--pid', String(process.pid)], { stdio: 'ignore' });
    return (pid, core) => [pid, ...descendantsOf(pid)].forEach((each) => pinOne(each, core));
  } catch {
    return cannot('there is no taskset');
  }
}
