/**
 * PostgreSQL. Each kind of work has a connection pool of its own, so that no kind waits for another and no deadlock between
 * pools is possible. Changes run at READ COMMITTED and lock the journal's counter. A snapshot runs at REPEATABLE READ.
 */

import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { redactPassword } from '../../config/url-password.ts';
import type { PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import { useSnapshot, type Database, type DatabaseOptions, type Transaction } from '../database.ts';
import { maxSharedCommit } from '../group-commit.ts';
import type { Statement } from '../statement.ts';
import { beginStatements, connectionConfig, createConnector, createPools, queueFull } from './connections.ts';
import { postgresDialect, toPostgres } from './dialect.ts';
import { endsConnection, isCollision, toStartError } from './errors.ts';
import { createFaultState } from './fault-state.ts';
import { createGroupCommit } from './group-commit.ts';
import { openListener } from './listener.ts';
import { checkServer } from './server-info.ts';
import { createSnapshots } from './snapshots.ts';
import { channel, newState, send, TransactionRunner, type TransactionState } from './transaction.ts';

const maxTries = 5;
/** "ESPA": the number of the advisory lock that a migration holds. */
const migrationLock = 0x45535041;

export async function openPostgres(url: string, options: DatabaseOptions): Promise<Database> {
  const { connections = 16, poolMode = 'session', timeoutSeconds = 30 } = options;
  const { onStatement, onDuration, onAnnounced, onWriteFailure, log = () => undefined } = options;
  const safeUrl = redactPassword(url);
  const keepsSessions = poolMode === 'session';
  const config = connectionConfig(url, { keepsSessions, timeoutSeconds, safeUrl });
  const connector = createConnector();
  const onOutdated = () => connector.replaceAll();
  const faults = createFaultState({ log, safeUrl, onWriteFailure, onOutdated });
  const pools = createPools(config, connections, keepsSessions);
  const begin = beginStatements({ keepsSessions, timeoutSeconds });
  const onTimeout = () => connector.distrustAll();
  const runner = new TransactionRunner({ onStatement, onDuration, keepsSessions, onTimeout });
  const listener = openListener({ config, channel, keepsSessions, onAnnounced });
  const onCommit = ({ rows, isAnnounced }: TransactionState): void => {
    faults.noteCommit(rows);
    if (isAnnounced) listener.notify();
  };

  /** Holds a connection of a pool until `work` is done. */
  async function withClient<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await connector.connect(pool);
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      client.release(endsConnection(error));
      throw error;
    }
  }

  async function inTransaction<T>(
    pool: pg.Pool,
    work: (transaction: Transaction) => PromiseOrValue<T>,
    state = newState(),
  ): Promise<T> {
    const result = await withClient(pool, async (client) => {
      // Not awaited: the server responds to it before the first statement.
      const begun = send(client, begin.writing);
      begun.catch(() => undefined);
      try {
        const done = await work(runner.open(client, state));
        await runner.settle(client, state);
        await begun;
        await runner.commit(client, state);
        return done;
      } catch (error) {
        // If this fails as well, the connection is lost, and the server rolls back.
        await send(client, 'rollback').catch(() => undefined);
        throw error;
      }
    });
    onCommit(state);
    return result;
  }

  /** Runs a transaction again after a collision with another one. */
  async function transaction<T>(work: (transaction: Transaction) => PromiseOrValue<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      const state = newState();
      try {
        return await inTransaction(pools.writing, work, state);
      } catch (error) {
        if (!isCollision(error) || tries === maxTries) throw faults.toWriteRefusal(error, state.rows);
        await delay(Math.random() * 20 * tries);
      }
    }
  }

  /** Single reads share a few connections: each is sent at once, after those before it. */
  async function readShared<P, R>(statement: Statement<P, R>, parameters: P): Promise<R[]> {
    try {
      return await runner.read(await connector.shared(pools.shared), statement, parameters);
    } catch (error) {
      throw faults.toRefusal(error);
    }
  }

  const { group, change } = createGroupCommit({
    connect: () => connector.connect(pools.changing),
    beginText: begin.writing,
    runner,
    onCommit,
    toRefusal: (error, { rows }) => faults.toWriteRefusal(error, rows),
    queueFull,
  });
  const { openSnapshot, snapshot } = createSnapshots({
    connect: () => connector.connect(pools.reading),
    withLongReadClient: (work) => withClient(pools.snapshots, work),
    begin,
    runner,
    toRefusal: faults.toRefusal,
  });

  const close = async (): Promise<void> => {
    const poolEnds = Object.values(pools).map((pool) => pool.end());
    await Promise.all([listener.close(), connector.close(), ...poolEnds]);
  };
  try {
    await withClient(pools.reading, (client) => checkServer((text) => send(client, text), log));
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
    transaction,
    change,
    maxConcurrentChanges: maxSharedCommit,
    exclusive: (work) =>
      inTransaction(pools.changing, async (held) => {
        await held.define(
          `set local lock_timeout = 0; set local statement_timeout = 0; select pg_advisory_xact_lock(${migrationLock})`,
        );
        return work(held);
      }),
    openSnapshot,
    snapshot,
    shortSnapshot: (work) => useSnapshot(openSnapshot(), work),
    watch: (onCommit) => listener.watch(onCommit),
    connections: () => countConnections(Object.values(pools), group.waiting),
    get receivesNotifications() {
      return listener.isListening;
    },
    findFault: faults.findFault,
    writeFailure: faults.writeFailure,
    reportDamage: faults.reportDamage,
    reportOutdated: faults.reportOutdated,
    confirmCurrent: faults.confirmCurrent,
    explain: (error) => toStartError(error, safeUrl),
    close,
  };
}

function countConnections(pools: readonly pg.Pool[], waitingChanges: number) {
  const sum = (count: (pool: pg.Pool) => number) => pools.reduce((total, pool) => total + count(pool), 0);
  const open = sum(({ totalCount }) => totalCount);
  return {
    open,
    busy: open - sum(({ idleCount }) => idleCount),
    waiting: waitingChanges + sum(({ waitingCount }) => waitingCount),
  };
}
