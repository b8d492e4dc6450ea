/**
 * Receives a notification when any process commits, including this one. `commit()` in `transaction.ts` sends it. A notification
 * may be lost, so callers must also poll, as `JournalFeed` does.
 */

import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Connections } from './connections.ts';
import { channel } from './transaction.ts';

const pollMs = 500;
const minPauseMs = 100;
const maxPauseMs = 2_000;

export class Listener {
  readonly #connections: Connections;
  readonly #notifyOtherProcesses: (() => void) | undefined;
  readonly #listeners: (() => void)[] = [];
  readonly #closing = new AbortController();
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  /**
   * Whether notifications arrive. False before the first connection and while the connection is lost. Always true behind a pooler
   * that does not keep PostgreSQL sessions, because the listeners are then called at an interval.
   */
  isListening: boolean;

  /** `notifyOtherProcesses` is called after a commit of this process, if PostgreSQL does not notify them. */
  constructor(connections: Connections, notifyOtherProcesses: (() => void) | undefined) {
    this.#connections = connections;
    this.#notifyOtherProcesses = notifyOtherProcesses;
    this.isListening = !connections.keepsSessions;
  }

  /** Through a pooler that does not keep PostgreSQL sessions, no notifications arrive: the listeners are called at an interval. */
  onCommit(listener: () => void): void {
    this.#listeners.push(listener);
    if (this.#listeners.length > 1) return;
    if (this.#connections.keepsSessions) void this.#listen();
    else this.#timer = setInterval(() => this.#callListeners(), pollMs).unref();
  }

  /** Calls the listeners of this process after its own commit. */
  notify(): void {
    this.#callListeners();
    if (!this.#connections.keepsSessions) this.#notifyOtherProcesses?.();
  }

  async close(): Promise<void> {
    this.#listeners.length = 0;
    clearInterval(this.#timer);
    this.#closing.abort();
    await this.#client?.end().catch(() => undefined);
  }

  #callListeners(): void {
    this.#listeners.forEach((listener) => listener());
  }

  async #listen(): Promise<void> {
    const { signal } = this.#closing;
    let pauseMs = minPauseMs;
    while (!signal.aborted) {
      if (await this.#listenUntilLost()) pauseMs = minPauseMs;
      await delay(pauseMs, undefined, { ref: false, signal }).catch(() => undefined);
      pauseMs = Math.min(2 * pauseMs, maxPauseMs);
    }
  }

  /** Returns false if the connection could not be made. */
  async #listenUntilLost(): Promise<boolean> {
    const client = (this.#client = new pg.Client(this.#connections.config));
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
    client.on('error', () => end());
    client.on('end', () => end());
    client.on('notification', () => this.#callListeners());
    try {
      await client.connect();
      await client.query(`listen ${channel}`);
      this.isListening = true;
      // Another process may have committed before this connection listened.
      this.#callListeners();
      await isOver;
      return true;
    } catch {
      // Reads and writes fail for the same reason, and report it.
      return false;
    } finally {
      this.isListening = false;
      void client.end().catch(() => undefined);
    }
  }
}
