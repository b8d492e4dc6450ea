/** The shared transactions of the one SQLite connection that writes. */

import { setTimeout as delay } from 'node:timers/promises';
import type { Database as Connection } from 'better-sqlite3';
import type { DatabaseOptions, Transaction } from '../database.ts';
import { GroupCommit, type SharedTransaction } from '../group-commit.ts';
import { codeOf } from './errors.ts';
import type { SqliteFaultState } from './fault-state.ts';

const busyPauseMs = 5;

export interface SqliteGroupOptions {
  readonly writer: Connection;
  readonly transaction: Transaction;
  readonly guard: SqliteFaultState;
  /** No other connection of this process should be in the way. */
  readonly onBegin: () => void;
  readonly onCommit: () => void;
  readonly onDuration: DatabaseOptions['onDuration'];
}

/** `isOpen`: what the connection reads may never be committed. */
export function createGroupCommit(options: SqliteGroupOptions): {
  group: GroupCommit;
  isOpen: () => boolean;
} {
  const { writer, transaction, guard, onBegin, onCommit, onDuration } = options;
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
      // The work may have met a full disk, and gone on: with that, SQLite has undone everything.
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

  const group = new GroupCommit({ begin, toRefusal: guard.toWriteRefusal });
  return { group, isOpen: () => isOpen };

  /** Another process may be writing: waits for it, and lets other requests through in between. */
  async function begin(): Promise<SharedTransaction | undefined> {
    while (group.waiting > 0) {
      try {
        guard.requireUndamaged();
        onBegin();
        transaction.notes.clear();
        control.begin.run();
        isOpen = true;
        guard.requireInPlace('written');
        return shared;
      } catch (error) {
        rollBack();
        if (!codeOf(error).startsWith('SQLITE_BUSY')) throw error;
        // Only for those: it reports a write failure, and a lock that is held for milliseconds is none.
        group.giveUp(() => guard.toWriteRefusal(error));
        await delay(busyPauseMs);
      }
    }
    return undefined;
  }

  function rollBack(): void {
    try {
      if (writer.inTransaction) control.rollback.run();
    } catch {
      // The next transaction meets the same trouble, and its caller gets the reason.
    } finally {
      isOpen = false;
    }
  }
}
