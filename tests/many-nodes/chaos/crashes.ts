/** Kills nodes on a database file at random moments, also during a start, and restarts them. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosWorld } from './clients/chaos-client.ts';
import { ChaosFile } from './chaos-file.ts';
import { runUnderLoad, type Disturbance, type RunOptions, type RunResult } from './chaos-run.ts';

export interface CrashOptions extends RunOptions {
  readonly kills: number;
  /** Ends the run early. */
  readonly isOver?: () => boolean;
}

/** A node sends up to this number of responses, and runs for up to `maxDelayMs` more before it is killed. */
const maxResponses = 150;
const maxDelayMs = 50;
const pollIntervalMs = 5;
const maxLifeMs = 5_000;
/** The share of kills during a start. */
const earlyShare = 0.15;
const maxStartMs = 1_000;

export function runCrashes(options: CrashOptions): Promise<RunResult> {
  return runUnderLoad(options, new ChaosFile(), (disturbance) => killRepeatedly(options, disturbance));
}

async function killRepeatedly(
  { kills, isOver = () => false }: CrashOptions,
  { world, random, onProgress }: Disturbance,
): Promise<void> {
  const { cluster, tally } = world;
  for (let kill = 1; kill <= kills && !isOver(); kill++) {
    const index = random.below(cluster.count);
    const isEarly = kill < kills && random.chance(earlyShare);
    await waitUntilServed(world, random.between(0, maxResponses));
    await sleep(random.between(0, maxDelayMs));
    await cluster.killNode(index);
    tally.count('nodes killed');
    if (isEarly) {
      await cluster.startAndKill(index, random.between(0, maxStartMs));
      tally.count('nodes killed');
      tally.count('nodes killed while they started');
      kill++;
    }
    await cluster.startNode(index);
    onProgress(`killed ${kill} of ${kills} times, ready after ${tally.lastTime('from start to ready')} ms`);
  }
}

async function waitUntilServed({ tally }: ChaosWorld, responses: number): Promise<void> {
  const served = () => tally.counts.get('answers with 200') ?? 0;
  const enough = served() + responses;
  const deadline = performance.now() + maxLifeMs;
  while (served() < enough && performance.now() < deadline) await sleep(pollIntervalMs);
}
