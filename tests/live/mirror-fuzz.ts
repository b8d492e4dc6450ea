/**
 * Random runs with mirrors, one after another until one differs from a fresh read:
 * `npm run fuzz:live -- --seed N --steps N --minutes M`. With a seed, that one run.
 */

import { parseArgs } from 'node:util';
import { databaseKinds, type DatabaseKind } from '../databases.ts';
import { describeFailure, operationsOf, runOperations, shrink, type Failure } from './mirror-run.ts';

const shrinkMinutes = 5;
const greatestSeed = 2 ** 31 - 1;

const { seed: givenSeed, steps, minutes } = readOptions();
const began = performance.now();
let isInterrupted = false;

process.once('SIGINT', () => (isInterrupted = true));
process.exitCode = (await runAll()) ? 0 : 1;

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

/** Answers whether all of them went well. */
async function runAll(): Promise<boolean> {
  for (let seed = givenSeed ?? Math.floor(Math.random() * greatestSeed); ; seed++) {
    for (const kind of databaseKinds) {
      const failure = await runOne(kind, seed);
      if (failure) return false;
    }
    if (givenSeed !== undefined || isOver()) return true;
  }
}

async function runOne(kind: DatabaseKind, seed: number): Promise<Failure | undefined> {
  const start = performance.now();
  const { failure, ...counts } = await runOperations(kind, operationsOf(seed, steps), { isOver });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(
    `seed ${seed} on ${kind.name}: ${counts.steps} steps, ${counts.changes} changes told, ${counts.resyncs} resyncs, ${seconds} s`,
  );
  if (!failure) return undefined;
  console.log(`\nAt ${describeFailure(failure)}`);
  console.log(`\nTo try it again: npm run fuzz:live -- --seed ${seed} --steps ${steps}`);
  await showSmallest(kind, failure);
  return failure;
}

async function showSmallest(kind: DatabaseKind, failure: Failure): Promise<void> {
  const start = performance.now();
  console.log(`Looking for fewer operations that do it, for ${shrinkMinutes} minutes at most.`);
  const smallest = await shrink(kind, failure, {
    isTimeUp: () => isInterrupted || minutesSince(start) >= shrinkMinutes,
    onProgress: ({ operations }) => console.log(`${operations.length} are enough.`),
  });
  for (const operation of smallest.operations) console.log(JSON.stringify(operation));
  console.log(describeFailure(smallest));
}

function isOver(): boolean {
  return isInterrupted || minutesSince(began) >= minutes;
}

function minutesSince(then: number): number {
  return (performance.now() - then) / 60_000;
}
