/** All WebSockets and event streams: one timer for their timeouts, a limit for each user, and the closing when the server stops. */

import type { Logger } from 'pino';
import type { Activity } from '../observability/activity.ts';
import { Refusal } from '../refusal.ts';
import { UsageByUser } from './guards/usage-by-user.ts';

export interface LiveConnection {
  /** Called several times a second, for example to check whether the token has expired. */
  check(): void;
  /** Called every few seconds, to find out whether the client is still there. */
  heartbeat(): void;
  /** Ends the connection when the server stops, unless it waits for a response and `mustEnd` is false. Returns whether it ended the connection. */
  end(mustEnd: boolean): boolean;
  /** Closes the connection without sending anything. */
  terminate(): void;
}

export interface LiveTimings {
  readonly checkEveryMs: number;
  readonly heartbeatEveryMs: number;
  /** How long a client may take to close a connection that was ended. */
  readonly endWithinMs: number;
}

export interface LiveOptions {
  readonly log: Logger;
  /** Counts requests, logins and errors. */
  readonly activity: Activity;
  /** `maxConnections` limits the connections of one user. */
  readonly settings: { readonly maxConnections: number };
  readonly remoteConnections?: RemoteConnections | undefined;
  /** For tests. */
  readonly liveTimings?: LiveTimings;
}

/** The connections of users to the other workers of this node. */
export interface RemoteConnections {
  count(userId: string): number;
  /** Sends the number of connections to this worker to the other workers. */
  publish(userId: string, count: number): void;
}

const defaultTimings: LiveTimings = { checkEveryMs: 250, heartbeatEveryMs: 12_000, endWithinMs: 2_000 };
/** How often `close` tries to end the connections. */
const endEveryMs = 20;

export class LiveConnections {
  /** All connections, each with the number of its checks, which spreads the heartbeats over time. */
  readonly #checks = new Map<LiveConnection, number>();
  readonly #options: LiveOptions;
  readonly #times: LiveTimings;
  readonly #localCounts = new UsageByUser();
  readonly #timer: NodeJS.Timeout;
  #isClosing = false;
  #onEmpty: () => void = () => undefined;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#times = options.liveTimings ?? defaultTimings;
    this.#timer = setInterval(() => this.#checkAll(), this.#times.checkEveryMs);
    this.#timer.unref();
  }

  add(connection: LiveConnection): void {
    this.#checks.set(connection, 0);
    this.#options.activity.sockets = this.#checks.size;
    if (this.#isClosing) connection.end(true);
  }

  remove(connection: LiveConnection): void {
    this.#checks.delete(connection);
    this.#options.activity.sockets = this.#checks.size;
    if (this.#checks.size === 0) this.#onEmpty();
  }

  /** Counts a connection of a user until `release`, or refuses it. */
  reserve(userId: string): void {
    const { settings, remoteConnections: remote } = this.#options;
    const count = this.#localCounts.of(userId) + (remote?.count(userId) ?? 0);
    if (count >= settings.maxConnections) {
      throw new Refusal(
        'UNAVAILABLE',
        `You have ${count} open sockets and event streams, which is the limit. Close one first.`,
        { retryAfterSeconds: 5 },
      );
    }
    this.#count(userId, 1);
  }

  release(userId: string): void {
    this.#count(userId, -1);
  }

  #count(userId: string, difference: number): void {
    this.#localCounts.add(userId, difference);
    this.#options.remoteConnections?.publish(userId, this.#localCounts.of(userId));
  }

  /**
   * Resolves when all connections are closed. Ends connections that take too long, and terminates them if the client does not
   * close them.
   */
  async close(withinMs: number): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#timer);
    const mustEndAt = performance.now() + Math.max(0, withinMs - this.#times.endWithinMs);
    const endedAt = new Map<LiveConnection, number>();
    const endAll = () => {
      const now = performance.now();
      for (const connection of [...this.#checks.keys()]) {
        const endTime = endedAt.get(connection);
        this.#runSafely(connection, () => {
          if (endTime === undefined) connection.check();
          if (endTime === undefined && connection.end(now >= mustEndAt)) endedAt.set(connection, now);
          if (endTime !== undefined && now - endTime >= this.#times.endWithinMs) connection.terminate();
        });
      }
    };
    endAll();
    if (this.#checks.size === 0) return;
    const empty = new Promise<void>((resolve) => (this.#onEmpty = resolve));
    const timer = setInterval(endAll, endEveryMs);
    await empty;
    clearInterval(timer);
  }

  #checkAll(): void {
    const checksPerHeartbeat = Math.round(this.#times.heartbeatEveryMs / this.#times.checkEveryMs);
    for (const [connection, checks] of this.#checks) {
      this.#checks.set(connection, checks + 1);
      this.#runSafely(connection, () => {
        connection.check();
        if ((checks + 1) % checksPerHeartbeat === 0) connection.heartbeat();
      });
    }
  }

  /** The failure of one connection must not affect the others. */
  #runSafely(connection: LiveConnection, work: () => void): void {
    try {
      work();
    } catch (err) {
      this.#options.log.error({ err }, 'A WebSocket or an event stream failed. This is a bug.');
      connection.terminate();
    }
  }
}
