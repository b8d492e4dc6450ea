/** A durable PostgreSQL for a run, which can be stopped, crashed, frozen and cut off. */

import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { PostgresServer } from '../../postgres/postgres-server.ts';
import type { ChaosDatabase } from './chaos-database.ts';
import type { Tally } from './tally.ts';

const databaseName = 'espalier';

export class ChaosPostgres implements ChaosDatabase {
  readonly isAwayAtTimes = true;
  readonly server: PostgresServer;

  static async start(): Promise<ChaosPostgres> {
    const server = await PostgresServer.start({ isDurable: true });
    try {
      await ask(server.url, `create database ${databaseName} template template0 encoding 'UTF8'`);
      return new ChaosPostgres(server);
    } catch (error) {
      await server.remove();
      throw error;
    }
  }

  private constructor(server: PostgresServer) {
    this.server = server;
  }

  get url(): string {
    const url = new URL(this.server.url);
    url.pathname = databaseName;
    return url.href;
  }

  /** When nobody does anything, no node has a transaction open. */
  async check(tally: Tally): Promise<void> {
    const held = await ask<{ state: string; query: string; seconds: number }>(
      this.url,
      `select state, query, extract(epoch from now() - xact_start)::float8 as seconds from pg_stat_activity
      where application_name = 'espalier' and state <> 'idle' and now() - xact_start > interval '2 seconds'`,
    );
    for (const { state, query, seconds } of held) {
      tally.violation(`a connection is ${state} for ${seconds.toFixed(1)} s: ${query.slice(0, 200)}`);
    }
  }

  /** All processes of the server do nothing for a while; then they go on where they were. */
  async freeze(ms: number): Promise<void> {
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

  remove(): Promise<void> {
    return this.server.remove();
  }
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
