/** Every connection that stays open. One timer for all of them asks what time has brought; at the end all are ended. */

import type { Logger } from 'pino';
import type { Activity } from '../../observability/activity.ts';
import type { Clock } from '../../clock.ts';
import type { Graph } from '../../graph/graph.ts';
import { Refusal } from '../../refusal.ts';
import type { Admission } from '../guards/overload.ts';
import type { Sessions } from '../../sessions/sessions.ts';
import type { RequestTracing } from '../request-tracing.ts';

/** What a connection works with. */
export interface LiveServices {
  readonly graph: Graph;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly log: Logger;
  readonly connections: LiveConnections;
  readonly admission: Admission;
  /** Undefined if nothing is traced. */
  readonly tracing?: RequestTracing | undefined;
}

export interface LiveConnection {
  /** Several times a second: is it time for something? */
  check(): void;
  /** Every few seconds: is anybody there? */
  heartbeat(): void;
  /** The service stops: ends it, unless something is still due that is worth waiting for. Answers whether it did. */
  end(mustEnd: boolean): boolean;
  /** Without further words. */
  terminate(): void;
}

export interface LiveTimings {
  readonly checkEveryMs: number;
  readonly heartbeatEveryMs: number;
  /** How long a connection may take to go once it was ended. */
  readonly endWithinMs: number;
}

export interface LiveOptions {
  readonly log: Logger;
  readonly activity: Activity;
  /** Of one user. */
  readonly maxConnections: number;
  readonly remote?: RemoteConnections | undefined;
  readonly times?: LiveTimings;
}

/** The connections of users to the other workers of this node. */
export interface RemoteConnections {
  count(userId: string): number;
  /** So many are here from now on. */
  publish(userId: string, count: number): void;
}

const usualTimes: LiveTimings = { checkEveryMs: 250, heartbeatEveryMs: 12_000, endWithinMs: 2_000 };
/** While the service stops. */
const endEveryMs = 20;

export class LiveConnections {
  /** With the number of looks since the connection came, so that the beats are spread over time. */
  readonly #looks = new Map<LiveConnection, number>();
  readonly #times: LiveTimings;
  readonly #log: Logger;
  readonly #activity: Activity;
  readonly #maxConnections: number;
  readonly #elsewhere: RemoteConnections | undefined;
  readonly #ofUsers = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #isClosing = false;
  #onEmpty: () => void = () => undefined;

  constructor({ log, activity, maxConnections, remote, times = usualTimes }: LiveOptions) {
    this.#log = log;
    this.#activity = activity;
    this.#maxConnections = maxConnections;
    this.#elsewhere = remote;
    this.#times = times;
    this.#timer = setInterval(() => this.#lookAtAll(), times.checkEveryMs);
    this.#timer.unref();
  }

  add(connection: LiveConnection): void {
    this.#looks.set(connection, 0);
    this.#activity.sockets = this.#looks.size;
    if (this.#isClosing) connection.end(true);
  }

  remove(connection: LiveConnection): void {
    this.#looks.delete(connection);
    this.#activity.sockets = this.#looks.size;
    if (this.#looks.size === 0) this.#onEmpty();
  }

  /** Counts a connection of a user, or refuses one more. */
  enter(userId: string): void {
    const here = this.#ofUsers.get(userId) ?? 0;
    const count = here + (this.#elsewhere?.count(userId) ?? 0);
    if (count >= this.#maxConnections) {
      throw new Refusal(
        'UNAVAILABLE',
        `You have ${count} connections open, as many as you may. Close one first.`,
        { retryAfterSeconds: 5 },
      );
    }
    this.#ofUsers.set(userId, here + 1);
    this.#elsewhere?.publish(userId, here + 1);
  }

  leave(userId: string): void {
    const count = this.#ofUsers.get(userId)! - 1;
    if (count > 0) this.#ofUsers.set(userId, count);
    else this.#ofUsers.delete(userId);
    this.#elsewhere?.publish(userId, count);
  }

  /** Resolves when all are gone. Those that take too long are ended, and those that do not go then are terminated. */
  async close(withinMs: number): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#timer);
    const mustEndAt = performance.now() + Math.max(0, withinMs - this.#times.endWithinMs);
    const endedAt = new Map<LiveConnection, number>();
    const endAll = () => {
      const now = performance.now();
      for (const connection of [...this.#looks.keys()]) {
        const ended = endedAt.get(connection);
        this.#try(connection, () => {
          if (ended === undefined) connection.check();
          if (ended === undefined && connection.end(now >= mustEndAt)) endedAt.set(connection, now);
          if (ended !== undefined && now - ended >= this.#times.endWithinMs) connection.terminate();
        });
      }
    };
    endAll();
    if (this.#looks.size === 0) return;
    const empty = new Promise<void>((resolve) => (this.#onEmpty = resolve));
    const timer = setInterval(endAll, endEveryMs);
    await empty;
    clearInterval(timer);
  }

  #lookAtAll(): void {
    const looksPerBeat = Math.round(this.#times.heartbeatEveryMs / this.#times.checkEveryMs);
    for (const [connection, looks] of this.#looks) {
      this.#looks.set(connection, looks + 1);
      this.#try(connection, () => {
        connection.check();
        if ((looks + 1) % looksPerBeat === 0) connection.heartbeat();
      });
    }
  }

  /** One broken connection must not take the others with it. */
  #try(connection: LiveConnection, work: () => void): void {
    try {
      work();
    } catch (err) {
      this.#log.error({ err }, 'a live connection failed');
      connection.terminate();
    }
  }
}
