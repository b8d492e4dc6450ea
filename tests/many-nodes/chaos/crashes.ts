/** Nodes on a database file are killed at random moments, in the middle of a start too, and started again. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosWorld } from './chaos-client.ts';
import { ChaosFile } from './chaos-file.ts';
import { runUnderLoad, type Disturbance, type RunOptions, type RunResult } from './chaos-run.ts';

export interface CrashOptions extends RunOptions {
  readonly kills: number;
  /** Whether to end before that. */
  readonly isOver?: () => boolean;
}

/** How much a node serves until it is killed: so many answers, and then for a moment. */
const mostAnswers = 150;
const longestMomentMs = 50;
const lookEveryMs = 5;
const longestLifeMs = 5_000;
/** Of the kills, those that come before it may have begun to serve. */
const earlyShare = 0.15;
const longestStartMs = 1_000;

export function runCrashes(options: CrashOptions): Promise<RunResult> {
  return runUnderLoad(options, new ChaosFile(), (disturbance) => killAgain(options, disturbance));
}

async function killAgain(
  { kills, isOver = () => false }: CrashOptions,
  { world, random, onProgress }: Disturbance,
): Promise<void> {
  const { cluster, tally } = world;
  for (let kill = 1; kill <= kills && !isOver(); kill++) {
    const place = random.below(cluster.count);
    const isEarly = kill < kills && random.chance(earlyShare);
    await untilServed(world, random.between(0, mostAnswers));
    await sleep(random.between(0, longestMomentMs));
    await cluster.killNode(place);
    tally.count('nodes killed');
    if (isEarly) {
      await cluster.startAndKill(place, random.between(0, longestStartMs));
      tally.count('nodes killed');
      tally.count('nodes killed while they started');
      kill++;
    }
    await cluster.startNode(place);
    onProgress(`killed ${kill} of ${kills} times, ready after ${tally.lastTime('from start to ready')} ms`);
  }
}

async function untilServed({ tally }: ChaosWorld, answers: number): Promise<void> {
  const served = () => tally.counts.get('answers with 200') ?? 0;
  const enough = served() + answers;
  const deadline = performance.now() + longestLifeMs;
  while (served() < enough && performance.now() < deadline) await sleep(lookEveryMs);
}
