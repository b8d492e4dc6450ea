/** A fuzz subject runs random operations that a seed defines, and shrinks a run that fails. */

import type { DatabaseKind } from '../support/databases.ts';
import type { Failure, ShrinkOptions } from './shrink.ts';

export interface FuzzTarget<Operation> {
  /** The name on the command line. */
  readonly name: string;
  /** The headline of a failure. */
  readonly failureTitle: string;
  /** The default number of steps of a run. */
  readonly steps: number;
  readonly run: (
    kind: DatabaseKind,
    seed: number,
    limits: Limits,
  ) => Promise<{ readonly steps: number; readonly summary: string; readonly failure?: Failure<Operation> }>;
  readonly shrink: (
    kind: DatabaseKind,
    failure: Failure<Operation>,
    shrinking: ShrinkOptions<Operation>,
  ) => Promise<Failure<Operation>>;
  readonly describe: (failure: Failure<Operation>) => string;
}

export interface Limits {
  readonly steps: number;
  readonly isOver: () => boolean;
}

/** A subject with operations of any type. */
export interface Subject {
  readonly name: string;
  readonly steps: number;
  /** Runs once, and prints a failure to the standard output. */
  readonly runOne: (
    kind: DatabaseKind,
    seed: number,
    limits: Limits & { readonly isInterrupted: () => boolean },
  ) => Promise<{ readonly steps: number; readonly isGood: boolean }>;
}

const shrinkMinutes = 5;

export function createSubject<Operation>(target: FuzzTarget<Operation>): Subject {
  const { name, steps } = target;
  return {
    name,
    steps,
    async runOne(kind, seed, limits) {
      const start = performance.now();
      const result = await target.run(kind, seed, limits);
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      const summaryLine = `${result.steps} steps, ${result.summary}, ${seconds} s`;
      console.log(`${name}, seed ${seed} on ${kind.name}: ${summaryLine}`);
      const { failure } = result;
      if (!failure) return { steps: result.steps, isGood: true };
      console.log(`\n${target.failureTitle} at ${target.describe(failure)}`);
      console.log(`\nTo try it again: ${formatCommand(name, seed, limits.steps)}`);
      await printSmallest(target, kind, failure, limits.isInterrupted);
      return { steps: result.steps, isGood: false };
    },
  };
}

export function formatCommand(name: string, seed: number, steps: number): string {
  return `npm run lab -- fuzz ${name} --seed ${seed} --steps ${steps}`;
}

async function printSmallest<Operation>(
  { shrink, describe }: FuzzTarget<Operation>,
  kind: DatabaseKind,
  failure: Failure<Operation>,
  isInterrupted: () => boolean,
): Promise<void> {
  const start = performance.now();
  console.log(`Searching for fewer operations that cause it, for at most ${shrinkMinutes} minutes.`);
  const smallest = await shrink(kind, failure, {
    isTimeUp: () => isInterrupted() || performance.now() - start >= shrinkMinutes * 60_000,
    onProgress: ({ operations }) => console.log(`${operations.length} operations are enough.`),
  });
  for (const operation of smallest.operations) console.log(JSON.stringify(operation));
  console.log(describe(smallest));
}
