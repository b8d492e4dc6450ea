/** Nodes on one database. The run can kill each node and restart it at its port, as a supervisor does. */

import { setTimeout as sleep } from 'node:timers/promises';
import { openWithoutMigrating } from '../../../server/src/database/open-database.ts';
import type { Statement } from '../../../server/src/database/statement.ts';
import { findFreePort } from '../../support/free-port.ts';
import { NodeProcess, startNodes, type NodeOptions } from '../node-process.ts';
import type { ChaosDatabase } from './chaos-database.ts';
import { waitUntilReady } from './probe.ts';
import type { Tally } from './tally.ts';

const restartDelayMs = 300;
const startTimeoutMs = 90_000;

const settings = {
  // Many users log in from one address.
  LOGIN_THROTTLE: 'off',
  // No auth token expires during a run.
  AUTH_TOKEN_SECONDS: '86400',
};

export class Cluster {
  readonly #database: ChaosDatabase;
  readonly #tally: Tally;
  readonly #ports: readonly number[];
  readonly #nodes: (NodeProcess | undefined)[];
  /** All nodes that have run, including killed ones. */
  readonly #allNodes: NodeProcess[];

  static async start(database: ChaosDatabase, count: number, tally: Tally): Promise<Cluster> {
    const ports: number[] = [];
    while (ports.length < count) ports.push(await findFreePort());
    const nodes = await startNodes(count, (index) => optionsOf(database, ports[index]!));
    return new Cluster({ database, tally, ports, nodes });
  }

  private constructor(parts: {
    database: ChaosDatabase;
    tally: Tally;
    ports: readonly number[];
    nodes: NodeProcess[];
  }) {
    this.#database = parts.database;
    this.#tally = parts.tally;
    this.#ports = parts.ports;
    this.#nodes = parts.nodes;
    this.#allNodes = [...parts.nodes];
  }

  get count(): number {
    return this.#nodes.length;
  }

  /** The URLs of the running nodes. */
  get urls(): readonly string[] {
    return this.#nodes.flatMap((node) => node?.url ?? []);
  }

  /** Reads rows directly from the database, without a node. */
  async rows<Row>(statement: Statement<object, Row>): Promise<Row[]> {
    const database = await openWithoutMigrating(this.#database.url, { mustExist: true });
    try {
      return await database.all(statement, {});
    } finally {
      await database.close();
    }
  }

  checkDatabase(): Promise<void> {
    return this.#database.check(this.#tally);
  }

  async killNode(index: number): Promise<void> {
    const node = this.#nodes[index];
    this.#nodes[index] = undefined;
    if (!node) return;
    if (node.hasEnded) this.#tally.reportViolation(`A node ended by itself: ${node.log.slice(-2_000)}`);
    await node.kill();
  }

  /** Starts a node and retries until it serves. While the database is down, a node prints one line and exits. */
  async startNode(index: number): Promise<void> {
    const began = performance.now();
    for (;;) {
      try {
        await this.#startOnce(index);
        return;
      } catch (error) {
        this.#checkFailedStart((error as Error).message);
        if (performance.now() - began > startTimeoutMs) throw error;
      }
      await sleep(restartDelayMs);
    }
  }

  /** Starts a node and kills it after `afterMs`, even if it is still starting. */
  async startAndKill(index: number, afterMs: number): Promise<void> {
    const signal = AbortSignal.timeout(afterMs);
    await this.#startOnce(index, signal).catch((error: unknown) => {
      if (!signal.aborted) this.#checkFailedStart((error as Error).message);
    });
    await this.killNode(index);
  }

  async freezeNode(index: number, ms: number): Promise<void> {
    await this.#nodes[index]?.freeze(ms);
  }

  /** Returns log lines at level error or higher, and output that is not a log line. */
  findUnexpectedLogLines(): string[] {
    return this.logLines.filter((line) => {
      const level = /^\{"level":(\d+)/.exec(line)?.[1];
      return level === undefined || Number(level) >= 50;
    });
  }

  get logLines(): readonly string[] {
    return this.#allNodes.flatMap(({ log }) => log.split('\n')).filter((line) => line !== '');
  }

  async stop(): Promise<void> {
    const endedNodes = this.#nodes.filter((node) => node?.hasEnded);
    for (const node of endedNodes)
      this.#tally.reportViolation(`A node ended by itself: ${node!.log.slice(-2_000)}`);
    const areStopped = await Promise.all(this.#nodes.flatMap((node) => node?.stop() ?? []));
    if (!areStopped.every(Boolean))
      this.#tally.reportViolation('a node did not stop by itself after SIGTERM');
  }

  async #startOnce(index: number, signal?: AbortSignal): Promise<void> {
    const began = performance.now();
    const options = optionsOf(this.#database, this.#ports[index]!);
    const node = await NodeProcess.start({ ...options, ...(signal && { signal }) });
    this.#nodes[index] = node;
    this.#allNodes.push(node);
    if (signal) return;
    if (await waitUntilReady([node.url], this.#tally)) {
      this.#tally.time('from start to ready', performance.now() - began);
    }
  }

  #checkFailedStart(message: string): void {
    this.#tally.count('starts that failed');
    const isExpected = /^The node did not start: espalier: The database .*\n$/.test(message);
    if (this.#database.mayBeDown && isExpected) return;
    this.#tally.reportViolation(`A start failed: ${message}`);
  }
}

function optionsOf({ url }: ChaosDatabase, port: number): NodeOptions {
  return { databaseUrl: url, settings: { ...settings, PORT: String(port) } };
}
