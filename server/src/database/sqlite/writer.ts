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
  readonly poller: CommitPoller;
  readonly onDuration: DatabaseOptions['onDuration'];
}

export class SqliteWriter extends GroupCommit implements SharedTransaction {
  readonly transaction: Transaction;
  /** Whether a transaction is open: the connection then also reads changes that may never be committed. */
  isOpen = false;
  readonly #connection: Connection;
  readonly #options: WriterOptions;
  readonly #statements;
  #rows = 0;
  #isAnnounced = false;

  constructor(connection: Connection, options: WriterOptions) {
    super();
    this.#connection = connection;
    this.#options = options;
    this.#statements = {
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
      cache: new Map(),
      announce: () => void (this.#isAnnounced = true),
      define: (text) => void this.#connection.exec(text),
      tableNames: () => readTableNames(this.#connection),
    };
  }

  /** Waits while another process writes, and serves other requests meanwhile. */
  protected async begin(): Promise<SharedTransaction | undefined> {
    const { faults, poller } = this.#options;
    while (this.waiting > 0) {
      try {
        faults.requireUndamaged();
        // No other connection of this process should hold a lock.
        poller.releaseReadLock();
        this.#rows = 0;
        this.transaction.cache.clear();
        this.#statements.begin.run();
        this.isOpen = true;
        faults.requireSameFile('written');
        return this;
      } catch (error) {
        this.rollBack();
        if (!sqliteCodeOf(error).startsWith('SQLITE_BUSY')) throw error;
        // Fails only transactions past their deadline: `toRefusal()` records a write failure, and a lock for milliseconds is not a failure.
        this.failExpired(() => this.toRefusal(error));
        await delay(busyPauseMs);
      }
    }
    return undefined;
  }

  protected toRefusal(error: unknown): unknown {
    return this.#options.faults.toWriteRefusal(error, this.#rows);
  }

  savepoint(): void {
    this.#statements.savepoint.run();
  }

  release(): void {
    this.#statements.release.run();
  }

  undo(): boolean {
    this.transaction.cache.clear();
    if (!this.#connection.inTransaction) return false;
    try {
      this.#statements.undo.run();
      this.#statements.release.run();
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
    const { faults, poller, onDuration } = this.#options;
    const startedAt = onDuration && performance.now();
    try {
      this.#statements.commit.run();
    } catch (error) {
      this.rollBack();
      throw error;
    }
    this.isOpen = false;
    if (startedAt !== undefined) onDuration!('commit', performance.now() - startedAt);
    if (this.#isAnnounced) poller.notify();
    this.#isAnnounced = false;
    faults.recordCommit(this.#rows);
  }

  rollBack(): void {
    try {
      if (this.#connection.inTransaction) this.#statements.rollback.run();
    } catch {
      // The next transaction fails with the same error, and reports it.
    } finally {
      this.isOpen = false;
    }
  }
}
