/**
 * The line in front of the one connection that writes. Transactions that wait when it is their turn share a commit, and
 * with it the sync, which costs more than what most of them write. Each can fail on its own; none of them is answered
 * before what they share is on the disk.
 */

import { setTimeout as delay } from 'node:timers/promises';
import type { Database as Connection } from 'better-sqlite3';
import { isPromise, type DatabaseOptions, type PromiseOrValue } from './database.ts';
import { codeOf } from './sqlite-errors.ts';
import type { Guard } from './sqlite-guard.ts';

export interface Line {
  /** A transaction is open: what the connection reads may never be committed. */
  readonly isOpen: boolean;
  readonly waiting: number;
  enter<T>(work: () => PromiseOrValue<T>, options: LineOptions): Promise<T>;
}

export interface LineOptions {
  /** How long it waits for other processes. */
  readonly deadlineMs: number;
  /** Shares its commit with nobody: else those before it would wait until it is done. */
  readonly isAlone: boolean;
}

interface Task {
  readonly work: () => PromiseOrValue<unknown>;
  readonly deadline: number;
  isAlone: boolean;
  readonly succeed: (result: unknown) => void;
  readonly fail: (error: unknown) => void;
}

/** Whom to tell what, once it is on the disk. */
interface Done {
  readonly task: Task;
  readonly tell: () => void;
}

const busyPauseMs = 5;
/** The first of them waits until the last is done. */
export const maxSharedCommit = 32;

export interface LineEvents {
  /** Whatever else is open of the file should not be in the way. */
  readonly onBegin: () => void;
  readonly onCommit: () => void;
  readonly onTimed: DatabaseOptions['onTimed'];
}

export function createLine(
  writer: Connection,
  guard: Guard,
  { onBegin, onCommit, onTimed }: LineEvents,
): Line {
  const control = {
    begin: writer.prepare('begin immediate'),
    commit: writer.prepare('commit'),
    rollback: writer.prepare('rollback'),
    mark: writer.prepare('savepoint own'),
    keep: writer.prepare('release own'),
    undo: writer.prepare('rollback to own'),
  };
  let waiting: Task[] = [];
  let isServing = false;
  let isOpen = false;

  return {
    get isOpen() {
      return isOpen;
    },
    get waiting() {
      return waiting.length;
    },
    enter: <T>(work: () => PromiseOrValue<T>, { deadlineMs, isAlone }: LineOptions) =>
      new Promise<T>((succeed, fail) => {
        const deadline = performance.now() + deadlineMs;
        waiting.push({ work, deadline, isAlone, succeed: succeed as Task['succeed'], fail });
        serveSoon();
      }),
  };

  /** Once all requests that have arrived are read: those that change something get in line together. */
  function serveSoon(): void {
    if (isServing) return;
    isServing = true;
    setImmediate(() => void serve());
  }

  async function serve(): Promise<void> {
    try {
      if (await begin()) await runTogether();
    } catch (error) {
      const refusal = guard.toWriteRefusal(error);
      waiting.splice(0).forEach(({ fail }) => fail(refusal));
    }
    isServing = false;
    if (waiting.length > 0) serveSoon();
  }

  /** Another process may be writing: wait for it, and let other requests through in between. False if nobody could wait. */
  async function begin(): Promise<boolean> {
    while (waiting.length > 0) {
      try {
        guard.requireWhole();
        onBegin();
        control.begin.run();
        isOpen = true;
        guard.requireInPlace('written');
        return true;
      } catch (error) {
        rollBack();
        if (!codeOf(error).startsWith('SQLITE_BUSY')) throw error;
        giveUp(error);
        await delay(busyPauseMs);
      }
    }
    return false;
  }

  /** Those who have waited for long enough. */
  function giveUp(error: unknown): void {
    const now = performance.now();
    const late = waiting.filter(({ deadline }) => now > deadline);
    if (late.length === 0) return;
    waiting = waiting.filter(({ deadline }) => now <= deadline);
    // Only now: it reports a write failure, and a lock that is held for milliseconds is none.
    const refusal = guard.toWriteRefusal(error);
    late.forEach(({ fail }) => fail(refusal));
  }

  async function runTogether(): Promise<void> {
    const done: Done[] = [];
    do {
      const task = waiting.shift()!;
      const isFirst = done.length === 0;
      try {
        // What the first has done can be undone with the whole.
        if (!isFirst) control.mark.run();
        // Not awaited when it is already there: the whole transaction then happens in one go.
        const pending = task.work();
        const result = isPromise(pending) ? await pending : pending;
        // It may have been told of a full disk, and gone on: with that, SQLite has undone everything.
        if (!writer.inTransaction) throw new Error('The transaction was over before its work was.');
        if (!isFirst) control.keep.run();
        done.push({ task, tell: () => task.succeed(result) });
      } catch (error) {
        const refusal = guard.toWriteRefusal(error);
        if (isFirst || !undoOwn()) {
          rollBack();
          task.fail(refusal);
          return runAgain(done);
        }
        done.push({ task, tell: () => task.fail(refusal) });
      }
      if (task.isAlone) break;
    } while (waiting.length > 0 && !waiting[0]!.isAlone && done.length < maxSharedCommit);
    commit(done);
  }

  /** False if it took the others with it. */
  function undoOwn(): boolean {
    if (!writer.inTransaction) return false;
    try {
      control.undo.run();
      control.keep.run();
      return true;
    } catch {
      return false;
    }
  }

  function commit(done: readonly Done[]): void {
    const startedAt = onTimed && performance.now();
    try {
      control.commit.run();
      isOpen = false;
      if (startedAt !== undefined) onTimed!('commit', performance.now() - startedAt);
    } catch (error) {
      rollBack();
      const refusal = guard.toWriteRefusal(error);
      done.forEach(({ task }) => task.fail(refusal));
      return;
    }
    onCommit();
    done.forEach(({ tell }) => tell());
  }

  /** After one whose trouble took with it what the others had done: a full disk, say. Each by itself, as if it had come so. */
  function runAgain(done: readonly Done[]): void {
    waiting.unshift(...done.map(({ task }) => Object.assign(task, { isAlone: true })));
  }

  function rollBack(): void {
    try {
      if (writer.inTransaction) control.rollback.run();
    } catch {
      // Whoever begins next meets the same trouble, and is told.
    } finally {
      isOpen = false;
    }
  }
}
