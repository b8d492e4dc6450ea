/**
 * Group commit: transactions that wait at the same time share one transaction of the database, because a commit costs more
 * than most of them write. Each can fail alone. None is answered before the shared transaction is committed.
 */

import { isPromise, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Transaction } from './database.ts';

interface TaskOptions {
  /** How long it may wait before it starts. */
  readonly deadlineMs: number;
  /** It shares its commit with no other task, which would have to wait for it. */
  readonly isAlone: boolean;
}

/** The transaction that several share. */
export interface SharedTransaction {
  readonly transaction: Transaction;
  /** From here on one task can be rolled back alone. The first has no savepoint: the whole transaction is rolled back. */
  savepoint(): void;
  release(): void;
  /** Rolls back to the savepoint after an error. False if the whole transaction is lost. */
  undo(error: unknown): PromiseOrValue<boolean>;
  /** Called after each task: runs its queued statements. Throws if a statement has failed or has ended the transaction. */
  settle(): PromiseOrValue<void>;
  commit(): PromiseOrValue<void>;
  rollBack(error: unknown): PromiseOrValue<void>;
}

interface GroupDatabase {
  /** Resolves to undefined if no task is left to begin for. */
  begin(): PromiseOrValue<SharedTransaction | undefined>;
  /** Called once for each failure, because failures are counted. */
  toRefusal(error: unknown): unknown;
}

interface Task {
  readonly work: (transaction: Transaction) => PromiseOrValue<unknown>;
  readonly deadline: number;
  isAlone: boolean;
  readonly succeed: (result: unknown) => void;
  readonly fail: (error: unknown) => void;
}

/** A task that is answered after the commit. */
interface Done {
  readonly task: Task;
  readonly isRefused: boolean;
  readonly answer: () => void;
}

/** The first task of a shared transaction waits until the last is done. */
export const maxSharedCommit = 32;
/** How long further tasks may join after the first is done. */
const maxSharedMs = 100;

export class GroupCommit {
  readonly #database: GroupDatabase;
  #waiting: Task[] = [];
  #isServing = false;

  constructor(database: GroupDatabase) {
    this.#database = database;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  run<T>(
    work: (transaction: Transaction) => PromiseOrValue<T>,
    { deadlineMs, isAlone }: TaskOptions,
  ): Promise<T> {
    return new Promise<T>((resolve, fail) => {
      const deadline = performance.now() + deadlineMs;
      this.#waiting.push({ work, deadline, isAlone, succeed: resolve as Task['succeed'], fail });
      this.#serveSoon();
    });
  }

  /** Fails the tasks that have waited for too long. */
  giveUp(toError: () => unknown): void {
    const now = performance.now();
    const late = this.#waiting.filter(({ deadline }) => now > deadline);
    if (late.length === 0) return;
    this.#waiting = this.#waiting.filter(({ deadline }) => now <= deadline);
    const error = toError();
    late.forEach(({ fail }) => fail(error));
  }

  /** Starts after all requests that have arrived are read, so that their changes share a transaction. */
  #serveSoon(): void {
    if (this.#isServing) return;
    this.#isServing = true;
    setImmediate(() => void this.#serve());
  }

  async #serve(): Promise<void> {
    try {
      const shared = await this.#database.begin();
      if (shared) await this.#runTogether(shared);
    } catch (error) {
      const refusal = this.#database.toRefusal(error);
      this.#waiting.splice(0).forEach(({ fail }) => fail(refusal));
    }
    this.#isServing = false;
    if (this.#waiting.length > 0) this.#serveSoon();
  }

  async #runTogether(shared: SharedTransaction): Promise<void> {
    const done: Done[] = [];
    let joinUntil = Infinity;
    do {
      const task = this.#waiting.shift()!;
      const isFirst = done.length === 0;
      try {
        if (!isFirst) shared.savepoint();
        // Not awaited if it is done already: an embedded database then runs all tasks without yielding.
        const pending = task.work(shared.transaction);
        const result = isPromise(pending) ? await pending : pending;
        const settled = shared.settle();
        if (isPromise(settled)) await settled;
        if (!isFirst) shared.release();
        done.push({ task, isRefused: false, answer: () => task.succeed(result) });
      } catch (error) {
        const refusal = this.#database.toRefusal(error);
        if (isFirst || !(await shared.undo(error))) {
          await shared.rollBack(error);
          task.fail(refusal);
          return this.#runAgain(done);
        }
        done.push({ task, isRefused: true, answer: () => task.fail(refusal) });
      }
      if (isFirst) joinUntil = performance.now() + maxSharedMs;
      if (task.isAlone) break;
    } while (this.#mayJoin(done.length) && performance.now() < joinUntil);
    await this.#commit(shared, done);
  }

  #mayJoin(count: number): boolean {
    const [next] = this.#waiting;
    return next !== undefined && !next.isAlone && count < maxSharedCommit;
  }

  async #commit(shared: SharedTransaction, done: readonly Done[]): Promise<void> {
    try {
      const pending = shared.commit();
      if (isPromise(pending)) await pending;
    } catch (error) {
      const refusal = this.#database.toRefusal(error);
      for (const { task, isRefused } of done) if (!isRefused) task.fail(refusal);
      // Their refusals depended on changes that were rolled back.
      return this.#runAgain(done.filter(({ isRefused }) => isRefused));
    }
    for (const { answer } of done) answer();
  }

  /** Runs each task alone after a failure that rolled back the whole transaction, for example a full disk. */
  #runAgain(done: readonly Done[]): void {
    this.#waiting.unshift(...done.map(({ task }) => Object.assign(task, { isAlone: true })));
  }
}
