/** Group commit on PostgreSQL. It has a connection of its own: the next batch begins after the commit of the one before. */

import type { PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import type { ChangeOptions, Transaction } from '../database.ts';
import { GroupCommit } from '../group-commit.ts';
import { queueFull } from './connections.ts';
import type { PostgresTransaction, TransactionRunner } from './transaction.ts';

/** How long a change waits for the changes before it. */
const deadlineMs = 15_000;
const maxWaiting = 1_000;

export class PostgresGroupCommit extends GroupCommit {
  readonly #runner: TransactionRunner;
  #shared: PostgresTransaction | undefined;

  constructor(runner: TransactionRunner) {
    super();
    this.#runner = runner;
  }

  change<T>(
    work: (transaction: Transaction) => PromiseOrValue<T>,
    { takesLong = false }: ChangeOptions = {},
  ): Promise<T> {
    return this.#runner.retryCollisions(async (tries) => {
      if (this.waiting >= maxWaiting) throw queueFull();
      return this.run(work, { deadlineMs, isAlone: takesLong || tries > 1 });
    });
  }

  protected async begin(): Promise<PostgresTransaction | undefined> {
    this.#shared = undefined;
    this.failLate(queueFull);
    if (this.waiting === 0) return undefined;
    return (this.#shared = await this.#runner.begin('changing'));
  }

  protected toRefusal(error: unknown): unknown {
    return this.#runner.toRefusal(error, this.#shared);
  }
}
