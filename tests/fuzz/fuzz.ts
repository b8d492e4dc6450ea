/**
 * Random runs of every subject in turn, or of those that are named, until one fails or the time is over:
 * `npm run fuzz -- tree tokens --seed N --steps N --minutes M`. With a seed, one run of each.
 */

import { databaseKinds } from '../support/databases.ts';
import { requestsSubject } from '../hostile-input/requests-subject.ts';
import { mirrorSubject } from '../live/mirror-subject.ts';
import { treeSubject } from '../model/tree-subject.ts';
import { withPostgres } from '../postgres/provided-postgres.ts';
import { rightsSubject } from '../rights/rights-subject.ts';
import { parseScriptArguments } from '../support/script-options.ts';
import { tokensSubject } from '../token-model/tokens-subject.ts';

const subjects = [treeSubject, rightsSubject, mirrorSubject, tokensSubject, requestsSubject];
const greatestSeed = 2 ** 31 - 1;

const { chosen, seed: given, steps, minutes } = readOptions();
const began = performance.now();
let isInterrupted = false;
let runs = 0;
let taken = 0;
process.once('SIGINT', () => (isInterrupted = true));
const minutesTaken = () => (performance.now() - began) / 60_000;
const isOver = () => isInterrupted || minutesTaken() >= minutes;

process.exitCode = (await withPostgres(runAll)) ? 0 : 1;
console.log(`${runs} runs, ${taken} steps, ${minutesTaken().toFixed(1)} minutes.`);

/** Answers whether all of them went well. */
async function runAll(): Promise<boolean> {
  for (let seed = given ?? Math.floor(Math.random() * greatestSeed); ; seed++) {
    for (const subject of chosen) {
      for (const kind of databaseKinds) {
        if (isOver()) return true;
        const limits = { steps: steps ?? subject.steps, isOver, isInterrupted: () => isInterrupted };
        const result = await subject.runOne(kind, seed, limits);
        runs++;
        taken += result.steps;
        if (!result.isGood) return false;
      }
    }
    if (given !== undefined || isOver()) return true;
  }
}

function readOptions() {
  const { values, words } = parseScriptArguments(
    `npm run fuzz -- [${subjects.map(({ name }) => name).join('|')} …] [--minutes M] [--seed N] [--steps N]\n\nTries the server at random against models, until it finds something, the minutes are over, or you stop it. With a seed, that one run.`,
    ['seed', 'steps', 'minutes'],
  );
  const numbers = {
    seed: values.seed === undefined ? undefined : Number(values.seed),
    steps: values.steps === undefined ? undefined : Number(values.steps),
    minutes: Number(values.minutes ?? 'Infinity'),
  };
  for (const [name, value] of Object.entries(numbers)) {
    if (value !== undefined && !(value >= 0)) end(`--${name} must be a number from 0 up.`);
  }
  const named = words.map((name) => {
    const subject = subjects.find((each) => each.name === name);
    return (
      subject ??
      end(`There is no ${name} to try; there are: ${subjects.map((each) => each.name).join(', ')}.`)
    );
  });
  return { chosen: named.length > 0 ? named : subjects, ...numbers };
}

function end(complaint: string): never {
  console.error(complaint);
  process.exit(2);
}
