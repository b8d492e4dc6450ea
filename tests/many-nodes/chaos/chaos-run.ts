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

export interface FaultContext {
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
const loadAfterFaultsMs = 500;

/** Runs the load with faults. Removes the database at the end. */
export async function runUnderLoad<Database extends ChaosDatabase>(
  { nodes, seed, onProgress = () => undefined }: RunOptions,
  database: Database,
  causeFaults: (disturbance: FaultContext, database: Database) => Promise<void>,
): Promise<RunResult> {
  const tally = new Tally((text) => onProgress(`VIOLATION ${text}`));
  const reportProgress = (text: string) => onProgress(`${tally.seconds.toFixed(1)} s: ${text}`);
  const random = new Random(seed);
  const loadEnd = new AbortController();
  let cluster: Cluster | undefined;
  let population: Population | undefined;
  try {
    cluster = await Cluster.start(database, nodes, tally);
    const world: ChaosWorld = { cluster, tally, signal: loadEnd.signal, acknowledgedAt: new Map() };
    reportProgress(`${nodes === 1 ? 'a node runs' : `${nodes} nodes run`}`);
    population = await populate(world, random.fork());
    reportProgress('the load begins');
    const runs = listClients(population).map((each) =>
      each.run().catch((error: unknown) => tally.reportViolation((error as Error).stack!)),
    );
    try {
      for (const kind of kindsOfWork) await eventually(() => tally.counts.has(kind), kind, maxWarmUpMs);
      await causeFaults({ world, random: random.fork(), onProgress: reportProgress }, database);
      await sleep(loadAfterFaultsMs);
    } finally {
      loadEnd.abort();
      await Promise.all(runs);
    }
    reportProgress('the load has ended');
    await waitUntilReady(cluster.urls, tally);
    await checkAll(world, population);
    reportProgress('all checks are done');
  } catch (error) {
    tally.reportViolation((error as Error).stack!);
  } finally {
    population?.close();
    await cluster?.stop();
    await database.remove();
  }
  return { violations: tally.violations, tally, logLines: cluster?.logLines ?? [] };
}

function listClients(population: Population): { run(): Promise<void> }[] {
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
