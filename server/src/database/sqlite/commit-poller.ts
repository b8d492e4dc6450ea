/**
 * Calls listeners when any process has changed the file. A spare connection polls for commits of other processes. Between polls,
 * its open read transaction holds the read lock, which makes the reads of this process cheaper. Without this lock, SQLite would
 * take a lock for each statement that reads, which costs more than finding a row.
 */

import type { Database as Connection } from 'better-sqlite3';
import type { DatabaseOptions } from '../database.ts';

/** How often the file is checked for changes by other processes. */
const pollMs = 200;

interface PollerOptions extends Pick<DatabaseOptions, 'notifyOtherProcesses'> {
  /** Whether other code may use the spare connection at any moment. */
  readonly isNeeded: () => boolean;
}

export class CommitPoller {
  readonly #spareConnection: Connection;
  readonly #options: PollerOptions;
  readonly #begin;
  readonly #end;
  readonly #readVersion;
  readonly #listeners: (() => void)[] = [];
  #version: unknown;
  #timer: NodeJS.Timeout | undefined;

  /** The open read transaction sees an old state, so no other code may read with the spare connection meanwhile. */
  constructor(spareConnection: Connection, options: PollerOptions) {
    this.#spareConnection = spareConnection;
    this.#options = options;
    this.#begin = spareConnection.prepare('begin');
    this.#end = spareConnection.prepare('commit');
    // https://www.sqlite.org/pragma.html#pragma_data_version
    this.#readVersion = spareConnection.prepare('pragma data_version').pluck();
    this.#version = this.#readVersion.get();
  }

  onCommit(listener: () => void): void {
    this.#listeners.push(listener);
    this.#timer ??= setInterval(() => this.#poll(), pollMs).unref();
  }

  /** Called after a commit of this process. */
  notify(): void {
    this.#callListeners();
    this.#options.notifyOtherProcesses?.();
  }

  /** Must be called before the connection is used, and before this process writes. */
  releaseReadLock(): void {
    if (this.#spareConnection.inTransaction) this.#end.run();
  }

  stop(): void {
    this.#listeners.length = 0;
    clearInterval(this.#timer);
  }

  #callListeners(): void {
    this.#listeners.forEach((listener) => listener());
  }

  #poll(): void {
    const version = this.#readIfPossible();
    const isChanged = version === undefined || version !== this.#version;
    this.#version = version;
    if (!isChanged) return;
    // A reader keeps writers from restarting the write-ahead log, so the lock is released while other processes write.
    this.releaseReadLock();
    this.#callListeners();
  }

  /** Undefined if the file cannot be read: the next read fails with the same error, and reports it. */
  #readIfPossible(): unknown {
    try {
      this.releaseReadLock();
      if (!this.#options.isNeeded()) this.#begin.run();
      return this.#readVersion.get();
    } catch {
      return undefined;
    }
  }
}
