/** Kills, stops, freezes and disconnects nodes and their PostgreSQL under load. They must recover by themselves. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosWorld } from './clients/chaos-client.ts';
import { ChaosPostgres } from './chaos-postgres.ts';
import { runUnderLoad, type FaultContext, type RunOptions, type RunResult } from './chaos-run.ts';
import { probe, waitUntilReady } from './probe.ts';
import type { Random } from './random.ts';

interface FaultPlan {
  readonly rounds: number;
  /** Database restarts in each round. */
  readonly restarts: number;
  /** Adds lost connections and frozen nodes and databases to each round. */
  readonly isThorough: boolean;
  /** The maximum pause between two faults. */
  readonly pauseMs: number;
}

export interface ChaosOptions extends FaultPlan, RunOptions {
  /** Ends the faults early. */
  readonly isOver?: () => boolean;
}

type DatabaseFault = 'stop' | 'crash';

/** How long the database is down: longer than a node may still report that it is ready. */
const minDownMs = 1_500;
const maxDownMs = 3_000;
/** After this time, no node may report that it is ready while the database is down. */
const noticeTimeoutMs = 1_000;
const probeIntervalMs = 100;
const maxNodeDownMs = 1_000;
const maxFreezeMs = 8_000;

export async function runChaos(options: ChaosOptions): Promise<RunResult> {
  return runUnderLoad(options, await ChaosPostgres.start(), (context, database) =>
    new Faults(database, context).run(options),
  );
}

class Faults {
  readonly #database: ChaosPostgres;
  readonly #world: ChaosWorld;
  readonly #random: Random;
  readonly #onProgress: (text: string) => void;
  #databaseFaults = 0;

  constructor(database: ChaosPostgres, { world, random, onProgress }: FaultContext) {
    this.#database = database;
    this.#world = world;
    this.#random = random;
    this.#onProgress = onProgress;
  }

  /** Each round kills every node once and restarts the database, sometimes at the same time. */
  async run({ rounds, restarts, isThorough, pauseMs, isOver = () => false }: ChaosOptions): Promise<void> {
    const { cluster } = this.#world;
    for (let round = 0; round < rounds; round++) {
      const kills = Array.from({ length: cluster.count }, (_, index) => () => this.#killNode(index));
      const databaseRestarts = Array.from({ length: restarts }, () => () => this.#restartDatabase());
      const thoroughFaults = [
        () => this.#cutConnections(),
        () => this.#freezeNode(),
        () => this.#freezeDatabase(),
      ];
      for (const fault of this.#random.shuffle([
        ...kills,
        ...databaseRestarts,
        ...(isThorough ? thoroughFaults : []),
      ])) {
        if (isOver()) return;
        await sleep(this.#random.between(200, pauseMs));
        await fault();
      }
      this.#onProgress(`round ${round + 1} of ${rounds} is done`);
    }
    await this.#waitUntilReady();
  }

  async #waitUntilReady(): Promise<void> {
    await waitUntilReady(this.#world.cluster.urls, this.#world.tally);
  }

  async #killNode(index: number): Promise<void> {
    const { cluster, tally } = this.#world;
    this.#onProgress(`kills node ${index + 1}`);
    await cluster.killNode(index);
    tally.count('nodes killed');
    await sleep(this.#random.between(0, maxNodeDownMs));
    await cluster.startNode(index);
  }

  /**
   * Alternates between a fast shutdown and a crash. Sometimes also kills a node while the database is down.
   */
  async #restartDatabase(): Promise<void> {
    const { cluster, tally } = this.#world;
    const fault: DatabaseFault = this.#databaseFaults++ % 2 === 0 ? 'stop' : 'crash';
    const nodeIndex = this.#random.chance(0.4) ? this.#random.below(cluster.count) : undefined;
    const downMs = this.#random.between(minDownMs, maxDownMs);
    const suffix = nodeIndex === undefined ? '' : ` and kills node ${nodeIndex + 1}`;
    this.#onProgress(`database: ${fault}, for ${downMs} ms${suffix}`);
    await this.#database.server[fault]();
    tally.count(`databases ended by ${fault}`);
    let nodeStart: Promise<void> | undefined;
    if (nodeIndex !== undefined) {
      await cluster.killNode(nodeIndex);
      tally.count('nodes killed');
      // The node cannot start before the database and retries until then.
      nodeStart = cluster.startNode(nodeIndex);
    }
    await this.#checkNodesWithoutDatabase(performance.now() + downMs);
    const began = performance.now();
    await this.#database.server.restart();
    tally.time('a start of the database', performance.now() - began);
    await this.#waitUntilReady();
    await nodeStart;
  }

  async #cutConnections(): Promise<void> {
    const { tally } = this.#world;
    const cutCount = await this.#database.cutConnections();
    this.#onProgress(`cuts ${cutCount} connections to the database`);
    tally.count('connections cut', cutCount);
    await this.#waitUntilReady();
  }

  async #freezeNode(): Promise<void> {
    const { cluster, tally } = this.#world;
    const [index, ms] = [this.#random.below(cluster.count), this.#random.between(500, maxFreezeMs)];
    this.#onProgress(`freezes node ${index + 1} for ${ms} ms`);
    await cluster.freezeNode(index, ms);
    tally.count('nodes frozen');
    await this.#waitUntilReady();
  }

  async #freezeDatabase(): Promise<void> {
    const { tally } = this.#world;
    const ms = this.#random.between(500, maxFreezeMs);
    this.#onProgress(`freezes the database for ${ms} ms`);
    await this.#database.freeze(ms);
    tally.count('databases frozen');
    await this.#waitUntilReady();
  }

  /** Checks that no node reports that it is ready, and that all nodes are alive. */
  async #checkNodesWithoutDatabase(until: number): Promise<void> {
    const { cluster, tally } = this.#world;
    await sleep(noticeTimeoutMs);
    while (performance.now() < until) {
      for (const url of cluster.urls) {
        const { status, retryAfter } = await probe(url, '/readyz');
        if (status !== 503) tally.reportViolation(`/readyz is ${status} while the database is down`);
        if (status === 503 && !retryAfter) tally.reportViolation('/readyz: 503 without Retry-After');
        const alive = await probe(url, '/livez');
        if (alive.status !== 200)
          tally.reportViolation(`/livez is ${alive.status} while the database is down`);
        tally.count('probes while the database was down');
      }
      await sleep(probeIntervalMs);
    }
  }
}
