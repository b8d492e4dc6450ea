/** A real server on a real port with a clock that tests move, and a plain HTTP client for it. */

import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { readSettings, startServer, type Clock, type RunningServer } from 'espalier';
import type { LoginResponse, Problem } from '@espalier/contract';
import type { DatabaseKind, TestDatabase } from './databases.ts';
import { headersOf, keepLog, noteSettings, textOf } from './secrets/secret-record.ts';
import { assertNoEcho } from './secrets/echo.ts';

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

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; fails the test if it is not. */
  json<T = unknown>(): T;
}

export interface TestbedOptions {
  /** Settings by environment variable, without the prefix. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Instead of a new, empty one, which is removed at the end. */
  readonly database?: TestDatabase;
  readonly clock?: TestClock;
  /** Where the built files of the console are; null if it has not been built. */
  readonly consoleFolder?: string | null;
  /** Instead of when it is told to. */
  readonly sweepsByItself?: boolean;
  /** As much as in a real installation: for tests in which that matters. */
  readonly hashesAtFullCost?: boolean;
  /** A query plan that fails is logged and counted, as in a real installation. By default it fails the request. */
  readonly mayPlansFail?: boolean;
  /** Told of the statements of requests: not of what the node reads of the journal and of keys by itself. */
  readonly onStatement?: (text: string) => void;
}

/** In tests a query plan that fails unexpectedly fails the request. */
export function failOnPlanFailure(error: unknown): never {
  throw new Error('A query plan failed.', { cause: error });
}

export const administrator = { username: 'admin', password: `correct horse ${randomUUID()}` };

/** The least that there is: otherwise hashing is most of what many tests do. */
export const leastCost = { memoryCost: 8, timeCost: 1, parallelism: 1 };

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
    const given = {
      PORT: '0',
      DATABASE_URL: database.url,
      ADMIN_USERNAME: administrator.username,
      ADMIN_PASSWORD: administrator.password,
      ...options.settings,
    };
    noteSettings(given);
    const environment = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [`ESPALIER_${name}`, value]),
    );
    const write = (line: string) => {
      logLines.push(line);
      keepLog(line);
    };
    const { settings, shown } = readSettings({ environment });
    const server = await startServer({
      settings,
      shownSettings: shown,
      clock,
      log: pino({ level: 'trace' }, { write }),
      version: '0.0.0-test',
      isSweptByHand: !options.sweepsByItself,
      ...(!options.mayPlansFail && { onPlanFailure: failOnPlanFailure }),
      ...(options.consoleFolder !== undefined && { consoleFolder: options.consoleFolder }),
      ...(!options.hashesAtFullCost && { passwordCost: leastCost }),
      ...(options.onStatement && { onStatement: ofRequests(options.onStatement) }),
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

  /** If it has a port for metrics. */
  get metricsUrl(): string | undefined {
    return this.#server.metricsUrl;
  }

  async stop(): Promise<void> {
    await this.#server.close();
    if (this.#ownsDatabase) await this.database.remove();
  }

  async sweep(): Promise<void> {
    await this.#server.sweep();
  }

  async send(method: string, path: string, init: Omit<RequestInit, 'method'> = {}): Promise<Answer> {
    const response = await fetch(this.url + path, { ...init, method });
    const text = await response.text();
    assertNoEcho(
      { path, text: textOf(init.body) + headersOf(init.headers) },
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

  /** Posts a value as JSON, with an auth token if one is given. */
  async post(path: string, value: unknown, authToken?: string): Promise<Answer> {
    return this.postRaw(path, JSON.stringify(value), {
      'content-type': 'application/json',
      ...(authToken !== undefined && { authorization: `Bearer ${authToken}` }),
    });
  }

  /** Posts these very bytes; no header is added. */
  async postRaw(path: string, body: string | Uint8Array, headers: Record<string, string>): Promise<Answer> {
    return this.send('POST', path, { body: Buffer.from(body), headers });
  }

  async logIn(credentials: { username: string; password: string } = administrator): Promise<LoginResponse> {
    return (await this.post('/login', credentials)).json<LoginResponse>();
  }

  async refresh({
    authToken,
    refreshToken,
  }: Pick<LoginResponse, 'authToken' | 'refreshToken'>): Promise<Answer> {
    return this.post('/login/refresh', { refreshToken }, authToken);
  }

  async query(query: string, authToken?: string, variables?: Record<string, unknown>): Promise<Answer> {
    return this.post('/graphql', { query, variables }, authToken);
  }
}

function ofRequests(tell: (text: string) => void): (text: string) => void {
  return (text) => {
    if (!/from journal where number > (\?|\$1)/.test(text)) tell(text);
  };
}

export function problemOf(answer: Answer): Problem {
  return answer.json<Problem>();
}
