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
  readonly #opened: SnapshotConnection[] = [];
  readonly #free: SnapshotConnection[] = [];
  readonly #semaphore = createSemaphore(maxSnapshots);

  constructor(connect: () => Connection, createRunner: (connection: Connection) => StatementRunner) {
    this.#connect = connect;
    this.#createRunner = createRunner;
  }

  open(): Snapshot {
    let used: SnapshotConnection | undefined;
    let isOver = false;
    const begin = (): SnapshotConnection => {
      // After the end, another response may use the connection, with the rights of another viewer.
      if (isOver) throw new Error('This snapshot has ended.');
      used = this.#free.pop() ?? this.#openConnection();
      used.begin.run();
      return used;
    };
    return {
      isConsistent: true,
      isEmbedded: true,
      all: (statement, parameters) => (used ?? begin()).runner.all(statement, parameters),
      get: (statement, parameters) => (used ?? begin()).runner.get(statement, parameters),
      end: () => {
        isOver = true;
        if (used) this.#release(used);
        used = undefined;
      },
    };
  }

  /** For long reads: waits for the semaphore. */
  useLong<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    return this.#semaphore.run(() => withSnapshot(this.open(), work));
  }

  get opened(): number {
    return this.#opened.length;
  }

  get busy(): number {
    return this.#opened.length - this.#free.length;
  }

  get waiting(): number {
    return this.#semaphore.waiting;
  }

  close(): void {
    this.#opened.forEach(({ connection }) => connection.close());
  }

  #openConnection(): SnapshotConnection {
    const connection = this.#connect();
    const [begin, rollback] = [connection.prepare('begin'), connection.prepare('rollback')];
    const opened = { connection, runner: this.#createRunner(connection), begin, rollback };
    this.#opened.push(opened);
    return opened;
  }

  #release(used: SnapshotConnection): void {
    endTransaction(used);
    if (this.#free.length < maxSnapshots) this.#free.push(used);
    else this.#opened.splice(this.#opened.indexOf(used), 1)[0]!.connection.close();
  }
}

/** SQLite ends the transaction itself when it finds damage. Checking for that first would cost as much as a short statement. */
function endTransaction({ rollback, connection }: SnapshotConnection): void {
  try {
    rollback.run();
  } catch (error) {
    if (connection.inTransaction) throw error;
  }
}
