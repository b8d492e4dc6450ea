/** The HTTP layer on a real port, with a stub graph and stub sessions that a test controls. */

import type { Socket } from 'node:net';
import type { GraphRequest } from '@espalier/contract';
import { pino } from 'pino';
import type { ExecutionOptions, GraphResult, GraphStream } from '../../server/src/graph/graph.ts';
import type { Viewer } from '../../server/src/sessions/auth-token.ts';
import { readSettings } from '../../server/src/config/config.ts';
import { createApp, type App } from '../../server/src/http/app.ts';
import type { AppOptions } from '../../server/src/http/http-services.ts';
import { Activity } from '../../server/src/observability/activity.ts';
import { createOutageLog } from '../../server/src/observability/outage-log.ts';
import { Refusal } from '../../server/src/refusal.ts';
import type { SessionViewer } from '../../server/src/sessions/auth-token.ts';
import type { Sessions } from '../../server/src/sessions/sessions.ts';
import type { SigningKeys } from '../../server/src/sessions/signing-keys.ts';
import { recordLog } from '../secrets/secret-record.ts';
import { TestClock } from '../support/testbed.ts';

type OpenResult = GraphResult | GraphStream;

/**
 * Short intervals, so that no test waits long: a poll every few milliseconds, a heartbeat every few polls.
 */
export const shortTimings: NonNullable<AppOptions['liveTimings']> = {
  checkEveryMs: 5,
  heartbeatEveryMs: 20,
  endWithinMs: 200,
};

export interface StubAppOptions extends Partial<Omit<AppOptions, 'settings'>> {
  readonly settings?: Partial<AppOptions['settings']>;
  readonly host?: string;
}

export class StubApp {
  readonly clock = new TestClock();
  readonly url: string;
  readonly logLines: string[] = [];
  /** Replaced by tests. */
  open: (
    request: GraphRequest,
    viewer: Viewer,
    options?: ExecutionOptions,
  ) => OpenResult | Promise<OpenResult> = () => dataOf({});
  admit: (viewer: Viewer) => void | Promise<void> = () => undefined;
  readonly endedSessions = new Set<string>();
  /** While this is false, `authenticate` refuses every token with UNAVAILABLE. */
  hasKeys = true;
  readonly #app: App;
  #openConnections = 0;

  static readonly settings: AppOptions['settings'] = {
    ...readSettings({ environment: {} }).settings,
    maxSubscriptions: 5,
    maxConnections: 1_000,
  };

  static async start({ settings, host, ...options }: StubAppOptions = {}): Promise<StubApp> {
    const holder: { current?: StubApp } = {};
    const getStub = () => holder.current!;
    const write = (line: string) => {
      getStub().logLines.push(line);
      recordLog(line);
    };
    const log = pino({ level: 'trace' }, { write });
    const clock: AppOptions['clock'] = { now: () => getStub().clock.now() };
    const app = await createApp({
      sessions: createStubSessions(getStub) as Sessions,
      loginEnrolments: {} as AppOptions['loginEnrolments'],
      passkeyLogin: {} as AppOptions['passkeyLogin'],
      graph: {
        isSubscription: ({ query }) => query.startsWith('subscription'),
        open: (request, viewer, options) => getStub().open(request, viewer, options),
        run: (request, viewer, options) => getStub().open(request, viewer, options) as GraphResult,
        admit: (viewer) => getStub().admit(viewer),
        admitLarge: () => undefined,
        scheduleRead: (_, read) => Promise.resolve().then(read),
      },
      keys: { all: [], current: { privateKey: 'x' } } as unknown as SigningKeys,
      clock,
      log,
      version: '0.0.0-test',
      isReady: () => Promise.resolve(true),
      findFault: () => undefined,
      checkHealth: () => Promise.resolve([]),
      activity: new Activity(clock),
      logOutage: createOutageLog(log, clock),
      tls: undefined,
      liveTimings: shortTimings,
      ...options,
      settings: { ...StubApp.settings, ...settings },
    });
    const { address, port } = await app.listen({ port: 0, host: host ?? '127.0.0.1' });
    holder.current = new StubApp(app, `${options.tls ? 'https' : 'http'}://${address}:${port}`);
    return holder.current;
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

  /** Returns a token that contains the user, the session and the expiry. */
  token(userId: string, lifetimeSeconds = 600, sessionId = 'one'): string {
    return `${userId}.${sessionId}.${this.clock.now() + lifetimeSeconds * 1000}`;
  }
}

function createStubSessions(getStub: () => StubApp): Partial<Sessions> {
  const authenticate = (token: string): SessionViewer => {
    if (!getStub().hasKeys) throw new Refusal('UNAVAILABLE', 'Not now.');
    const [userId = '', sessionId = '', expiresAt] = token.split('.');
    if (!expiresAt) throw new Refusal('INVALID_AUTH_TOKEN', 'The auth token is not valid.');
    if (Number(expiresAt) <= getStub().clock.now()) {
      throw new Refusal('INVALID_AUTH_TOKEN', 'The auth token has expired.', { isExpired: true });
    }
    return { userId, sessionId, signingKeyId: '', tokenExpiresAt: Number(expiresAt) };
  };
  return {
    authenticate,
    authenticateRequest: authenticate,
    logIn: () =>
      Promise.resolve({
        authToken: 'a',
        refreshToken: 'r',
        expiresInSeconds: 600,
        userId: 'u',
        sessionId: 's',
      }),
    isEnded: ({ sessionId }) => getStub().endedSessions.has(sessionId ?? ''),
    isViewEnded: () => false,
    recordApiKeyUse: () => undefined,
  };
}

export function dataOf(data: unknown): GraphResult {
  return {
    isExecuted: true,
    // Computed on access, because the serialization may fail.
    get text() {
      return JSON.stringify({ data });
    },
  };
}

/** A stream that yields the values that a test pushes. */
export class StubStream implements GraphStream {
  readonly #responses: GraphResult[] = [];
  #wake: () => void = () => undefined;
  /** The number of calls of `next`. */
  nextCalls = 0;
  hasEnded = false;
  #failure: unknown;
  /** The cursor to resume from. */
  cursor: string | undefined;
  reached = 0;
  /** The argument of `endAfter`. */
  endsAfter = Infinity;

  push(...data: unknown[]): void {
    this.#responses.push(...data.map(dataOf));
    this.#wake();
  }

  /** Ends the stream after the values that were already pushed. */
  end(): void {
    this.hasEnded = true;
    this.#wake();
  }

  fail(error: unknown): void {
    this.#failure = error;
    this.#wake();
  }

  async next(): Promise<IteratorResult<GraphResult, undefined>> {
    this.nextCalls++;
    for (;;) {
      if (this.#failure) throw this.#failure as Error;
      const value = this.#responses.shift();
      if (value) return { done: false, value };
      if (this.hasEnded) return { done: true, value: undefined };
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  return(): Promise<IteratorResult<GraphResult, undefined>> {
    this.#responses.length = 0;
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  cursorAfter(): string | undefined {
    return this.cursor;
  }

  endAfter(number: number): void {
    this.endsAfter = number;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
