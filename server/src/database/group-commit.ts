/**
 * Group commit: transactions that wait at the same time share one transaction of the database, because a commit usually costs
 * more than their writes. One can fail without the others. All settle after the commit of the shared transaction.
 */

import { isPromise, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Transaction } from './database.ts';

interface QueueOptions {
  /** How long the transaction may wait before it starts. */
  readonly deadlineMs: number;
  /** The transaction gets its own commit, because other transactions would have to wait for it. */
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
  /** Called after each of these transactions: runs its queued statements. Throws if one has failed or has ended the transaction. */
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
interface CompletedTransaction {
  readonly queued: QueuedTransaction;
  readonly isRefused: boolean;
  readonly settle: () => void;
}

/** How many transactions may share a commit. The number is limited because the first waits for the last. */
export const maxTransactionsPerCommit = 32;
/** How long other transactions may join after the first one has run. */
const maxJoinMs = 100;

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
  protected failExpired(toError: () => unknown): void {
    const now = performance.now();
    const expired = this.#waiting.filter(({ deadline }) => now > deadline);
    if (expired.length === 0) return;
    this.#waiting = this.#waiting.filter(({ deadline }) => now <= deadline);
    const error = toError();
    expired.forEach(({ fail }) => fail(error));
  }

  /** Starts in the next round of the event loop: the changes of all requests that have arrived then share a transaction. */
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
    const completed: CompletedTransaction[] = [];
    let joinUntil = Infinity;
    do {
      const queued = this.#waiting.shift()!;
      const isFirst = completed.length === 0;
      try {
        if (!isFirst) shared.savepoint();
        // Only a promise is awaited, so that an embedded database runs all transactions without yielding.
        const pending = queued.work(shared.transaction);
        const result = isPromise(pending) ? await pending : pending;
        const pendingSettle = shared.settle();
        if (isPromise(pendingSettle)) await pendingSettle;
        if (!isFirst) shared.release();
        completed.push({ queued, isRefused: false, settle: () => queued.succeed(result) });
      } catch (error) {
        const refusal = this.toRefusal(error);
        if (isFirst || !(await shared.undo(error))) {
          await shared.rollBack(error);
          queued.fail(refusal);
          return this.#requeue(completed);
        }
        completed.push({ queued, isRefused: true, settle: () => queued.fail(refusal) });
      }
      if (isFirst) joinUntil = performance.now() + maxJoinMs;
      if (queued.isAlone) break;
    } while (this.#mayJoin(completed.length) && performance.now() < joinUntil);
    await this.#commit(shared, completed);
  }

  #mayJoin(count: number): boolean {
    const [next] = this.#waiting;
    return next !== undefined && !next.isAlone && count < maxTransactionsPerCommit;
  }

  async #commit(shared: SharedTransaction, completed: readonly CompletedTransaction[]): Promise<void> {
    try {
      const pending = shared.commit();
      if (isPromise(pending)) await pending;
    } catch (error) {
      const refusal = this.toRefusal(error);
      for (const { queued, isRefused } of completed) if (!isRefused) queued.fail(refusal);
      // Refused transactions run again, because their refusals depended on changes that were rolled back.
      return this.#requeue(completed.filter(({ isRefused }) => isRefused));
    }
    for (const { settle } of completed) settle();
  }

  /** Queues each transaction again, to run alone, after a failure that rolled back the shared one, for example a full disk. */
  #requeue(completed: readonly CompletedTransaction[]): void {
    this.#waiting.unshift(...completed.map(({ queued }) => Object.assign(queued, { isAlone: true })));
  }
}
