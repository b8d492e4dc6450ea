/** Some nodes on one durable PostgreSQL, each of which can be killed and comes back, as a supervisor would have it. */

import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { PostgresServer } from '../../postgres/postgres-server.ts';
import { NodeProcess, startNodes } from '../node-process.ts';
import type { Tally } from './tally.ts';

const startAgainMs = 300;
const startWithinMs = 90_000;
const databaseName = 'espalier';

const settings = {
  // Many log in from one address.
  LOGIN_THROTTLE: 'off',
  // Nobody's token ends during a run.
  ACCESS_TOKEN_SECONDS: '86400',
};

export class Cluster {
  readonly server: PostgresServer;
  readonly #nodes: (NodeProcess | undefined)[];
  readonly #tally: Tally;
  /** Of all that ever ran. */
  readonly #all: NodeProcess[];

  static async start(count: number, tally: Tally): Promise<Cluster> {
    const server = await PostgresServer.start({ isDurable: true });
    try {
      await ask(server.url, `create database ${databaseName} template template0 encoding 'UTF8'`);
      const nodes = await startNodes(count, { databaseUrl: urlOf(server, databaseName), settings });
      return new Cluster(server, nodes, tally);
    } catch (error) {
      await server.remove();
      throw error;
    }
  }

  private constructor(server: PostgresServer, nodes: NodeProcess[], tally: Tally) {
    this.server = server;
    this.#nodes = nodes;
    this.#all = [...nodes];
    this.#tally = tally;
  }

  get count(): number {
    return this.#nodes.length;
  }

  get databaseUrl(): string {
    return urlOf(this.server, databaseName);
  }

  /** Of those that run. */
  get urls(): readonly string[] {
    return this.#nodes.flatMap((node) => node?.url ?? []);
  }

  /** Behind the nodes' backs. */
  rows<Row extends pg.QueryResultRow>(question: string): Promise<Row[]> {
    return ask<Row>(this.databaseUrl, question);
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
        const node = await NodeProcess.start({ databaseUrl: this.databaseUrl, settings });
        this.#nodes[place] = node;
        this.#all.push(node);
        this.#tally.time('a start of a node', performance.now() - began);
        return;
      } catch (error) {
        const { message } = error as Error;
        this.#tally.count('starts that failed');
        if (!/^The node did not start: espalier: The database .*\n$/.test(message)) {
          this.#tally.violation(`A start ended with more than a line: ${message}`);
        }
        if (performance.now() - began > startWithinMs) throw error;
      }
      await sleep(startAgainMs);
    }
  }

  async freezeNode(place: number, ms: number): Promise<void> {
    await this.#nodes[place]?.freeze(ms);
  }

  /** All processes of the server do nothing for a while; then they go on where they were. */
  async freezeDatabase(ms: number): Promise<void> {
    const [row] = await ask<{ pid: number }>(this.server.superuserUrl, 'select pg_backend_pid() as pid');
    const pids = familyOf(row!.pid);
    const send = (signal: NodeJS.Signals) => pids.forEach((pid) => signalIfThere(pid, signal));
    send('SIGSTOP');
    await sleep(ms);
    send('SIGCONT');
  }

  /** Closes all connections of the nodes, as a failing network does. */
  async cutConnections(): Promise<number> {
    const cut = await ask(
      this.server.superuserUrl,
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'espalier'`,
    );
    return cut.length;
  }

  /** What the nodes have said: bugs, and whatever is no log line. */
  complaints(): string[] {
    const lines = this.#all.flatMap(({ log }) => log.split('\n')).filter((line) => line !== '');
    return lines.filter((line) => {
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
    await this.server.remove();
  }
}

function urlOf(server: PostgresServer, database: string): string {
  const url = new URL(server.url);
  url.pathname = database;
  return url.href;
}

async function ask<Row extends pg.QueryResultRow>(url: string, question: string): Promise<Row[]> {
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(question)).rows;
  } finally {
    await client.end();
  }
}

/** The parent of a process of PostgreSQL, and all of its children. */
function familyOf(pid: number): number[] {
  const parent = parentOf(pid);
  const children = readdirSync('/proc')
    .map(Number)
    .filter((each) => each > 0 && parentOf(each) === parent);
  return parent === undefined ? [] : [parent, ...children];
}

/** https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function parentOf(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}
