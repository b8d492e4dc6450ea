/**
 * Random runs, one after another until one fails, which is then made as small as possible:
 * `--seed N --steps N --minutes M`. With a seed, that one run.
 */

import { parseArgs } from 'node:util';
import { databaseKinds, type DatabaseKind } from './databases.ts';
import { withPostgres } from './postgres/provided-postgres.ts';
import type { Failure, Shrinking } from './shrink.ts';

export interface Fuzzed<Operation> {
  /** The npm script. */
  readonly command: string;
  /** What it means that a run fails. */
  readonly failing: string;
  readonly run: (
    kind: DatabaseKind,
    seed: number,
    limits: { readonly steps: number; readonly isOver: () => boolean },
  ) => Promise<{ readonly steps: number; readonly summary: string; readonly failure?: Failure<Operation> }>;
  readonly shrink: (
    kind: DatabaseKind,
    failure: Failure<Operation>,
    shrinking: Shrinking<Operation>,
  ) => Promise<Failure<Operation>>;
  readonly describe: (failure: Failure<Operation>) => string;
}

const shrinkMinutes = 5;
const greatestSeed = 2 ** 31 - 1;

/** Runs until it is told to stop; the process's exit code tells whether all went well. */
export async function fuzz<Operation>(fuzzed: Fuzzed<Operation>): Promise<void> {
  const { seed: given, steps, minutes } = readOptions();
  const began = performance.now();
  let isInterrupted = false;
  let runs = 0;
  let taken = 0;
  process.once('SIGINT', () => (isInterrupted = true));
  const isOver = () => isInterrupted || minutesSince(began) >= minutes;

  process.exitCode = (await withPostgres(runAll)) ? 0 : 1;
  console.log(`${runs} runs, ${taken} steps, ${minutesSince(began).toFixed(1)} minutes.`);

  /** Answers whether all of them went well. */
  async function runAll(): Promise<boolean> {
    for (let seed = given ?? Math.floor(Math.random() * greatestSeed); ; seed++) {
      for (const kind of databaseKinds) if (await runOne(kind, seed)) return false;
      if (given !== undefined || isOver()) return true;
    }
  }

  async function runOne(kind: DatabaseKind, seed: number): Promise<Failure<Operation> | undefined> {
    const start = performance.now();
    const result = await fuzzed.run(kind, seed, { steps, isOver });
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`seed ${seed} on ${kind.name}: ${result.steps} steps, ${result.summary}, ${seconds} s`);
    runs++;
    taken += result.steps;
    const { failure } = result;
    if (!failure) return undefined;
    console.log(`\n${fuzzed.failing} at ${fuzzed.describe(failure)}`);
    console.log(`\nTo try it again: npm run ${fuzzed.command} -- --seed ${seed} --steps ${steps}`);
    await showSmallest(kind, failure);
    return failure;
  }

  async function showSmallest(kind: DatabaseKind, failure: Failure<Operation>): Promise<void> {
    const start = performance.now();
    console.log(`Looking for fewer operations that do it, for ${shrinkMinutes} minutes at most.`);
    const smallest = await fuzzed.shrink(kind, failure, {
      isTimeUp: () => isInterrupted || minutesSince(start) >= shrinkMinutes,
      onProgress: ({ operations }) => console.log(`${operations.length} are enough.`),
    });
    for (const operation of smallest.operations) console.log(JSON.stringify(operation));
    console.log(fuzzed.describe(smallest));
  }
}

function readOptions(): { seed: number | undefined; steps: number; minutes: number } {
  const { values } = parseArgs({
    options: { seed: { type: 'string' }, steps: { type: 'string' }, minutes: { type: 'string' } },
  });
  const given = {
    seed: values.seed === undefined ? undefined : Number(values.seed),
    steps: Number(values.steps ?? '1000'),
    minutes: Number(values.minutes ?? 'Infinity'),
  };
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value >= 0) continue;
    console.error(`--${name} must be a number from 0 up.`);
    process.exit(2);
  }
  return given;
}

function minutesSince(then: number): number {
  return (performance.now() - then) / 60_000;
}
