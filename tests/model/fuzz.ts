/**
 * Random runs against the model, one after another until server and model disagree:
 * `npm run fuzz -- --seed N --steps N --minutes M`. With a seed, that one run.
 */

import { parseArgs } from 'node:util';
import { databaseKinds, type DatabaseKind } from '../databases.ts';
import { describeFailure, operationsOf, runOperations, shrink, type Failure } from './random-run.ts';

interface Options {
  readonly seed: number | undefined;
  readonly steps: number;
  readonly minutes: number;
}

const shrinkMinutes = 5;
const greatestSeed = 2 ** 31 - 1;

const options = readOptions();
const began = performance.now();
let isInterrupted = false;
let runs = 0;
let steps = 0;

process.once('SIGINT', () => (isInterrupted = true));

process.exitCode = (await runAll(options)) ? 0 : 1;
console.log(`${runs} runs, ${steps} steps, ${minutesSince(began).toFixed(1)} minutes.`);

function readOptions(): Options {
  const { values } = parseArgs({
    options: { seed: { type: 'string' }, steps: { type: 'string' }, minutes: { type: 'string' } },
  });
  const { seed, steps: length = '1000', minutes = 'Infinity' } = values;
  const given = {
    seed: seed === undefined ? undefined : Number(seed),
    steps: Number(length),
    minutes: Number(minutes),
  };
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value >= 0) continue;
    console.error(`--${name} must be a number from 0 up.`);
    process.exit(2);
  }
  return given;
}

/** Answers whether server and model agreed in all of them. */
async function runAll({ seed: given, steps: length, minutes }: Options): Promise<boolean> {
  const isOver = () => isInterrupted || minutesSince(began) >= minutes;
  for (let seed = given ?? Math.floor(Math.random() * greatestSeed); ; seed++) {
    for (const kind of databaseKinds) {
      const failure = await runOne(kind, seed, length, isOver);
      if (failure) return false;
    }
    if (given !== undefined || isOver()) return true;
  }
}

async function runOne(
  kind: DatabaseKind,
  seed: number,
  length: number,
  isOver: () => boolean,
): Promise<Failure | undefined> {
  const start = performance.now();
  const {
    failure,
    steps: taken,
    requests,
    folders,
  } = await runOperations(kind, operationsOf(seed, length), { isOver });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(
    `seed ${seed} on ${kind.name}: ${taken} steps, ${requests} requests, ${folders} folders, ${seconds} s`,
  );
  runs++;
  steps += taken;
  if (!failure) return undefined;
  console.log(`\nServer and model disagree at ${describeFailure(failure)}`);
  console.log(`\nTo try it again: npm run fuzz -- --seed ${seed} --steps ${length}`);
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

function minutesSince(then: number): number {
  return (performance.now() - then) / 60_000;
}
