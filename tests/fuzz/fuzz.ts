/**
 * Runs every fuzz subject in turn, or the named ones, until one fails or the time is over: `npm run lab -- fuzz
 * tree tokens --seed N --steps N --minutes M`. With a seed, it runs each subject once.
 */

import { databaseKinds } from '../support/databases.ts';
import { requestsSubject } from '../hostile-input/requests-subject.ts';
import { mirrorSubject } from '../live/mirror/mirror-subject.ts';
import { treeSubject } from '../model/tree-subject.ts';
import { withPostgres } from '../postgres/provided-postgres.ts';
import { rightsSubject } from '../rights/rights-subject.ts';
import { parseScriptArguments } from '../support/script-options.ts';
import { tokensSubject } from '../token-model/tokens-subject.ts';

const subjects = [treeSubject, rightsSubject, mirrorSubject, tokensSubject, requestsSubject];
const maxSeed = 2 ** 31 - 1;

const { chosen: chosenSubjects, seed: chosenSeed, steps, minutes } = readOptions();
const start = performance.now();
let isInterrupted = false;
let runs = 0;
let totalSteps = 0;
process.once('SIGINT', () => (isInterrupted = true));
const minutesTaken = () => (performance.now() - start) / 60_000;
const isOver = () => isInterrupted || minutesTaken() >= minutes;

process.exitCode = (await withPostgres(runAll)) ? 0 : 1;
console.log(`${runs} runs, ${totalSteps} steps, ${minutesTaken().toFixed(1)} minutes.`);

/** Returns whether all runs succeeded. */
async function runAll(): Promise<boolean> {
  for (let seed = chosenSeed ?? Math.floor(Math.random() * maxSeed); ; seed++) {
    for (const subject of chosenSubjects) {
      for (const kind of databaseKinds) {
        if (isOver()) return true;
        const limits = { steps: steps ?? subject.steps, isOver, isInterrupted: () => isInterrupted };
        const result = await subject.runOne(kind, seed, limits);
        runs++;
        totalSteps += result.steps;
        if (!result.isGood) return false;
      }
    }
    if (chosenSeed !== undefined || isOver()) return true;
  }
}

function readOptions() {
  const { values, positionals } = parseScriptArguments(
    `npm run lab -- fuzz [${subjects.map(({ name }) => name).join('|')} …] [--minutes M] [--seed N] [--steps N]\n\nCompares random runs of the server with models until a run fails, the minutes are over, or you stop it. With a seed, runs each subject only once.`,
    ['seed', 'steps', 'minutes'],
  );
  const numbers = {
    seed: values.seed === undefined ? undefined : Number(values.seed),
    steps: values.steps === undefined ? undefined : Number(values.steps),
    minutes: Number(values.minutes ?? 'Infinity'),
  };
  for (const [name, value] of Object.entries(numbers)) {
    if (value !== undefined && !(value >= 0)) end(`--${name} must be a number of at least 0.`);
  }
  const namedSubjects = positionals.map((name) => {
    const subject = subjects.find((each) => each.name === name);
    return (
      subject ??
      end(`There is no fuzz subject ${name}. Use one of: ${subjects.map((each) => each.name).join(', ')}.`)
    );
  });
  return { chosen: namedSubjects.length > 0 ? namedSubjects : subjects, ...numbers };
}

function end(message: string): never {
  console.error(message);
  process.exit(2);
}
