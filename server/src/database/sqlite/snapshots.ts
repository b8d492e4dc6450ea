/**
 * A pool of read connections, each inside one read transaction while a snapshot uses it. Most snapshots use a connection for
 * microseconds, because their reads do not wait in between. A semaphore bounds the number of long reads.
 */

import type { Database as Connection, Statement as Prepared } from 'better-sqlite3';
import { createSemaphore } from '../../concurrency/semaphore.ts';
import { useSnapshot, type Snapshot } from '../database.ts';
import type { StatementRunner } from './statements.ts';

const maxSnapshots = 16;

interface SnapshotConnection {
  readonly connection: Connection;
  readonly runner: StatementRunner;
  readonly begin: Prepared;
  readonly rollback: Prepared;
}

export function createSnapshotPool(connect: () => SnapshotConnection) {
  const opened: SnapshotConnection[] = [];
  const free: SnapshotConnection[] = [];
  const semaphore = createSemaphore(maxSnapshots);

  function open(): Snapshot {
    let used: SnapshotConnection | undefined;
    let isOver = false;
    const begin = (): SnapshotConnection => {
      // Another response may use the connection by then, with the rights of another viewer.
      if (isOver) throw new Error('This snapshot has ended.');
      used = free.pop() ?? openConnection();
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
        if (!used) return;
        endTransaction(used);
        if (free.length < maxSnapshots) free.push(used);
        else opened.splice(opened.indexOf(used), 1)[0]!.connection.close();
        used = undefined;
      },
    };
  }

  function openConnection(): SnapshotConnection {
    const connection = connect();
    opened.push(connection);
    return connection;
  }

  return {
    open,
    /** For long reads: waits for the semaphore. */
    useLong: <T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T> =>
      semaphore.run(() => useSnapshot(open(), work)),
    get opened() {
      return opened.length;
    },
    get busy() {
      return opened.length - free.length;
    },
    get waiting() {
      return semaphore.waiting;
    },
    close: () => opened.forEach(({ connection }) => connection.close()),
  };
}

/** After damage, SQLite has ended the transaction itself. Checking that first would cost as much as a short statement. */
function endTransaction({ rollback, connection }: SnapshotConnection): void {
  try {
    rollback.run();
  } catch (error) {
    if (connection.inTransaction) throw error;
  }
}
