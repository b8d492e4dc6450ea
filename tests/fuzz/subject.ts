/** Something that is tried at random: a seed makes a run on a database, and a run that fails is made as small as possible. */

import type { DatabaseKind } from '../support/databases.ts';
import type { Failure, Shrinking } from './shrink.ts';

export interface Fuzzed<Operation> {
  /** As it is named on the command line. */
  readonly name: string;
  /** What it means that a run fails. */
  readonly failing: string;
  /** Of a run, unless told. */
  readonly steps: number;
  readonly run: (
    kind: DatabaseKind,
    seed: number,
    limits: Limits,
  ) => Promise<{ readonly steps: number; readonly summary: string; readonly failure?: Failure<Operation> }>;
  readonly shrink: (
    kind: DatabaseKind,
    failure: Failure<Operation>,
    shrinking: Shrinking<Operation>,
  ) => Promise<Failure<Operation>>;
  readonly describe: (failure: Failure<Operation>) => string;
}

export interface Limits {
  readonly steps: number;
  readonly isOver: () => boolean;
}

/** Whatever its operations are. */
export interface Subject {
  readonly name: string;
  readonly steps: number;
  /** One run; what fails is told on the standard output. */
  readonly runOne: (
    kind: DatabaseKind,
    seed: number,
    limits: Limits & { readonly isInterrupted: () => boolean },
  ) => Promise<{ readonly steps: number; readonly isGood: boolean }>;
}

const shrinkMinutes = 5;

export function subjectOf<Operation>(fuzzed: Fuzzed<Operation>): Subject {
  const { name, steps } = fuzzed;
  return {
    name,
    steps,
    async runOne(kind, seed, limits) {
      const start = performance.now();
      const result = await fuzzed.run(kind, seed, limits);
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      const counted = `${result.steps} steps, ${result.summary}, ${seconds} s`;
      console.log(`${name}, seed ${seed} on ${kind.name}: ${counted}`);
      const { failure } = result;
      if (!failure) return { steps: result.steps, isGood: true };
      console.log(`\n${fuzzed.failing} at ${fuzzed.describe(failure)}`);
      console.log(`\nTo try it again: ${againBy(name, seed, limits.steps)}`);
      await showSmallest(fuzzed, kind, failure, limits.isInterrupted);
      return { steps: result.steps, isGood: false };
    },
  };
}

export function againBy(name: string, seed: number, steps: number): string {
  return `npm run fuzz -- ${name} --seed ${seed} --steps ${steps}`;
}

async function showSmallest<Operation>(
  { shrink, describe }: Fuzzed<Operation>,
  kind: DatabaseKind,
  failure: Failure<Operation>,
  isInterrupted: () => boolean,
): Promise<void> {
  const start = performance.now();
  console.log(`Looking for fewer operations that do it, for ${shrinkMinutes} minutes at most.`);
  const smallest = await shrink(kind, failure, {
    isTimeUp: () => isInterrupted() || performance.now() - start >= shrinkMinutes * 60_000,
    onProgress: ({ operations }) => console.log(`${operations.length} are enough.`),
  });
  for (const operation of smallest.operations) console.log(JSON.stringify(operation));
  console.log(describe(smallest));
}
