/** A run: nodes and a database under load, with faults, and checks at the end. */

import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import type { ChaosWorld } from './clients/chaos-client.ts';
import type { ChaosDatabase } from './chaos-database.ts';
import { Cluster } from './cluster.ts';
import { checkAll } from './final-checks.ts';
import { populate, type Population } from './clients/population.ts';
import { waitUntilReady } from './probe.ts';
import { Random } from './random.ts';
import { Tally } from './tally.ts';

export interface RunOptions {
  readonly nodes: number;
  readonly seed: number;
  readonly onProgress?: (text: string) => void;
}

export interface RunResult {
  readonly violations: readonly string[];
  readonly tally: Tally;
  readonly logLines: readonly string[];
}

export interface Disturbance {
  readonly world: ChaosWorld;
  readonly random: Random;
  readonly onProgress: (text: string) => void;
}

/** Each kind of work happens at least once before the first fault. */
const kindsOfWork = [
  'changes of folders acknowledged',
  'changes of people acknowledged',
  'people disabled',
  'reads',
  'refreshes acknowledged',
  'sessions ended',
];
const maxWarmUpMs = 60_000;
/** How long the load continues after the last fault. */
const quietMs = 500;

/** Runs the load with faults. Removes the database at the end. */
export async function runUnderLoad<Database extends ChaosDatabase>(
  { nodes, seed, onProgress = () => undefined }: RunOptions,
  database: Database,
  disturb: (disturbance: Disturbance, database: Database) => Promise<void>,
): Promise<RunResult> {
  const tally = new Tally((text) => onProgress(`VIOLATION ${text}`));
  const progress = (text: string) => onProgress(`${tally.seconds.toFixed(1)} s: ${text}`);
  const random = new Random(seed);
  const over = new AbortController();
  let cluster: Cluster | undefined;
  let population: Population | undefined;
  try {
    cluster = await Cluster.start(database, nodes, tally);
    const world: ChaosWorld = { cluster, tally, signal: over.signal, acknowledgedAt: new Map() };
    progress(`${nodes === 1 ? 'a node runs' : `${nodes} nodes run`}`);
    population = await populate(world, random.fork());
    progress('the load begins');
    const working = allOf(population).map((each) =>
      each.run().catch((error: unknown) => tally.violation((error as Error).stack!)),
    );
    try {
      for (const kind of kindsOfWork) await eventually(() => tally.counts.has(kind), kind, maxWarmUpMs);
      await disturb({ world, random: random.fork(), onProgress: progress }, database);
      await sleep(quietMs);
    } finally {
      over.abort();
      await Promise.all(working);
    }
    progress('the load has ended');
    await waitUntilReady(cluster.urls, tally);
    await checkAll(world, population);
    progress('all checks are done');
  } catch (error) {
    tally.violation((error as Error).stack!);
  } finally {
    population?.close();
    await cluster?.stop();
    await database.remove();
  }
  return { violations: tally.violations, tally, logLines: cluster?.logLines ?? [] };
}

function allOf(population: Population): { run(): Promise<void> }[] {
  const { writers, sharedWriters, accessManager, userManager, refreshers, visitors, readers, followers } =
    population;
  return [
    ...writers,
    ...sharedWriters,
    accessManager,
    userManager,
    ...refreshers,
    ...visitors,
    ...readers,
    ...followers,
  ];
}
