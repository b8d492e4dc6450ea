/** A run: nodes and a database under load, faults, and what must be true at the end. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosWorld } from './chaos-client.ts';
import { Cluster } from './cluster.ts';
import { Faults, type FaultPlan } from './faults.ts';
import { checkAll } from './final-checks.ts';
import { populate, type Population } from './population.ts';
import { Random } from './random.ts';
import { Tally } from './tally.ts';

export interface ChaosOptions extends FaultPlan {
  readonly nodes: number;
  readonly seed: number;
  readonly onProgress?: (text: string) => void;
  /** Whether to end the faults before their time. */
  readonly isOver?: () => boolean;
}

export interface ChaosResult {
  readonly violations: readonly string[];
  readonly tally: Tally;
  readonly logLines: readonly string[];
}

/** Before the first fault, and after the last. */
const quietMs = 500;

export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { nodes, seed, onProgress = () => undefined, isOver = () => false } = options;
  const tally = new Tally((text) => onProgress(`VIOLATION ${text}`));
  const progress = (text: string) => onProgress(`${tally.seconds.toFixed(1)} s: ${text}`);
  const random = new Random(seed);
  const over = new AbortController();
  const cluster = await Cluster.start(nodes, tally);
  const world: ChaosWorld = { cluster, tally, signal: over.signal, doneAt: new Map() };
  let population: Population | undefined;
  try {
    progress(`${nodes} nodes and a database run`);
    population = await populate(world, random.fork());
    progress('the load begins');
    const working = allOf(population).map((each) =>
      each.run().catch((error: unknown) => tally.violation((error as Error).stack!)),
    );
    const faults = new Faults(world, random.fork(), progress);
    try {
      await sleep(quietMs);
      await faults.run(options, isOver);
      await sleep(quietMs);
    } finally {
      over.abort();
      await Promise.all(working);
    }
    progress('the load has ended');
    await faults.untilReady();
    await checkAll(world, population);
    progress('all is compared');
  } catch (error) {
    tally.violation((error as Error).stack!);
  } finally {
    population?.close();
    await cluster.stop();
  }
  return { violations: tally.violations, tally, logLines: cluster.logLines };
}

function allOf(population: Population): { run(): Promise<void> }[] {
  const { writers, commoners, steward, refreshers, visitors, readers, followers } = population;
  return [...writers, ...commoners, steward, ...refreshers, ...visitors, ...readers, ...followers];
}
