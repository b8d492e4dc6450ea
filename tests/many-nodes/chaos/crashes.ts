/** Kills nodes on a database file at random moments, also during a start, and restarts them. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosWorld } from './clients/chaos-client.ts';
import { ChaosFile } from './chaos-file.ts';
import { runUnderLoad, type FaultContext, type RunOptions, type RunResult } from './chaos-run.ts';

export interface CrashOptions extends RunOptions {
  readonly kills: number;
  /** Ends the run early. */
  readonly isOver?: () => boolean;
}

/** A node sends up to this number of responses, and then runs for up to `maxDelayMs` before it is killed. */
const maxResponses = 150;
const maxDelayMs = 50;
const pollIntervalMs = 5;
const maxLifeMs = 5_000;
/** The share of kills during a start. */
const earlyShare = 0.15;
const maxStartMs = 1_000;

export function runCrashes(options: CrashOptions): Promise<RunResult> {
  return runUnderLoad(options, new ChaosFile(), (context) => killRepeatedly(options, context));
}

async function killRepeatedly(
  { kills, isOver = () => false }: CrashOptions,
  { world, random, onProgress }: FaultContext,
): Promise<void> {
  const { cluster, tally } = world;
  for (let kill = 1; kill <= kills && !isOver(); kill++) {
    const index = random.below(cluster.count);
    const isEarly = kill < kills && random.chance(earlyShare);
    await waitForResponses(world, random.between(0, maxResponses));
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

async function waitForResponses({ tally }: ChaosWorld, responses: number): Promise<void> {
  const countResponses = () => tally.counts.get('answers with 200') ?? 0;
  const targetCount = countResponses() + responses;
  const deadline = performance.now() + maxLifeMs;
  while (countResponses() < targetCount && performance.now() < deadline) await sleep(pollIntervalMs);
}
