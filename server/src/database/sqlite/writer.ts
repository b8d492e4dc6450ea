/** The one SQLite connection that writes. Transactions that wait at the same time share a commit. */

import { setTimeout as delay } from 'node:timers/promises';
import type { Database as Connection } from 'better-sqlite3';
import type { DatabaseOptions, Transaction } from '../database.ts';
import { GroupCommit, type SharedTransaction } from '../group-commit.ts';
import type { CommitPoller } from './commit-poller.ts';
import { readTableNames, type StatementRunner } from './dialect.ts';
import { sqliteCodeOf, type SqliteFaults } from './faults.ts';

const busyPauseMs = 5;

interface WriterOptions {
  readonly runner: StatementRunner;
  readonly faults: SqliteFaults;
  readonly commits: CommitPoller;
  readonly onDuration: DatabaseOptions['onDuration'];
}

export class SqliteWriter extends GroupCommit implements SharedTransaction {
  readonly transaction: Transaction;
  /** While it is true, the connection may read changes that are never committed. */
  isOpen = false;
  readonly #connection: Connection;
  readonly #options: WriterOptions;
  readonly #control;
  #rows = 0;
  #isAnnounced = false;

  constructor(connection: Connection, options: WriterOptions) {
    super();
    this.#connection = connection;
    this.#options = options;
    this.#control = {
      begin: connection.prepare('begin immediate'),
      commit: connection.prepare('commit'),
      rollback: connection.prepare('rollback'),
      savepoint: connection.prepare('savepoint own'),
      release: connection.prepare('release own'),
      undo: connection.prepare('rollback to own'),
    };
    this.transaction = this.#createTransaction(options.runner);
  }

  #createTransaction(runner: StatementRunner): Transaction {
    const run: Transaction['run'] = (statement, parameters) => {
      const changed = runner.run(statement, parameters);
      this.#rows += changed;
      return changed;
    };
    return {
      isConsistent: true,
      isEmbedded: true,
      all: runner.all,
      get: runner.get,
      run,
      runEach: (statement, each) => {
        runner.runEach(statement, each);
        this.#rows += each.length;
      },
      queue: (statement, parameters, refuse) => {
        if (run(statement, parameters) === 0 && refuse) throw refuse();
      },
      notes: new Map(),
      announce: () => void (this.#isAnnounced = true),
      define: (text) => void this.#connection.exec(text),
      tableNames: () => readTableNames(this.#connection),
    };
  }

  /** Waits while another process writes, and serves other requests meanwhile. */
  protected async begin(): Promise<SharedTransaction | undefined> {
    const { faults, commits } = this.#options;
    while (this.waiting > 0) {
      try {
        faults.requireUndamaged();
        // No other connection of this process should hold a lock.
        commits.releaseReadLock();
        this.#rows = 0;
        this.transaction.notes.clear();
        this.#control.begin.run();
        this.isOpen = true;
        faults.requireSameFile('written');
        return this;
      } catch (error) {
        this.rollBack();
        if (!sqliteCodeOf(error).startsWith('SQLITE_BUSY')) throw error;
        // Called only past a deadline, because `toRefusal` records a write failure, and a lock for milliseconds is not a failure.
        this.failLate(() => this.toRefusal(error));
        await delay(busyPauseMs);
      }
    }
    return undefined;
  }

  protected toRefusal(error: unknown): unknown {
    return this.#options.faults.toWriteRefusal(error, this.#rows);
  }

  savepoint(): void {
    this.#control.savepoint.run();
  }

  release(): void {
    this.#control.release.run();
  }

  undo(): boolean {
    this.transaction.notes.clear();
    if (!this.#connection.inTransaction) return false;
    try {
      this.#control.undo.run();
      this.#control.release.run();
      return true;
    } catch {
      return false;
    }
  }

  settle(): void {
    // On a full disk, SQLite rolls back the whole transaction, and the work may have ignored the error.
    if (!this.#connection.inTransaction)
      throw new Error('SQLite ended the transaction before its work was done.');
  }

  commit(): void {
    const { faults, commits, onDuration } = this.#options;
    const startedAt = onDuration && performance.now();
    try {
      this.#control.commit.run();
    } catch (error) {
      this.rollBack();
      throw error;
    }
    this.isOpen = false;
    if (startedAt !== undefined) onDuration!('commit', performance.now() - startedAt);
    if (this.#isAnnounced) commits.notify();
    this.#isAnnounced = false;
    faults.recordCommit(this.#rows);
  }

  rollBack(): void {
    try {
      if (this.#connection.inTransaction) this.#control.rollback.run();
    } catch {
      // The next transaction fails with the same error, and reports it.
    } finally {
      this.isOpen = false;
    }
  }
}
