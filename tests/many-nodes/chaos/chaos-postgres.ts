/** The PostgreSQL server of a chaos test, with durable writes. The test can stop, crash and freeze it, and cut its connections. */

import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { PostgresServer } from '../../postgres/postgres-server.ts';
import type { ChaosDatabase } from './chaos-database.ts';
import type { Tally } from './tally.ts';

const databaseName = 'espalier';

export class ChaosPostgres implements ChaosDatabase {
  readonly mayBeDown = true;
  readonly server: PostgresServer;

  static async start(): Promise<ChaosPostgres> {
    const server = await PostgresServer.start({ isDurable: true });
    try {
      await query(server.url, `create database ${databaseName} template template0 encoding 'UTF8'`);
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

  /** Checks that no node has an open transaction while there is no load. */
  async check(tally: Tally): Promise<void> {
    const openTransactions = await query<{ state: string; query: string; seconds: number }>(
      this.url,
      `select state, query, extract(epoch from now() - xact_start)::float8 as seconds from pg_stat_activity
      where application_name = 'espalier' and state <> 'idle' and now() - xact_start > interval '2 seconds'`,
    );
    for (const { state, query, seconds } of openTransactions) {
      tally.reportViolation(
        `a transaction has been open for ${seconds.toFixed(1)} s (${state}): ${query.slice(0, 200)}`,
      );
    }
  }

  /** Suspends all processes of the server for a while. */
  async freeze(ms: number): Promise<void> {
    const [row] = await query<{ pid: number }>(this.server.superuserUrl, 'select pg_backend_pid() as pid');
    const pids = listServerProcesses(row!.pid);
    const send = (signal: NodeJS.Signals) => pids.forEach((pid) => signalIfRunning(pid, signal));
    send('SIGSTOP');
    await sleep(ms);
    send('SIGCONT');
  }

  /** Closes all connections of the nodes, as a failing network does. */
  async cutConnections(): Promise<number> {
    const connections = await query(
      this.server.superuserUrl,
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'espalier'`,
    );
    return connections.length;
  }

  remove(): Promise<void> {
    return this.server.remove();
  }
}

async function query<Row extends pg.QueryResultRow>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}

/** Returns the parent of a PostgreSQL process, and all children of this parent. */
function listServerProcesses(pid: number): number[] {
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

function signalIfRunning(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended.
  }
}
