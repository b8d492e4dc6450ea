/** Group commit on the one SQLite connection that writes. */

import { setTimeout as delay } from 'node:timers/promises';
import type { Database as Connection } from 'better-sqlite3';
import type { DatabaseOptions, Transaction } from '../database.ts';
import { GroupCommit, type SharedTransaction } from '../group-commit.ts';
import { codeOf } from './errors.ts';
import type { SqliteFaultState } from './fault-state.ts';

const busyPauseMs = 5;

interface GroupCommitOptions {
  readonly writer: Connection;
  readonly transaction: Transaction;
  readonly faults: SqliteFaultState;
  /** Called before a transaction begins: no other connection of this process should hold a lock then. */
  readonly onBegin: () => void;
  readonly onCommit: () => void;
  readonly onDuration: DatabaseOptions['onDuration'];
}

/** `isOpen`: the connection may read changes that are never committed. */
export function createGroupCommit(options: GroupCommitOptions): {
  group: GroupCommit;
  isOpen: () => boolean;
} {
  const { writer, transaction, faults, onBegin, onCommit, onDuration } = options;
  const control = {
    begin: writer.prepare('begin immediate'),
    commit: writer.prepare('commit'),
    rollback: writer.prepare('rollback'),
    savepoint: writer.prepare('savepoint own'),
    release: writer.prepare('release own'),
    undo: writer.prepare('rollback to own'),
  };
  let isOpen = false;

  const shared: SharedTransaction = {
    transaction,
    savepoint: () => void control.savepoint.run(),
    release: () => void control.release.run(),
    undo() {
      transaction.notes.clear();
      if (!writer.inTransaction) return false;
      try {
        control.undo.run();
        control.release.run();
        return true;
      } catch {
        return false;
      }
    },
    settle() {
      // On a full disk, SQLite rolls back the whole transaction, and the work may have ignored the error.
      if (!writer.inTransaction) throw new Error('The transaction was over before its work was.');
    },
    commit() {
      const startedAt = onDuration && performance.now();
      try {
        control.commit.run();
      } catch (error) {
        rollBack();
        throw error;
      }
      isOpen = false;
      if (startedAt !== undefined) onDuration!('commit', performance.now() - startedAt);
      onCommit();
    },
    rollBack,
  };

  const group = new GroupCommit({ begin, toRefusal: faults.toWriteRefusal });
  return { group, isOpen: () => isOpen };

  /** Waits while another process writes, and serves other requests meanwhile. */
  async function begin(): Promise<SharedTransaction | undefined> {
    while (group.waiting > 0) {
      try {
        faults.requireUndamaged();
        onBegin();
        transaction.notes.clear();
        control.begin.run();
        isOpen = true;
        faults.requireSameFile('written');
        return shared;
      } catch (error) {
        rollBack();
        if (!codeOf(error).startsWith('SQLITE_BUSY')) throw error;
        // Only for tasks past their deadline: it reports a write failure, and a lock held for milliseconds is none.
        group.giveUp(() => faults.toWriteRefusal(error));
        await delay(busyPauseMs);
      }
    }
    return undefined;
  }

  function rollBack(): void {
    try {
      if (writer.inTransaction) control.rollback.run();
    } catch {
      // The next transaction fails with the same error, and its caller gets the reason.
    } finally {
      isOpen = false;
    }
  }
}
