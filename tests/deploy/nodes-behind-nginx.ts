/** Two nodes on one PostgreSQL server behind nginx. Each node can be restarted at its address. */

import { eventually } from '../support/eventually.ts';
import { postgres, type TestDatabase } from '../support/databases.ts';
import { findFreePort } from '../support/free-port.ts';
import { NodeProcess, startNodes, stopNodes } from '../many-nodes/node-process.ts';
import { Nginx } from './nginx.ts';

/** The settings of docs/operators/several-nodes.md. */
const settings = {
  TRUST_PROXY: '127.0.0.1',
  STOP_DELAY_SECONDS: '5',
  // Clients repeat a refresh after a lost response.
  REFRESH_RETRY_SECONDS: '60',
  // No auth token expires during a run.
  AUTH_TOKEN_SECONDS: '86400',
};

export class NodesBehindNginx {
  readonly nginx: Nginx;
  readonly #database: TestDatabase;
  readonly #nodes: NodeProcess[];

  static async start(): Promise<NodesBehindNginx> {
    const database = await postgres.createForServer();
    let nodes: NodeProcess[] = [];
    try {
      const ports = [await findFreePort(), await findFreePort()] as const;
      nodes = await startNodes(2, (index) => optionsFor(database, ports[index]!));
      return new NodesBehindNginx(database, nodes, await Nginx.start(ports));
    } catch (error) {
      await stopNodes(nodes);
      await database.remove();
      throw error;
    }
  }

  private constructor(database: TestDatabase, nodes: NodeProcess[], nginx: Nginx) {
    this.#database = database;
    this.#nodes = nodes;
    this.nginx = nginx;
  }

  /** The URLs of the nodes themselves. */
  get urls(): readonly string[] {
    return this.#nodes.map(({ url }) => url);
  }

  /** Restarts a node like a supervisor: stops it, waits, starts it, and waits until it is ready. */
  async restart(index: number): Promise<void> {
    const before = this.#nodes[index]!;
    if (!(await before.stop())) throw new Error(`A node ended with ${before.exitCode}: ${before.log}`);
    const node = await NodeProcess.start(optionsFor(this.#database, Number(new URL(before.url).port)));
    this.#nodes[index] = node;
    const isReady = async () => (await fetch(`${node.url}/readyz`)).status === 200;
    await eventually(isReady, `${node.url} is ready`);
  }

  async stop(): Promise<void> {
    // Kills the nodes, because their stop delay is useless after nginx has ended.
    await this.nginx.stop();
    await Promise.all(this.#nodes.map((node) => node.kill()));
    await this.#database.remove();
  }
}

function optionsFor({ url }: TestDatabase, port: number) {
  return { databaseUrl: url, settings: { ...settings, PORT: String(port) } };
}
