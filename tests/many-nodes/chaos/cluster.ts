/** Some nodes on one database, each of which can be killed and comes back at its address, as a supervisor would have it. */

import { setTimeout as sleep } from 'node:timers/promises';
import { openAsItIs } from '../../../server/src/database/open-database.ts';
import type { Statement } from '../../../server/src/database/statement.ts';
import { findFreePort } from '../../free-port.ts';
import { NodeProcess, startNodes, type NodeOptions } from '../node-process.ts';
import type { ChaosDatabase } from './chaos-database.ts';
import { untilReady } from './probe.ts';
import type { Tally } from './tally.ts';

const startAgainMs = 300;
const startWithinMs = 90_000;

const settings = {
  // Many log in from one address.
  LOGIN_THROTTLE: 'off',
  // Nobody's token ends during a run.
  ACCESS_TOKEN_SECONDS: '86400',
};

export class Cluster {
  readonly #database: ChaosDatabase;
  readonly #tally: Tally;
  readonly #ports: readonly number[];
  readonly #nodes: (NodeProcess | undefined)[];
  /** Of all that ever ran. */
  readonly #all: NodeProcess[];

  static async start(database: ChaosDatabase, count: number, tally: Tally): Promise<Cluster> {
    const ports: number[] = [];
    while (ports.length < count) ports.push(await findFreePort());
    const nodes = await startNodes(count, (place) => optionsOf(database, ports[place]!));
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
    this.#all = [...parts.nodes];
  }

  get count(): number {
    return this.#nodes.length;
  }

  /** Of those that run. */
  get urls(): readonly string[] {
    return this.#nodes.flatMap((node) => node?.url ?? []);
  }

  /** Behind the nodes' backs. */
  async rows<Row>(statement: Statement<object, Row>): Promise<Row[]> {
    const database = await openAsItIs(this.#database.url, { mustExist: true });
    try {
      return await database.all(statement, {});
    } finally {
      await database.close();
    }
  }

  checkDatabase(): Promise<void> {
    return this.#database.check(this.#tally);
  }

  async killNode(place: number): Promise<void> {
    const node = this.#nodes[place];
    this.#nodes[place] = undefined;
    if (!node) return;
    if (node.hasEnded) this.#tally.violation(`A node ended by itself: ${node.log.slice(-2_000)}`);
    await node.kill();
  }

  /** Until it serves: while the database is down, it says so in a line and gives up, and is started again. */
  async startNode(place: number): Promise<void> {
    const began = performance.now();
    for (;;) {
      try {
        await this.#tryToStart(place);
        return;
      } catch (error) {
        this.#judgeStart((error as Error).message);
        if (performance.now() - began > startWithinMs) throw error;
      }
      await sleep(startAgainMs);
    }
  }

  /** Kills it so long after its start, whatever it does by then. */
  async startAndKill(place: number, afterMs: number): Promise<void> {
    const signal = AbortSignal.timeout(afterMs);
    await this.#tryToStart(place, signal).catch((error: unknown) => {
      if (!signal.aborted) this.#judgeStart((error as Error).message);
    });
    await this.killNode(place);
  }

  async freezeNode(place: number, ms: number): Promise<void> {
    await this.#nodes[place]?.freeze(ms);
  }

  /** What the nodes have said: bugs, and whatever is no log line. */
  complaints(): string[] {
    return this.logLines.filter((line) => {
      const level = /^\{"level":(\d+)/.exec(line)?.[1];
      return level === undefined || Number(level) >= 50;
    });
  }

  get logLines(): readonly string[] {
    return this.#all.flatMap(({ log }) => log.split('\n')).filter((line) => line !== '');
  }

  async stop(): Promise<void> {
    const ended = this.#nodes.filter((node) => node?.hasEnded);
    for (const node of ended) this.#tally.violation(`A node ended by itself: ${node!.log.slice(-2_000)}`);
    const stopped = await Promise.all(this.#nodes.flatMap((node) => node?.stop() ?? []));
    if (!stopped.every(Boolean)) this.#tally.violation('a node did not stop when it was told to');
  }

  async #tryToStart(place: number, signal?: AbortSignal): Promise<void> {
    const began = performance.now();
    const options = optionsOf(this.#database, this.#ports[place]!);
    const node = await NodeProcess.start({ ...options, ...(signal && { signal }) });
    this.#nodes[place] = node;
    this.#all.push(node);
    if (signal) return;
    if (await untilReady([node.url], this.#tally)) {
      this.#tally.time('from start to ready', performance.now() - began);
    }
  }

  #judgeStart(message: string): void {
    this.#tally.count('starts that failed');
    const isExpected = /^The node did not start: espalier: The database .*\n$/.test(message);
    if (this.#database.isAwayAtTimes && isExpected) return;
    this.#tally.violation(`A start failed: ${message}`);
  }
}

function optionsOf({ url }: ChaosDatabase, port: number): NodeOptions {
  return { databaseUrl: url, settings: { ...settings, PORT: String(port) } };
}
