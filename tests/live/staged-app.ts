/** The HTTP side alone, on a real port: the graph and the sessions behind it do what a test tells them to. */

import type { Socket } from 'node:net';
import type { GraphRequest } from '@espalier/contract';
import { pino } from 'pino';
import type { GraphLimits, GraphResult, GraphStream } from '../../server/src/graph/graph.ts';
import type { Viewer } from '../../server/src/graph/viewer.ts';
import { createApp, type App, type AppOptions } from '../../server/src/http/app.ts';
import { Refusal } from '../../server/src/refusal.ts';
import type { Sessions } from '../../server/src/sessions/sessions.ts';
import type { SigningKeys } from '../../server/src/sessions/signing-keys.ts';
import { keepLog } from '../secrets/secret-record.ts';
import { TestClock } from '../testbed.ts';

type Opened = GraphResult | GraphStream;

/** Nobody waits long: a look every few milliseconds, a beat every few looks. */
export const shortTimes = { lookEveryMs: 5, beatEveryMs: 20, endWithinMs: 200 };

export interface StagedOptions extends Partial<Omit<AppOptions, 'settings'>> {
  readonly settings?: Partial<AppOptions['settings']>;
  readonly host?: string;
}

export class StagedApp {
  readonly clock = new TestClock();
  readonly url: string;
  readonly logLines: string[] = [];
  /** Tests put their own in. */
  open: (request: GraphRequest, viewer: Viewer, limits?: GraphLimits) => Opened | Promise<Opened> = () =>
    dataOf({});
  admit: (viewer: Viewer) => void | Promise<void> = () => undefined;
  readonly endedSessions = new Set<string>();
  /** As long as not, nobody can say whether a token is good. */
  knowsKeys = true;
  readonly #app: App;
  #openConnections = 0;

  static readonly settings: AppOptions['settings'] = {
    basePath: '',
    trustProxy: false,
    corsOrigins: [],
    maxSubscriptions: 5,
    maxConnections: 1_000,
    maxImportFolders: 100_000,
    stopSeconds: 10,
    stopDelaySeconds: 0,
  };

  static async start({ settings, host, ...options }: StagedOptions = {}): Promise<StagedApp> {
    const staged: { current?: StagedApp } = {};
    const stage = () => staged.current!;
    const write = (line: string) => {
      stage().logLines.push(line);
      keepLog(line);
    };
    const log = pino({ level: 'trace' }, { write });
    const clock: AppOptions['clock'] = { now: () => stage().clock.now() };
    const app = await createApp({
      sessions: stagedSessions(stage) as Sessions,
      graph: {
        isSubscription: ({ query }) => query.startsWith('subscription'),
        open: (request, viewer, limits) => stage().open(request, viewer, limits),
        run: (request, viewer, limits) => stage().open(request, viewer, limits) as GraphResult,
        admit: (viewer) => stage().admit(viewer),
        admitLarge: () => undefined,
        readInTurn: (_, read) => Promise.resolve().then(read),
      },
      keys: { all: [], current: { privateKey: 'x' } } as unknown as SigningKeys,
      clock,
      log,
      version: '0.0.0-test',
      isReady: () => Promise.resolve(true),
      findFault: () => undefined,
      checkHealth: () => Promise.resolve([]),
      tls: undefined,
      liveTimes: shortTimes,
      ...options,
      settings: { ...StagedApp.settings, ...settings },
    });
    const { address, port } = await app.listen({ port: 0, host: host ?? '127.0.0.1' });
    staged.current = new StagedApp(app, `${options.tls ? 'https' : 'http'}://${address}:${port}`);
    return staged.current;
  }

  private constructor(app: App, url: string) {
    this.#app = app;
    this.url = url;
    app.server.on('connection', (socket: Socket) => {
      this.#openConnections++;
      socket.once('close', () => this.#openConnections--);
    });
  }

  get openConnections(): number {
    return this.#openConnections;
  }

  stop(): Promise<void> {
    return this.#app.stop();
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
      return { userId, sessionId, keyId: '', expiresAt: Number(expiresAt) };
    },
    logIn: () => Promise.resolve({ authToken: 'a', refreshToken: 'r', expiresInSeconds: 600, userId: 'u' }),
    isEnded: ({ sessionId }) => stage().endedSessions.has(sessionId),
  };
}

export function dataOf(data: unknown): GraphResult {
  return {
    isExecuted: true,
    // When it is sent: that may fail.
    get text() {
      return JSON.stringify({ data });
    },
  };
}

/** A stream that gives what it is told to, when it is told to. */
export class StagedStream implements GraphStream {
  readonly #answers: GraphResult[] = [];
  #wake: () => void = () => undefined;
  /** How many answers were asked for. */
  asked = 0;
  isOver = false;
  #failure: unknown;
  /** Where the client may go on. */
  cursor: string | undefined;
  reached = 0;
  /** How far it was told to go. */
  goesTo = Infinity;

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

  cursorAfter(): string | undefined {
    return this.cursor;
  }

  stopAfter(number: number): void {
    this.goesTo = number;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
