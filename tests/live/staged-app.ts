/** The HTTP side alone, on a real port: the graph and the sessions behind it do what a test tells them to. */

import type { AddressInfo } from 'node:net';
import type { GraphRequest } from '@espalier/contract';
import { pino } from 'pino';
import type { GraphResult, GraphStream } from '../../server/src/graph/graph.ts';
import type { Viewer } from '../../server/src/graph/viewer.ts';
import { createApp, type AppOptions } from '../../server/src/http/app.ts';
import { Refusal } from '../../server/src/refusal.ts';
import type { Sessions } from '../../server/src/sessions/sessions.ts';
import { TestClock } from '../testbed.ts';

type Opened = GraphResult | GraphStream;

/** Nobody waits long: a look every few milliseconds, a beat every few looks. */
export const shortTimes = { lookEveryMs: 5, beatEveryMs: 20, endWithinMs: 200 };

export class StagedApp {
  readonly clock = new TestClock();
  readonly url: string;
  readonly logLines: string[] = [];
  /** Tests put their own in. */
  open: (request: GraphRequest, viewer: Viewer) => Opened | Promise<Opened> = () => dataOf({});
  admit: (viewer: Viewer) => void | Promise<void> = () => undefined;
  readonly endedSessions = new Set<string>();
  /** As long as not, nobody can say whether a token is good. */
  knowsKeys = true;
  readonly #app: Awaited<ReturnType<typeof createApp>>;

  static readonly settings: AppOptions['settings'] = {
    basePath: '',
    trustProxy: false,
    corsOrigins: [],
    maxSubscriptions: 5,
    maxConnections: 1_000,
    maxImportFolders: 100_000,
  };

  static async start(options: Partial<AppOptions> = {}): Promise<StagedApp> {
    const staged: { current?: StagedApp } = {};
    const stage = () => staged.current!;
    const log = pino({ level: 'trace' }, { write: (line: string) => void stage().logLines.push(line) });
    const clock: AppOptions['clock'] = { now: () => stage().clock.now() };
    const app = await createApp({
      sessions: stagedSessions(stage) as Sessions,
      graph: {
        isSubscription: ({ query }) => query.startsWith('subscription'),
        open: (request, viewer) => stage().open(request, viewer),
        run: (request, viewer) => stage().open(request, viewer) as GraphResult,
        admit: (viewer) => stage().admit(viewer),
      },
      clock,
      log,
      version: '0.0.0-test',
      isReady: () => Promise.resolve(true),
      tls: undefined,
      liveTimes: shortTimes,
      ...options,
      settings: { ...StagedApp.settings, ...options.settings },
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    staged.current = new StagedApp(app);
    return staged.current;
  }

  private constructor(app: Awaited<ReturnType<typeof createApp>>) {
    this.#app = app;
    this.url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  }

  get openConnections(): number {
    return (this.#app.server as unknown as { _connections: number })._connections;
  }

  stop(): Promise<void> {
    return this.#app.close();
  }

  /** A token that says whose it is, of which session, and for how many seconds from now. */
  token(userId: string, lifetimeSeconds = 600, sessionId = 'one'): string {
    return `${userId}.${sessionId}.${this.clock.now() + lifetimeSeconds * 1000}`;
  }
}

function stagedSessions(stage: () => StagedApp): Partial<Sessions> {
  return {
    authenticate(token) {
      if (!stage().knowsKeys) throw new Refusal('UNAVAILABLE', 'Not now.');
      const [userId = '', sessionId = '', expiresAt] = token.split('.');
      if (!expiresAt) throw new Refusal('INVALID_AUTH_TOKEN', 'The auth token is not valid.');
      if (Number(expiresAt) <= stage().clock.now()) {
        throw new Refusal('INVALID_AUTH_TOKEN', 'The auth token has expired.', { isExpired: true });
      }
      return { userId, sessionId, expiresAt: Number(expiresAt) };
    },
    logIn: () => Promise.resolve({ authToken: 'a', refreshToken: 'r', expiresInSeconds: 600 }),
    isEnded: ({ sessionId }) => stage().endedSessions.has(sessionId),
  };
}

export function dataOf(data: unknown): GraphResult {
  return { isExecuted: true, body: { data } };
}

/** A stream that gives what it is told to, when it is told to. */
export class StagedStream implements GraphStream {
  readonly #answers: GraphResult[] = [];
  #wake: () => void = () => undefined;
  /** How many answers were asked for. */
  asked = 0;
  isOver = false;
  #failure: unknown;

  give(...data: unknown[]): void {
    this.#answers.push(...data.map(dataOf));
    this.#wake();
  }

  /** After what it was told to give. */
  end(): void {
    this.isOver = true;
    this.#wake();
  }

  fail(error: unknown): void {
    this.#failure = error;
    this.#wake();
  }

  async next(): Promise<IteratorResult<GraphResult, undefined>> {
    this.asked++;
    for (;;) {
      if (this.#failure) throw this.#failure as Error;
      const value = this.#answers.shift();
      if (value) return { done: false, value };
      if (this.isOver) return { done: true, value: undefined };
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  return(): Promise<IteratorResult<GraphResult, undefined>> {
    this.#answers.length = 0;
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** Waits for something that will be so soon. */
export async function eventually(isSo: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`Never: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
