/** Runs statements and transactions on a connection. A transaction sends its queued writes as one statement. */

import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import type { DatabaseOptions, Transaction } from '../database.ts';
import type { SharedTransaction } from '../group-commit.ts';
import type { Statement } from '../statement.ts';
import type { Connections } from './connections.ts';
import {
  combineWrites,
  rowsPerInsert,
  toMultiRowInsert,
  toPostgres,
  toQuery,
  type PostgresStatement,
  type QueuedWrite,
} from './dialect.ts';
import { endsConnection, isCollision, toPostgresError, unavailable, type PostgresFaults } from './faults.ts';

interface RunnerOptions extends Pick<DatabaseOptions, 'onStatement' | 'onDuration'> {
  readonly connections: Connections;
  readonly faults: PostgresFaults;
  /** Called after an announced transaction has committed: calls the listeners of `Database.onCommit`. */
  readonly onCommitted: () => void;
}

export const channel = 'espalier';

/** The longest timeout of a timer in Node. */
const maxMs = 2 ** 31 - 1;
/** How many attempts a transaction has if it collides with other transactions. */
const maxAttempts = 5;
/** "ESPA": the number of the advisory lock that a migration takes. */
const migrationLock = 0x45535041;
/** How many statements are sent before the first response. */
const maxPipelined = 100;

const selectTableNames = `
  select relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  where nspname = current_schema() and relkind in ('r', 'p')`;

export class TransactionRunner {
  readonly options: RunnerOptions;

  constructor(options: RunnerOptions) {
    this.options = options;
  }

  async read<P, R>(client: pg.ClientBase, statement: Statement<P, R>, parameters: P): Promise<R[]> {
    return (await this.execute<R>(client, toPostgres(statement), parameters)).rows;
  }

  async execute<R>(client: pg.ClientBase, statement: PostgresStatement, parameters: unknown) {
    const { onStatement, onDuration, connections } = this.options;
    onStatement?.(statement.text);
    const startedAt = onDuration && performance.now();
    try {
      const result = await client.query<R & pg.QueryResultRow>(
        toQuery(statement, parameters, connections.keepsSessions),
      );
      if (statement.hasLists) for (const row of result.rows) parseList(row);
      return result;
    } catch (error) {
      if (/^Query read timeout/.test((error as Error).message)) connections.distrustAll();
      throw toPostgresError(error);
    } finally {
      if (startedAt !== undefined) onDuration!('statement', performance.now() - startedAt);
    }
  }

  async begin(pool: 'transactions' | 'changes'): Promise<PostgresTransaction> {
    return new PostgresTransaction(await this.options.connections.connect(pool), this);
  }

  run<T>(work: Work<T>): Promise<T> {
    return this.retryCollisions(async () => {
      let shared: PostgresTransaction | undefined;
      try {
        shared = await this.begin('transactions');
        return await runIn(shared, work);
      } catch (error) {
        throw this.toRefusal(error, shared);
      }
    });
  }

  async runExclusively<T>(work: Work<T>): Promise<T> {
    return runIn(await this.begin('changes'), async (transaction) => {
      await transaction.define(
        `set local lock_timeout = 0; set local statement_timeout = 0; select pg_advisory_xact_lock(${migrationLock})`,
      );
      return work(transaction);
    });
  }

  /** Runs `work` again after a collision with another transaction. */
  async retryCollisions<T>(work: (attempt: number) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work(attempt);
      } catch (error) {
        if (!isCollision(error)) throw error;
        if (attempt === maxAttempts) throw this.options.faults.toRefusal(error);
        await delay(Math.random() * 20 * attempt);
      }
    }
  }

  /** Returns a collision unchanged, for `retryCollisions()`. */
  toRefusal(error: unknown, transaction: PostgresTransaction | undefined): unknown {
    return isCollision(error) ? error : this.options.faults.toWriteRefusal(error, transaction?.rows ?? 0);
  }
}

type Work<T> = (transaction: Transaction) => PromiseOrValue<T>;

async function runIn<T>(shared: PostgresTransaction, work: Work<T>): Promise<T> {
  let result: T;
  try {
    result = await work(shared.transaction);
    await shared.settle();
  } catch (error) {
    await shared.rollBack(error);
    throw error;
  }
  await shared.commit();
  return result;
}

/** A transaction on a connection. At its end, it releases the connection. */
export class PostgresTransaction implements SharedTransaction {
  readonly transaction: Transaction;
  /** How many rows the transaction has changed. */
  rows = 0;
  readonly #client: pg.PoolClient;
  readonly #runner: TransactionRunner;
  readonly #beginResult: Promise<unknown>;
  /** They are sent before the next statement. */
  #queuedWrites: QueuedWrite[] = [];
  /** The first error of a statement: nothing can be committed after it. */
  #failure: Error | undefined;
  #isAnnounced = false;
  #hasSavepoint = false;

  constructor(client: pg.PoolClient, runner: TransactionRunner) {
    this.#client = client;
    this.#runner = runner;
    this.#beginResult = this.#sendWithoutWaiting(runner.options.connections.begin.transaction);
    this.transaction = this.#createTransaction();
  }

  #createTransaction(): Transaction {
    const execute = <P, R>(statement: Statement<P, R>, parameters: P) => {
      this.#sendQueuedWithoutWaiting();
      return this.#execute<R>(toPostgres(statement), parameters);
    };
    return {
      isConsistent: true,
      isEmbedded: false,
      all: async (statement, parameters) => (await execute(statement, parameters)).rows,
      get: async (statement, parameters) => (await execute(statement, parameters)).rows[0],
      run: async (statement, parameters) => {
        const { rowCount } = await execute(statement, parameters);
        this.rows += rowCount ?? 0;
        return rowCount ?? 0;
      },
      runEach: async (statement, parameterSets) => {
        this.#sendQueuedWithoutWaiting();
        for (const requests of slices(toRequests(statement, parameterSets), maxPipelined)) {
          await Promise.all(requests.map((request) => this.#execute(request.statement, request.parameters)));
        }
        this.rows += parameterSets.length;
      },
      queue: (statement, parameters, refuse) => {
        const queued = toPostgres(statement);
        // A combined statement can change each row only once.
        if (this.#queuedWrites.some((each) => each.statement === queued)) this.#sendQueuedWithoutWaiting();
        this.#queuedWrites.push({ statement: queued, parameters, refuse });
      },
      cache: new Map(),
      announce: () => void (this.#isAnnounced = true),
      // Creating an index may take long.
      define: async (text) => void (await send(this.#client, text, maxMs)),
      tableNames: async () => {
        const { rows } = (await send(this.#client, selectTableNames)) as pg.QueryResult<{ name: string }>;
        return rows.map(({ name }) => name);
      },
    };
  }

  savepoint(): void {
    void this.#sendWithoutWaiting(this.#hasSavepoint ? 'release own; savepoint own' : 'savepoint own');
    this.#hasSavepoint = true;
  }

  /** The next savepoint releases this one. A commit needs no release. */
  release(): void {}

  async undo(error: unknown): Promise<boolean> {
    if (endsConnection(error)) return false;
    this.transaction.cache.clear();
    this.#queuedWrites = [];
    try {
      await send(this.#client, 'rollback to own');
      this.#failure = undefined;
      return true;
    } catch {
      // PostgreSQL rolls back a transaction whose connection is lost.
      return false;
    }
  }

  async settle(): Promise<void> {
    await this.#sendQueued();
    if (this.#failure) throw this.#failure;
  }

  async commit(): Promise<void> {
    const { onDuration, connections, faults, onCommitted } = this.#runner.options;
    try {
      await this.#beginResult;
      const startedAt = onDuration && performance.now();
      await commit(this.#client, this.#isAnnounced && connections.keepsSessions);
      if (startedAt !== undefined) onDuration!('commit', performance.now() - startedAt);
    } catch (error) {
      await this.rollBack(error);
      throw error;
    }
    this.#client.release();
    faults.recordCommit(this.rows);
    if (this.#isAnnounced) onCommitted();
  }

  async rollBack(error: unknown): Promise<void> {
    const isLost = endsConnection(error);
    try {
      if (!isLost) await send(this.#client, 'rollback');
      this.#client.release(isLost);
    } catch {
      // The connection is lost, and PostgreSQL rolls back.
      this.#client.release(true);
    }
  }

  async #execute<R>(statement: PostgresStatement, parameters: unknown) {
    try {
      return await this.#runner.execute<R>(this.#client, statement, parameters);
    } catch (error) {
      // After a failure, PostgreSQL rejects the statements that follow without naming the cause: report the first error.
      this.#failure ??= error as Error;
      throw this.#failure;
    }
  }

  async #sendQueued(): Promise<void> {
    const writes = this.#queuedWrites;
    if (writes.length === 0) return;
    this.#queuedWrites = [];
    const values = writes.map(({ parameters }) => parameters);
    const { rows } = await this.#execute(combineWrites(writes), values);
    const [counts] = rows as [Record<string, number>];
    writes.forEach(({ refuse }, index) => {
      const changed = counts[`c${index}`]!;
      this.rows += changed;
      if (changed === 0) this.#failure ??= refuse?.();
    });
  }

  /** No caller waits for the result: if a queued statement fails, so does the statement after it. */
  #sendQueuedWithoutWaiting(): void {
    void this.#sendQueued().catch(() => undefined);
  }

  /** No caller has to wait for the result: PostgreSQL responds in order, and if this text fails, so does the next statement. */
  #sendWithoutWaiting(text: string): Promise<unknown> {
    const sent = send(this.#client, text);
    sent.catch(() => undefined);
    return sent;
  }
}

function parseList(row: { list?: unknown }): void {
  row.list = typeof row.list === 'string' ? (JSON.parse(row.list) as unknown) : [];
}

/** Multi-row inserts for as many sets of parameters as possible, and a single statement for each of the others. */
function toRequests(statement: Statement, parameterSets: readonly unknown[]) {
  const single = toPostgres(statement);
  const multiRow = toMultiRowInsert(statement);
  if (!multiRow) return parameterSets.map((parameters) => ({ statement: single, parameters }));
  return slices(parameterSets, rowsPerInsert).flatMap((some) =>
    some.length === rowsPerInsert
      ? [{ statement: multiRow, parameters: some }]
      : some.map((parameters) => ({ statement: single, parameters })),
  );
}

function slices<T>(all: readonly T[], size: number): (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}

/** Sends a text without parameters. */
export async function send(
  client: pg.ClientBase,
  text: string,
  timeoutMs?: number,
): Promise<pg.QueryResult | pg.QueryResult[]> {
  try {
    return await client.query({ text, query_timeout: timeoutMs } as pg.QueryConfig);
  } catch (error) {
    throw toPostgresError(error);
  }
}

/** After a failed statement, PostgreSQL rolls back instead of committing. Only the command in its response shows that. */
async function commit(client: pg.ClientBase, notifies: boolean): Promise<void> {
  let result;
  try {
    result = await send(client, notifies ? `notify ${channel}; commit` : 'commit');
  } catch (error) {
    if (!endsConnection(error)) throw error;
    throw unavailable(
      error,
      'The connection to the database was lost during the commit. The change may or may not be stored. Check before you try again.',
    );
  }
  const { command } = Array.isArray(result) ? result.at(-1)! : result;
  if (command !== 'COMMIT') throw new Error('The transaction was not committed.');
}
