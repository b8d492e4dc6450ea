/**
 * Connections to PostgreSQL: their configuration, and a pool for each kind of work, so that no kind waits for another and no
 * deadlock between pools is possible. While PostgreSQL cannot be reached, requests fail immediately, and a backoff limits new attempts.
 */

import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { parse } from 'pg-connection-string';
import type { Refusal } from '../../refusal.ts';
import { redactPassword } from '../../config/redact-url.ts';
import { StartError } from '../../config/start-error.ts';
import type { DatabaseOptions } from '../database.ts';
import { toPostgresError, unavailable } from './faults.ts';

/** The timeout for a new connection to PostgreSQL, or for a free connection of the pool. */
const connectTimeoutMs = 15_000;
const idleMs = 60_000;
/** How many requests may wait for a connection. In a longer queue, a request would wait too long. */
const maxWaiting = 1_000;
const tooManyConnections = '53300';
const retryMs = 20;
/** The backoff after a failed attempt to connect. It doubles with each further failure. */
const minBackoffMs = 50;
const maxBackoffMs = 1_000;
/** How long a change waits for the lock of another change. */
const lockSeconds = 15;
/** A node that hangs inside a transaction blocks the others for no longer than this. */
const idleInTransactionSeconds = 10;
/** Long reads may pause for longer between two statements. */
const idleInLongReadSeconds = 60;

const planSettings = [
  // Statements are short: planning or compiling them each time takes longer than running them.
  '-c jit=off',
  '-c plan_cache_mode=force_generic_plan',
  // Connections cache plans. A plan that is made while a table is nearly empty would otherwise be a sequential scan.
  '-c enable_seqscan=off',
];

/** The options that all connections have in common, with their defaults. */
export function sessionOptions(url: string, { poolMode = 'session', timeoutSeconds = 30 }: DatabaseOptions) {
  return {
    /** The URL without its password. */
    safeUrl: redactPassword(url),
    /** False if a connection pooler may use another connection for each transaction. */
    keepsSessions: poolMode === 'session',
    timeoutSeconds,
  };
}

type SessionOptions = ReturnType<typeof sessionOptions>;

export function connectionConfig(
  url: string,
  { keepsSessions, timeoutSeconds, safeUrl }: SessionOptions,
): pg.ClientConfig {
  const limits = {
    statement_timeout: timeoutSeconds * 1000,
    lock_timeout: lockSeconds * 1000,
    idle_in_transaction_session_timeout: idleInTransactionSeconds * 1000,
  };
  try {
    // `sslmode` in the URL has the meaning that libpq gives it.
    const parsed = parse(url, { useLibpqCompat: true }) as unknown as pg.ClientConfig;
    const settings = [parsed.options, ...planSettings].filter(Boolean).join(' ');
    return {
      application_name: 'espalier',
      ...parsed,
      ...(keepsSessions && { ...limits, options: settings }),
      // PostgreSQL may disappear without closing the connection.
      query_timeout: (timeoutSeconds + 5) * 1000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      pipeline: true,
      stream: createBatchingSocket,
      types: { getTypeParser: typeParser as pg.CustomTypesConfig['getTypeParser'] },
    };
  } catch (cause) {
    throw new StartError(`The database URL ${safeUrl} cannot be used: ${(cause as Error).message}.`, {
      cause,
    });
  }
}

/** Sends the statements of one tick in one write: a system call costs as much as a small statement. */
function createBatchingSocket(): Socket {
  const socket = new Socket();
  let isBatching = false;
  const batch = () => {
    if (isBatching) return;
    isBatching = true;
    socket.cork();
    process.nextTick(() => {
      isBatching = false;
      socket.uncork();
    });
  };
  // The socket sets `write` itself when it connects, so a subclass cannot override it.
  socket.once('connect', () => {
    const write = socket.write.bind(socket) as (...parameters: unknown[]) => boolean;
    socket.write = (...parameters: unknown[]) => {
      batch();
      return write(...parameters);
    };
  });
  return socket;
}

const bigint = 20;

/** Reads `bigint` as a number: all stored values are below 2^53 (times in milliseconds, counts and journal numbers). */
function typeParser(type: number, format?: 'text' | 'binary'): (value: string) => unknown {
  return type === bigint ? Number : (pg.types.getTypeParser(type, format) as (value: string) => unknown);
}

/** A pool for each kind of work. One connection is left for the listener. */
function createPools(config: pg.ClientConfig, connections: number, keepsSessions: boolean) {
  const sharedReads = connections >= 12 ? 2 : 1;
  const rest = connections - sharedReads - (keepsSessions ? 1 : 0);
  const longReads = Math.max(1, Math.floor(rest / 3));
  const transactions = Math.max(1, Math.floor(rest / 6));
  // One connection is enough: changes share transactions, which run one after the other.
  const changes = 1;
  const createPool = (max: number) => {
    const pool = new pg.Pool({
      ...config,
      max,
      connectionTimeoutMillis: connectTimeoutMs,
      idleTimeoutMillis: idleMs,
    });
    // The statement on a lost connection fails with the error; the next statement opens a new connection.
    pool.on('error', () => undefined);
    pool.on('connect', (client) => {
      client.on('error', () => undefined);
      // Sent before the first statement. If this statement fails, so does the first one.
      if (keepsSessions) client.query(enableSyncedCommits({ isLocal: false })).catch(() => undefined);
    });
    return pool;
  };
  return {
    sharedReads: createPool(sharedReads),
    longReads: createPool(longReads),
    transactions: createPool(transactions),
    changes: createPool(changes),
    shortReads: createPool(Math.max(1, rest - longReads - transactions - changes)),
  };
}

type PoolName = keyof ReturnType<typeof createPools>;

export class Connections {
  readonly keepsSessions: boolean;
  readonly safeUrl: string;
  readonly config: pg.ClientConfig;
  readonly begin: ReturnType<typeof beginStatements>;
  readonly #pools: Readonly<Record<PoolName, pg.Pool>>;
  #backoffMs = 0;
  #retryAt = 0;
  #lastError: unknown;
  /** Increases when older connections are no longer trusted, for example because one is dead. */
  #generation = 0;
  readonly #generations = new WeakMap<pg.ClientBase, number>();
  /** Connections that many statements use at the same time. */
  readonly #shared: (Promise<pg.PoolClient> | undefined)[] = [];
  #sharedCount = 0;

  constructor(url: string, options: DatabaseOptions) {
    const session = sessionOptions(url, options);
    this.keepsSessions = session.keepsSessions;
    this.safeUrl = session.safeUrl;
    this.config = connectionConfig(url, session);
    this.begin = beginStatements(session);
    this.#pools = createPools(this.config, options.connections ?? 16, this.keepsSessions);
  }

  async connect(name: PoolName): Promise<pg.PoolClient> {
    const pool = this.#pools[name];
    if (pool.waitingCount >= maxWaiting) throw queueFull();
    if (pool.idleCount === 0 && performance.now() < this.#retryAt) throw this.#lastError;
    const deadline = performance.now() + connectTimeoutMs;
    for (;;) {
      const client = await this.#connectOnce(pool);
      if (client && this.#isFresh(client)) return client;
      if (performance.now() > deadline) throw queueFull();
      client?.release(true);
      if (!client) await delay(retryMs);
    }
  }

  /** A shared connection for single statements. Each is sent immediately, without waiting for the results of earlier ones. */
  connectShared(): Promise<pg.PoolClient> {
    const index = this.#sharedCount++ % this.#pools.sharedReads.options.max;
    return (this.#shared[index] ??= this.#openShared(index));
  }

  /** Called after a timeout: the network to PostgreSQL may be lost for all connections. */
  distrustAll(): void {
    this.#generation++;
  }

  /** Called when connections may lead to the wrong server: these connections are not used again. */
  replaceAll(): void {
    this.#generation++;
    // A failed or lost connection does not need `end`.
    for (const each of this.#shared.splice(0)) each?.then((client) => client.end()).catch(() => undefined);
  }

  count(): { readonly open: number; readonly busy: number; readonly waiting: number } {
    const pools = Object.values(this.#pools);
    const sum = (count: (pool: pg.Pool) => number) => pools.reduce((total, pool) => total + count(pool), 0);
    const open = sum(({ totalCount }) => totalCount);
    return {
      open,
      busy: open - sum(({ idleCount }) => idleCount),
      waiting: sum(({ waitingCount }) => waitingCount),
    };
  }

  async close(): Promise<void> {
    const poolEnds = Object.values(this.#pools).map((pool) => pool.end());
    const sharedEnds = this.#shared.map(async (client) => (await client)?.end());
    await Promise.all([Promise.allSettled(sharedEnds), ...poolEnds]);
  }

  #isFresh(client: pg.PoolClient): boolean {
    if (!this.#generations.has(client)) this.#generations.set(client, this.#generation);
    return this.#generations.get(client) === this.#generation;
  }

  /** Undefined if PostgreSQL accepts no more connections. The caller then waits for a busy connection of the pool. */
  async #connectOnce(pool: pg.Pool): Promise<pg.PoolClient | undefined> {
    try {
      const client = await pool.connect();
      this.#backoffMs = 0;
      this.#retryAt = 0;
      return client;
    } catch (error) {
      // The pool was busy; PostgreSQL itself may be fine.
      if (/^timeout exceeded/.test((error as Error).message)) throw queueFull();
      if ((error as { code?: string }).code === tooManyConnections && pool.totalCount > 0) return undefined;
      this.#lastError = toPostgresError(error);
      if (performance.now() >= this.#retryAt) {
        this.#backoffMs = Math.min(Math.max(minBackoffMs, this.#backoffMs * 2), maxBackoffMs);
        this.#retryAt = performance.now() + this.#backoffMs;
      }
      throw this.#lastError;
    }
  }

  #openShared(index: number): Promise<pg.PoolClient> {
    // Another connection may have replaced this one.
    const remove = () => {
      if (this.#shared[index] === connecting) this.#shared[index] = undefined;
    };
    const connecting = this.connect('sharedReads').then((client) => {
      client.once('end', () => {
        remove();
        client.release(true);
      });
      return client;
    });
    connecting.catch(remove);
    return connecting;
  }
}

/** Without sessions, each transaction sets its own limits. */
function beginStatements({ keepsSessions, timeoutSeconds }: SessionOptions) {
  const limits = keepsSessions
    ? ''
    : `; set local statement_timeout = '${timeoutSeconds}s'; set local lock_timeout = '${lockSeconds}s'; set local idle_in_transaction_session_timeout = '${idleInTransactionSeconds}s'; set local jit = off`;
  const syncing = keepsSessions ? '' : `; ${enableSyncedCommits({ isLocal: true })}`;
  const shortReads = `begin isolation level repeatable read read only${limits}`;
  return {
    transaction: `begin isolation level read committed${limits}${syncing}`,
    shortReads,
    // For long reads, a plan that considers the values is worth its cost.
    longReads: `${shortReads}; set local plan_cache_mode = auto; set local enable_seqscan = on; set local idle_in_transaction_session_timeout = '${idleInLongReadSeconds}s'`,
  };
}

/**
 * With `synchronous_commit = off`, PostgreSQL confirms a commit before it is on the disk. Stronger settings stay unchanged.
 * A local setting applies to the transaction, any other to the session.
 */
function enableSyncedCommits({ isLocal }: { isLocal: boolean }): string {
  const current = `current_setting('synchronous_commit')`;
  return `select set_config('synchronous_commit', case ${current} when 'off' then 'on' else ${current} end, ${isLocal})`;
}

export function queueFull(): Refusal {
  return unavailable(undefined, 'Too many requests wait for the database. Try again later.');
}
