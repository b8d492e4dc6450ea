/** The server as operators run it, with default settings, in a process and a temporary folder of its own. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient, type Credentials } from '../../tests/api-client.ts';
import { administrator, NodeProcess } from '../../tests/many-nodes/node-process.ts';
import type { Asked, TokenPair } from './volley.ts';
import type { Target } from './load-process.ts';
import type { Course } from './race.ts';

export interface OurServerOptions {
  /** Without it, a new SQLite file that is removed at the end. */
  readonly databaseUrl?: string;
  /** By environment variable, without the prefix. */
  readonly settings?: Readonly<Record<string, string>>;
  /** A module that is loaded before the program. */
  readonly preload?: string;
}

export interface GraphBody {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** Each answer is read from the database: one that is kept would say nothing of what reading costs. */
export const keepsNothing = { KEPT_ANSWERS_MB: '0' };

/** As it is by default: each request has a line. */
const usualSettings = { LOG_LEVEL: 'info' };

export class OurServer implements Target {
  readonly #folder: string;
  readonly #node: NodeProcess;
  readonly #client: ApiClient;

  static async start(
    { signal, pin }: Pick<Course, 'signal' | 'pin'>,
    { databaseUrl, settings, preload }: OurServerOptions = {},
  ): Promise<OurServer> {
    const folder = temporaryFolder();
    try {
      const node = await NodeProcess.start({
        databaseUrl: databaseUrl ?? `sqlite:${fileIn(folder)}`,
        settings: { ...usualSettings, ...settings },
        signal,
        logFile: join(folder, 'log'),
        ...(preload && { preload }),
      });
      pin(node.pid);
      return new OurServer(folder, node, new ApiClient(node.url, signal));
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  private constructor(folder: string, node: NodeProcess, client: ApiClient) {
    this.#folder = folder;
    this.#node = node;
    this.#client = client;
  }

  get url(): string {
    return this.#node.url;
  }

  get pid(): number {
    return this.#node.pid;
  }

  /** What it has logged. */
  get log(): string {
    return this.#node.log;
  }

  /** Of the database, unless it is elsewhere. */
  get file(): string {
    return fileIn(this.#folder);
  }

  async logIn(credentials: Credentials = administrator): Promise<TokenPair> {
    const response = await fetch(`${this.url}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(credentials),
    });
    if (!response.ok) throw new Error(`/login: ${response.status}`);
    return (await response.json()) as TokenPair;
  }

  /** Asks as the administrator, unless told. */
  async ask<Data>(
    query: string,
    variables: Record<string, unknown> = {},
    credentials: Credentials = administrator,
  ): Promise<Data> {
    return this.#client.ask<Data>(query, variables, (await this.logIn(credentials)).authToken);
  }

  /** A query as clients send it; the token lives for ten minutes. */
  async graphRequest(body: GraphBody, credentials?: Credentials): Promise<Asked> {
    return graphRequest(body, (await this.logIn(credentials)).authToken);
  }

  async stop(): Promise<void> {
    await this.#node.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export function graphRequest(body: GraphBody, authToken: string): Asked {
  return tokenRequest('/graphql', body, { authorization: `Bearer ${authToken}` });
}

export function tokenRequest(path: string, body: object, headers: Asked['headers'] = {}): Asked {
  return {
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'espalier-bench-'));
}

export function fileIn(folder: string): string {
  return join(folder, 'espalier.db');
}
