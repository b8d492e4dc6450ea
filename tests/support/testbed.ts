/** A real server on a real port with a clock that tests control, and a plain HTTP client for it. */

import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { readSettings, startServer, type Clock, type RunningServer } from 'espalier';
import type { LoginResponse, Problem } from '@espalier/contract';
import type { DatabaseKind, TestDatabase } from './databases.ts';
import { readAuthorization, recordLog, recordSettings, readText } from '../secrets/secret-record.ts';
import { assertNoEcho } from '../secrets/echo.ts';

export class TestClock implements Clock {
  #now = Date.parse('2026-03-01T12:00:00Z');

  now(): number {
    return this.#now;
  }

  advanceSeconds(seconds: number): void {
    this.#now += seconds * 1000;
  }

  advanceMs(ms: number): void {
    this.#now += ms;
  }
}

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parses the body as JSON and throws if it is not JSON. */
  json<T = unknown>(): T;
}

export interface TestbedOptions {
  /** Settings by environment variable, without the prefix. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Uses this database. By default the testbed creates an empty one and removes it at the end. */
  readonly database?: TestDatabase;
  readonly clock?: TestClock;
  /** The folder with the built console, or null to start without a console. */
  readonly consoleFolder?: string | null;
  /** The folder with the built documentation site. */
  readonly documentationFolder?: string;
  /** Purges expired data by timer. By default only `purge()` does it. */
  readonly purgesByTimer?: boolean;
  /** Logs and counts a failing query plan, like a production server. By default a failing plan fails the request. */
  readonly mayPlansFail?: boolean;
  /** Receives the statements of requests, without the statements that read new journal entries and the signing keys. */
  readonly onStatement?: (text: string) => void;
}

export function failOnPlanFailure(error: unknown): never {
  throw new Error('A query plan failed.', { cause: error });
}

export const administrator = { username: 'admin', password: `correct horse ${randomUUID()}` };

/** The minimum cost. Otherwise hashing would dominate the duration of many tests. */
export const minPasswordCost = { memoryCost: 8, timeCost: 1, parallelism: 1 };

export class Testbed {
  readonly clock: TestClock;
  readonly database: TestDatabase;
  readonly logLines: readonly string[];
  readonly #server: RunningServer;
  readonly #ownsDatabase: boolean;

  static async start(kind: DatabaseKind, options: TestbedOptions = {}): Promise<Testbed> {
    const database = options.database ?? (await kind.createForServer());
    const clock = options.clock ?? new TestClock();
    const logLines: string[] = [];
    const unprefixed = {
      PORT: '0',
      DATABASE_URL: database.url,
      ADMIN_USERNAME: administrator.username,
      ADMIN_PASSWORD: administrator.password,
      ...options.settings,
    };
    recordSettings(unprefixed);
    const environment = Object.fromEntries(
      Object.entries(unprefixed).map(([name, value]) => [`ESPALIER_${name}`, value]),
    );
    const write = (line: string) => {
      logLines.push(line);
      recordLog(line);
    };
    const { settings, displayed } = readSettings({ environment });
    const server = await startServer({
      settings,
      displayedSettings: displayed,
      clock,
      log: pino({ level: 'trace' }, { write }),
      version: '0.0.0-test',
      isHousekeepingManual: !options.purgesByTimer,
      ...(!options.mayPlansFail && { onPlanFailure: failOnPlanFailure }),
      ...(options.consoleFolder !== undefined && { consoleFolder: options.consoleFolder }),
      documentationFolder: options.documentationFolder,
      passwordCost: minPasswordCost,
      ...(options.onStatement && { onStatement: onlyRequests(options.onStatement) }),
    });
    return new Testbed({ clock, database, logLines, server, ownsDatabase: !options.database });
  }

  private constructor(parts: {
    clock: TestClock;
    database: TestDatabase;
    logLines: string[];
    server: RunningServer;
    ownsDatabase: boolean;
  }) {
    this.clock = parts.clock;
    this.database = parts.database;
    this.logLines = parts.logLines;
    this.#server = parts.server;
    this.#ownsDatabase = parts.ownsDatabase;
  }

  get url(): string {
    return this.#server.url;
  }

  /** Undefined if the server has no metrics port. */
  get metricsUrl(): string | undefined {
    return this.#server.metricsUrl;
  }

  async stop(): Promise<void> {
    await this.#server.close();
    if (this.#ownsDatabase) await this.database.remove();
  }

  async purge(): Promise<void> {
    await this.#server.runHousekeeping();
  }

  async send(method: string, path: string, init: Omit<RequestInit, 'method'> = {}): Promise<TestResponse> {
    const response = await fetch(this.url + path, { ...init, method });
    const text = await response.text();
    assertNoEcho(
      { path, text: readText(init.body) + readAuthorization(init.headers) },
      {
        status: response.status,
        headers: response.headers,
        text,
      },
    );
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: <T>() => JSON.parse(text) as T,
    };
  }

  /** Posts a value as JSON, optionally with an auth token. */
  async post(path: string, value: unknown, authToken?: string): Promise<TestResponse> {
    return this.postRaw(path, JSON.stringify(value), {
      'content-type': 'application/json',
      ...(authToken !== undefined && { authorization: `Bearer ${authToken}` }),
    });
  }

  /** Posts the exact bytes. Adds no header. */
  async postRaw(
    path: string,
    body: string | Uint8Array,
    headers: Record<string, string>,
  ): Promise<TestResponse> {
    return this.send('POST', path, { body: Buffer.from(body), headers });
  }

  async logIn(credentials: { username: string; password: string } = administrator): Promise<LoginResponse> {
    return (await this.post('/login', credentials)).json<LoginResponse>();
  }

  async refresh({
    authToken,
    refreshToken,
  }: Pick<LoginResponse, 'authToken' | 'refreshToken'>): Promise<TestResponse> {
    return this.post('/login/refresh', { refreshToken }, authToken);
  }

  async query(query: string, authToken?: string, variables?: Record<string, unknown>): Promise<TestResponse> {
    return this.post('/graphql', { query, variables }, authToken);
  }
}

function onlyRequests(onStatement: (text: string) => void): (text: string) => void {
  return (text) => {
    if (!/from journal where number > (\?|\$1)|from signing_keys order by/.test(text)) onStatement(text);
  };
}

export function problemOf(response: TestResponse): Problem {
  return response.json<Problem>();
}
