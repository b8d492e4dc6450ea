/**
 * A pool of read connections, each inside one read transaction while a snapshot uses it. Most snapshots use a connection for
 * microseconds, because their reads do not wait in between. A semaphore bounds the number of long reads.
 */

import type { Database as Connection, Statement as Prepared } from 'better-sqlite3';
import { createSemaphore } from '../../concurrency/semaphore.ts';
import { withSnapshot, type Snapshot } from '../database.ts';
import type { StatementRunner } from './dialect.ts';

const maxSnapshots = 16;

interface SnapshotConnection {
  readonly connection: Connection;
  readonly runner: StatementRunner;
  readonly begin: Prepared;
  readonly rollback: Prepared;
}

export class SnapshotPool {
  readonly #connect: () => Connection;
  readonly #createRunner: (connection: Connection) => StatementRunner;
  readonly #connections: SnapshotConnection[] = [];
  readonly #freeConnections: SnapshotConnection[] = [];
  readonly #semaphore = createSemaphore(maxSnapshots);

  constructor(connect: () => Connection, createRunner: (connection: Connection) => StatementRunner) {
    this.#connect = connect;
    this.#createRunner = createRunner;
  }

  open(): Snapshot {
    let current: SnapshotConnection | undefined;
    let isOver = false;
    const begin = (): SnapshotConnection => {
      // After the end, another response may use the connection, with the rights of another viewer.
      if (isOver) throw new Error('This snapshot has ended.');
      current = this.#freeConnections.pop() ?? this.#openConnection();
      current.begin.run();
      return current;
    };
    return {
      isConsistent: true,
      isEmbedded: true,
      all: (statement, parameters) => (current ?? begin()).runner.all(statement, parameters),
      get: (statement, parameters) => (current ?? begin()).runner.get(statement, parameters),
      end: () => {
        isOver = true;
        if (current) this.#release(current);
        current = undefined;
      },
    };
  }

  /** For long reads: waits for the semaphore. */
  runLong<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    return this.#semaphore.run(() => withSnapshot(this.open(), work));
  }

  get openCount(): number {
    return this.#connections.length;
  }

  get busy(): number {
    return this.#connections.length - this.#freeConnections.length;
  }

  get waiting(): number {
    return this.#semaphore.waiting;
  }

  close(): void {
    this.#connections.forEach(({ connection }) => connection.close());
  }

  #openConnection(): SnapshotConnection {
    const connection = this.#connect();
    const [begin, rollback] = [connection.prepare('begin'), connection.prepare('rollback')];
    const snapshotConnection = { connection, runner: this.#createRunner(connection), begin, rollback };
    this.#connections.push(snapshotConnection);
    return snapshotConnection;
  }

  #release(released: SnapshotConnection): void {
    endTransaction(released);
    if (this.#freeConnections.length < maxSnapshots) this.#freeConnections.push(released);
    else this.#connections.splice(this.#connections.indexOf(released), 1)[0]!.connection.close();
  }
}

/** SQLite ends the transaction itself when it finds damage. A check before `rollback` would cost as much as a short statement. */
function endTransaction({ rollback, connection }: SnapshotConnection): void {
  try {
    rollback.run();
  } catch (error) {
    if (connection.inTransaction) throw error;
  }
}
