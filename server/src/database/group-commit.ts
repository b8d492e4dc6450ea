/**
 * Group commit: transactions that wait at the same time share one transaction of the database, because a commit usually costs
 * more than their writes. Each can fail alone. None settles before the shared transaction is committed.
 */

import { isPromise, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Transaction } from './database.ts';

interface QueueOptions {
  /** How long the transaction may wait before it starts. */
  readonly deadlineMs: number;
  /** The transaction gets its own commit, because others would have to wait for it. */
  readonly isAlone: boolean;
}

/** The transaction of the database that several queued transactions share. */
export interface SharedTransaction {
  readonly transaction: Transaction;
  /** Called before each queued transaction except the first, so that `undo` can roll it back alone. */
  savepoint(): void;
  release(): void;
  /** Rolls back to the savepoint after an error. Returns false if the whole transaction is lost. */
  undo(error: unknown): PromiseOrValue<boolean>;
  /** Called after each queued transaction: runs its queued statements. Throws if a statement has failed or has ended the transaction. */
  settle(): PromiseOrValue<void>;
  commit(): PromiseOrValue<void>;
  rollBack(error: unknown): PromiseOrValue<void>;
}

interface QueuedTransaction {
  readonly work: (transaction: Transaction) => PromiseOrValue<unknown>;
  readonly deadline: number;
  isAlone: boolean;
  readonly succeed: (result: unknown) => void;
  readonly fail: (error: unknown) => void;
}

/** A queued transaction that has run, and settles after the commit. */
interface Done {
  readonly queued: QueuedTransaction;
  readonly isRefused: boolean;
  readonly settle: () => void;
}

/** How many transactions may share a commit. The number is limited because the first waits for the last. */
export const maxTransactionsPerCommit = 32;
/** How long further transactions may join after the first is done. */
const maxSharedMs = 100;

export abstract class GroupCommit {
  #waiting: QueuedTransaction[] = [];
  #isServing = false;

  /** Returns undefined if no transaction is waiting. */
  protected abstract begin(): PromiseOrValue<SharedTransaction | undefined>;
  /** Called once for each failure, because failures are counted. */
  protected abstract toRefusal(error: unknown): unknown;

  get waiting(): number {
    return this.#waiting.length;
  }

  run<T>(
    work: (transaction: Transaction) => PromiseOrValue<T>,
    { deadlineMs, isAlone }: QueueOptions,
  ): Promise<T> {
    return new Promise<T>((resolve, fail) => {
      const deadline = performance.now() + deadlineMs;
      this.#waiting.push({ work, deadline, isAlone, succeed: resolve as QueuedTransaction['succeed'], fail });
      this.#serveSoon();
    });
  }

  /** Fails the transactions that have waited for too long. */
  protected failLate(toError: () => unknown): void {
    const now = performance.now();
    const late = this.#waiting.filter(({ deadline }) => now > deadline);
    if (late.length === 0) return;
    this.#waiting = this.#waiting.filter(({ deadline }) => now <= deadline);
    const error = toError();
    late.forEach(({ fail }) => fail(error));
  }

  /** Starts only when all requests that have arrived are read, so that their changes share a transaction. */
  #serveSoon(): void {
    if (this.#isServing) return;
    this.#isServing = true;
    setImmediate(() => void this.#serve());
  }

  async #serve(): Promise<void> {
    try {
      const shared = await this.begin();
      if (shared) await this.#runTogether(shared);
    } catch (error) {
      const refusal = this.toRefusal(error);
      this.#waiting.splice(0).forEach(({ fail }) => fail(refusal));
    }
    this.#isServing = false;
    if (this.#waiting.length > 0) this.#serveSoon();
  }

  async #runTogether(shared: SharedTransaction): Promise<void> {
    const done: Done[] = [];
    let joinUntil = Infinity;
    do {
      const queued = this.#waiting.shift()!;
      const isFirst = done.length === 0;
      try {
        if (!isFirst) shared.savepoint();
        // Only a promise is awaited, so that an embedded database runs all transactions without yielding.
        const pending = queued.work(shared.transaction);
        const result = isPromise(pending) ? await pending : pending;
        const settled = shared.settle();
        if (isPromise(settled)) await settled;
        if (!isFirst) shared.release();
        done.push({ queued, isRefused: false, settle: () => queued.succeed(result) });
      } catch (error) {
        const refusal = this.toRefusal(error);
        if (isFirst || !(await shared.undo(error))) {
          await shared.rollBack(error);
          queued.fail(refusal);
          return this.#runAgain(done);
        }
        done.push({ queued, isRefused: true, settle: () => queued.fail(refusal) });
      }
      if (isFirst) joinUntil = performance.now() + maxSharedMs;
      if (queued.isAlone) break;
    } while (this.#mayJoin(done.length) && performance.now() < joinUntil);
    await this.#commit(shared, done);
  }

  #mayJoin(count: number): boolean {
    const [next] = this.#waiting;
    return next !== undefined && !next.isAlone && count < maxTransactionsPerCommit;
  }

  async #commit(shared: SharedTransaction, done: readonly Done[]): Promise<void> {
    try {
      const pending = shared.commit();
      if (isPromise(pending)) await pending;
    } catch (error) {
      const refusal = this.toRefusal(error);
      for (const { queued, isRefused } of done) if (!isRefused) queued.fail(refusal);
      // Refused transactions run again, because their refusals depended on changes that were rolled back.
      return this.#runAgain(done.filter(({ isRefused }) => isRefused));
    }
    for (const { settle } of done) settle();
  }

  /** Queues each transaction again, to run alone, after a failure that rolled back the shared one, for example a full disk. */
  #runAgain(done: readonly Done[]): void {
    this.#waiting.unshift(...done.map(({ queued }) => Object.assign(queued, { isAlone: true })));
  }
}
