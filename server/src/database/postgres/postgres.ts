/**
 * The database on PostgreSQL. Changes run at READ COMMITTED and lock the counter of the journal. Snapshots run at REPEATABLE READ. Each
 * kind of work has its own connections.
 */

import type { PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import {
  withSnapshot,
  type ChangeOptions,
  type Database,
  type DatabaseOptions,
  type Transaction,
} from '../database.ts';
import { GroupCommit, maxTransactionsPerCommit } from '../group-commit.ts';
import { sql, type Statement } from '../statement.ts';
import { Connections, queueFull } from './connections.ts';
import { postgresDialect, toPostgres } from './dialect.ts';
import { PostgresFaults, toStartError } from './faults.ts';
import { Listener } from './listener.ts';
import { checkServer } from './server-info.ts';
import { openSnapshot } from './snapshots.ts';
import { TransactionRunner, type PostgresTransaction } from './transaction.ts';

const selectSize = sql<object, { bytes: number }>`select pg_database_size(current_database()) as bytes`;

export async function openPostgres(url: string, options: DatabaseOptions): Promise<Database> {
  const { onStatement, onDuration } = options;
  const connections = new Connections(url, options);
  const { safeUrl } = connections;
  const faults = new PostgresFaults(safeUrl, options, () => connections.replaceAll());
  const listener = new Listener(connections, options.notifyOtherProcesses);
  const onCommitted = () => listener.notify();
  const runner = new TransactionRunner({ connections, faults, onStatement, onDuration, onCommitted });
  const changes = new PostgresGroupCommit(runner);

  const readShared = async <P, R>(statement: Statement<P, R>, parameters: P): Promise<R[]> => {
    try {
      return await runner.read(await connections.connectShared(), statement, parameters);
    } catch (error) {
      throw faults.toRefusal(error);
    }
  };
  const close = async (): Promise<void> => {
    await Promise.all([listener.close(), connections.close()]);
  };
  try {
    await checkServer(await connections.connectShared(), faults.log);
  } catch (error) {
    await close();
    throw toStartError(error, safeUrl);
  }

  return {
    isEmbedded: false,
    dialect: postgresDialect,
    formatStatement: (statement) => toPostgres(statement).text,
    all: readShared,
    get: async (statement, parameters) => (await readShared(statement, parameters))[0],
    transaction: (work) => runner.run(work),
    change: (work, changeOptions) => changes.change(work, changeOptions),
    maxConcurrentChanges: maxTransactionsPerCommit,
    exclusive: (work) => runner.runExclusively(work),
    openSnapshot: () => openSnapshot(runner, 'shortReads'),
    snapshot: (work) => withSnapshot(openSnapshot(runner, 'longReads'), work),
    shortSnapshot: (work) => withSnapshot(openSnapshot(runner, 'shortReads'), work),
    onCommit: (callback) => listener.onCommit(callback),
    connections: () => {
      const { open, busy, waiting } = connections.count();
      return { open, busy, waiting: waiting + changes.waiting };
    },
    get receivesNotifications() {
      return listener.isListening;
    },
    findFault: () => faults.findFault(),
    writeFailure: () => faults.writeFailure,
    reportDamage: (finding) => faults.reportDamage(finding),
    reportStale: () => faults.reportStale(),
    confirmCurrent: () => faults.confirmCurrent(),
    readSize: async () => (await readShared(selectSize, {}))[0]!.bytes,
    explain: (error) => toStartError(error, safeUrl),
    close,
  };
}

/** How long a change may wait for earlier changes. */
const deadlineMs = 15_000;
const maxWaiting = 1_000;

/** Uses one connection, so each batch begins after the commit of the previous one. */
class PostgresGroupCommit extends GroupCommit {
  readonly #runner: TransactionRunner;
  #sharedTransaction: PostgresTransaction | undefined;

  constructor(runner: TransactionRunner) {
    super();
    this.#runner = runner;
  }

  change<T>(
    work: (transaction: Transaction) => PromiseOrValue<T>,
    { takesLong = false }: ChangeOptions = {},
  ): Promise<T> {
    return this.#runner.retryCollisions(async (attempt) => {
      if (this.waiting >= maxWaiting) throw queueFull();
      return this.run(work, { deadlineMs, isAlone: takesLong || attempt > 1 });
    });
  }

  protected async begin(): Promise<PostgresTransaction | undefined> {
    this.#sharedTransaction = undefined;
    this.failExpired(queueFull);
    if (this.waiting === 0) return undefined;
    return (this.#sharedTransaction = await this.#runner.begin('changes'));
  }

  protected toRefusal(error: unknown): unknown {
    return this.#runner.toRefusal(error, this.#sharedTransaction);
  }
}
