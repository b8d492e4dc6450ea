/** An installation under test: a server as `npm start` runs it, in its own process, with its own database. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LoginResponse } from '@espalier/contract';
import pg from 'pg';
import { ApiClient, type Credentials } from '../tests/support/api-client.ts';
import { administrator, NodeProcess } from '../tests/many-nodes/node-process.ts';
import { PostgresServer } from '../tests/postgres/postgres-server.ts';
import { listChildren, readFamilyCpuMicroseconds, loadCore, pinToCore, serverCore } from './processes.ts';
import type { RunQuery } from './tree.ts';

export type DatabaseName = 'sqlite' | 'postgres';
export const databaseNames: readonly DatabaseName[] = ['sqlite', 'postgres'];

/**
 * The log level is the default of the server, because test processes log less. Auth tokens are valid for a day, because
 * no client refreshes them.
 */
const siteSettings = { LOG_LEVEL: 'info', AUTH_TOKEN_SECONDS: '86400' };

export interface SiteOptions {
  readonly database: DatabaseName;
  /** Another checkout of this repository to run instead of this one. */
  readonly checkout?: string | undefined;
  /** Settings of the server by environment variable, without the prefix. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export class Site {
  readonly folder = mkdtempSync(join(tmpdir(), 'espalier-bench-'));
  readonly #options: SiteOptions;
  #postgres: { readonly server: PostgresServer; readonly pid: number } | undefined;
  #node: NodeProcess | undefined;

  static async start(options: SiteOptions): Promise<Site> {
    const site = new Site(options);
    try {
      if (options.database === 'postgres') await site.#startPostgres();
      await site.startServer();
      return site;
    } catch (error) {
      await site.stop();
      throw error;
    }
  }

  private constructor(options: SiteOptions) {
    this.#options = options;
  }

  get url(): string {
    return this.#node!.url;
  }

  get pid(): number {
    return this.#node!.pid;
  }

  /** Returns the CPU time of the server and of all PostgreSQL processes since their start. */
  cpuMicroseconds(): number {
    const database = this.#postgres ? readFamilyCpuMicroseconds(this.#postgres.pid) : 0;
    return readFamilyCpuMicroseconds(this.pid) + database;
  }

  async startServer(): Promise<void> {
    this.#node = await NodeProcess.start({
      databaseUrl: this.#postgres?.server.superuserUrl ?? `sqlite:${join(this.folder, 'espalier.db')}`,
      ...(this.#options.checkout && { checkout: this.#options.checkout }),
      settings: { ...siteSettings, ...this.#options.settings },
      logFile: join(this.folder, 'log'),
      signal: this.#options.signal,
    });
    pinToCore(this.pid, serverCore);
  }

  async stopServer(): Promise<void> {
    await this.#node?.stop();
    this.#node = undefined;
  }

  /**
   * Restarts the server after an import, so that no scenario measures the garbage and the pending writes of the
   * import.
   */
  async settle(): Promise<void> {
    await this.stopServer();
    if (this.#postgres) {
      const client = new pg.Client(this.#postgres.server.superuserUrl);
      await client.connect();
      await client.query('vacuum analyze');
      await client.query('checkpoint');
      await client.end();
    }
    await this.startServer();
  }

  async logIn(credentials: Credentials = administrator): Promise<string> {
    return (await this.logInTokens(credentials)).authToken;
  }

  async logInTokens(credentials: Credentials = administrator): Promise<LoginResponse> {
    const response = await fetch(`${this.url}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(credentials),
      signal: this.#options.signal,
    });
    if (!response.ok) throw new Error(`/login returned ${response.status}.`);
    return (await response.json()) as LoginResponse;
  }

  /** Returns a function that runs queries as the administrator, with one token. */
  async createQueryRunner(): Promise<RunQuery> {
    const client = new ApiClient(this.url, this.#options.signal);
    const authToken = await this.logIn();
    return (query, variables = {}) => client.query(query, variables, authToken);
  }

  async stop(): Promise<void> {
    await this.stopServer();
    await this.#postgres?.server.remove();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #startPostgres(): Promise<void> {
    const pidsBefore = listChildren(process.pid);
    const server = await PostgresServer.start({ isDurable: true });
    const newPids = listChildren(process.pid).filter((pid) => !pidsBefore.includes(pid));
    // The other new process cleans up and has no children.
    const pid = newPids.find((each) => listChildren(each).length > 0)!;
    this.#postgres = { server, pid };
    pinToCore(pid, loadCore);
  }
}

export { administrator };
