/** Runs statements and transactions on a connection. A transaction sends its queued writes as one statement. */

import type pg from 'pg';
import type { DatabaseOptions, Transaction } from '../database.ts';
import type { Statement } from '../statement.ts';
import {
  combineWrites,
  rowsPerInsert,
  toMultiRowInsert,
  toPostgres,
  toQuery,
  type PostgresStatement,
  type QueuedWrite,
} from './dialect.ts';
import { endsConnection, toFault, uncertain } from './errors.ts';

/** The changes of a transaction so far. */
export interface TransactionState {
  rows: number;
  /** Sent before the next statement. */
  queued: QueuedWrite[];
  isAnnounced: boolean;
  /** The first error of a statement: nothing can be committed after it. */
  failure: Error | undefined;
}

export function newState(): TransactionState {
  return { rows: 0, queued: [], isAnnounced: false, failure: undefined };
}

export interface RunnerOptions extends Pick<DatabaseOptions, 'onStatement' | 'onDuration'> {
  readonly keepsSessions: boolean;
  /** Called when a connection has not responded in time. */
  readonly onTimeout: () => void;
}

export const channel = 'espalier';

const maxMs = 2 ** 31 - 1;
/** Statements that are sent before the first response. */
const maxPipelined = 100;

const selectTableNames = `
  select relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  where nspname = current_schema() and relkind in ('r', 'p')`;

export class TransactionRunner {
  readonly #options: RunnerOptions;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  async read<P, R>(client: pg.ClientBase, statement: Statement<P, R>, parameters: P): Promise<R[]> {
    return (await this.#execute<R>(client, toPostgres(statement), parameters)).rows;
  }

  async #execute<R>(client: pg.ClientBase, statement: PostgresStatement, parameters: unknown) {
    const { onStatement, onDuration, keepsSessions, onTimeout } = this.#options;
    onStatement?.(statement.text);
    const startedAt = onDuration && performance.now();
    try {
      const result = await client.query<R & pg.QueryResultRow>(toQuery(statement, parameters, keepsSessions));
      if (statement.hasLists) for (const row of result.rows) parseList(row);
      return result;
    } catch (error) {
      if (/^Query read timeout/.test((error as Error).message)) onTimeout();
      throw toFault(error);
    } finally {
      if (startedAt !== undefined) onDuration!('statement', performance.now() - startedAt);
    }
  }

  async #executeIn<R>(
    client: pg.ClientBase,
    state: TransactionState,
    statement: PostgresStatement,
    parameters: unknown,
  ) {
    try {
      return await this.#execute<R>(client, statement, parameters);
    } catch (error) {
      // After a failure, PostgreSQL rejects the statements that follow without naming the cause: report the first error.
      state.failure ??= error as Error;
      throw state.failure;
    }
  }

  async #sendQueued(client: pg.ClientBase, state: TransactionState): Promise<void> {
    const writes = state.queued;
    if (writes.length === 0) return;
    state.queued = [];
    const values = writes.map(({ parameters }) => parameters);
    type Counts = Record<string, number>;
    const { rows } = await this.#executeIn<Counts>(client, state, combineWrites(writes), values);
    const [counts] = rows as [Counts];
    writes.forEach(({ refuse }, index) => {
      const changed = counts[`c${index}`]!;
      state.rows += changed;
      if (changed === 0) state.failure ??= refuse?.();
    });
  }

  /** Sends the queued statements. Throws if a statement of the transaction has failed. */
  async settle(client: pg.ClientBase, state: TransactionState): Promise<void> {
    await this.#sendQueued(client, state);
    if (state.failure) throw state.failure;
  }

  open(client: pg.ClientBase, state: TransactionState): Transaction {
    // Not awaited: the statement after it fails if it does.
    const sendAhead = () => void this.#sendQueued(client, state).catch(() => undefined);
    const execute = <P, R>(statement: Statement<P, R>, parameters: P) => {
      sendAhead();
      return this.#executeIn<R>(client, state, toPostgres(statement), parameters);
    };
    return {
      isConsistent: true,
      isEmbedded: false,
      all: async (statement, parameters) => (await execute(statement, parameters)).rows,
      get: async (statement, parameters) => (await execute(statement, parameters)).rows[0],
      run: async (statement, parameters) => {
        const { rowCount } = await execute(statement, parameters);
        state.rows += rowCount ?? 0;
        return rowCount ?? 0;
      },
      runEach: async (statement, each) => {
        sendAhead();
        for (const requests of slices(toRequests(statement, each), maxPipelined)) {
          await Promise.all(
            requests.map((request) => this.#executeIn(client, state, request.statement, request.parameters)),
          );
        }
        state.rows += each.length;
      },
      queue: (statement, parameters, refuse) => {
        const queued = toPostgres(statement);
        // One statement changes a row only once.
        if (state.queued.some((each) => each.statement === queued)) sendAhead();
        state.queued.push({ statement: queued, parameters, refuse });
      },
      notes: new Map(),
      announce: () => void (state.isAnnounced = true),
      // Creating an index may take long.
      define: async (text) => void (await send(client, text, maxMs)),
      tableNames: async () => {
        const { rows } = (await send(client, selectTableNames)) as pg.QueryResult<{ name: string }>;
        return rows.map(({ name }) => name);
      },
    };
  }

  async commit(client: pg.ClientBase, { isAnnounced }: TransactionState): Promise<void> {
    const { onDuration, keepsSessions } = this.#options;
    const startedAt = onDuration && performance.now();
    await commit(client, isAnnounced && keepsSessions);
    if (startedAt !== undefined) onDuration!('commit', performance.now() - startedAt);
  }
}

function parseList(row: { list?: unknown }): void {
  row.list = typeof row.list === 'string' ? (JSON.parse(row.list) as unknown) : [];
}

/** A statement for each of the parameters, or a multi-row insert for as many as possible. */
function toRequests(statement: Statement, each: readonly unknown[]) {
  const single = toPostgres(statement);
  const multiRow = toMultiRowInsert(statement);
  if (!multiRow) return each.map((parameters) => ({ statement: single, parameters }));
  return slices(each, rowsPerInsert).flatMap((some) =>
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
    throw toFault(error);
  }
}

/** After a failed statement, PostgreSQL rolls back instead. Only the command in its response shows that. */
async function commit(client: pg.ClientBase, notifies: boolean): Promise<void> {
  let result;
  try {
    result = await send(client, notifies ? `notify ${channel}; commit` : 'commit');
  } catch (error) {
    throw endsConnection(error) ? uncertain(error) : error;
  }
  const { command } = Array.isArray(result) ? result.at(-1)! : result;
  if (command !== 'COMMIT') throw new Error('The transaction was not committed.');
}
