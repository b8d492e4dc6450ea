/** The connections to PostgreSQL: how they are made, how many there are for what, and how they are handed out. */

import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { parse } from 'pg-connection-string';
import type { Refusal } from '../../refusal.ts';
import { StartError } from '../../config/start-error.ts';
import { syncedCommits } from './server-info.ts';
import { asFault, unavailable } from './errors.ts';

/** To reach the server, or to get to the head of the line. */
const connectTimeoutMs = 15_000;
const idleMs = 60_000;
/** More than that would wait too long anyhow. */
const mostWaiting = 1_000;
const tooManyConnections = '53300';
const lookAgainMs = 20;
/** After a failed attempt to connect nobody tries for a while, and each further one longer. */
const firstPauseMs = 50;
const longestPauseMs = 1_000;
/** How long somebody waits in line for a change of somebody else. */
export const lockSeconds = 15;
/** A node that hangs in the middle of a transaction does not keep the others waiting for longer. */
export const idleInTransactionSeconds = 10;

const planSettings = [
  // Statements are short: to plan them each time, or to compile them, takes longer than to run them.
  '-c jit=off',
  '-c plan_cache_mode=force_generic_plan',
  // Connections cache plans. While a table is nearly empty, the planner would choose a sequential scan.
  '-c enable_seqscan=off',
];

interface ConnectionChoices {
  readonly keepsSessions: boolean;
  readonly timeoutSeconds: number;
  readonly shown: string;
}

export function connectionConfig(
  url: string,
  { keepsSessions, timeoutSeconds, shown }: ConnectionChoices,
): pg.ClientConfig {
  const limits = {
    statement_timeout: timeoutSeconds * 1000,
    lock_timeout: lockSeconds * 1000,
    idle_in_transaction_session_timeout: idleInTransactionSeconds * 1000,
  };
  try {
    // Among what may stand in a URL, `sslmode` means what it means to libpq.
    const given = parse(url, { useLibpqCompat: true }) as unknown as pg.ClientConfig;
    const settings = [given.options, ...planSettings].filter(Boolean).join(' ');
    return {
      application_name: 'espalier',
      ...given,
      ...(keepsSessions && { ...limits, options: settings }),
      // A server that is gone without a word.
      query_timeout: (timeoutSeconds + 5) * 1000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      pipeline: true,
      stream: createBatchingSocket,
      types: { getTypeParser: typeParser as pg.CustomTypesConfig['getTypeParser'] },
    };
  } catch (cause) {
    throw new StartError(`The database URL ${shown} cannot be used: ${(cause as Error).message}.`, { cause });
  }
}

/** Statements that are sent together go to the server in one write: a system call costs as much as a small statement. */
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
  // `connect` sets the method, so that a subclass cannot.
  socket.once('connect', () => {
    const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
    socket.write = (...given: unknown[]) => {
      batch();
      return write(...given);
    };
  });
  return socket;
}

const bigint = 20;

/** Numbers are below 2^53: times in milliseconds, counts, places in the journal. */
function typeParser(type: number, format?: 'text' | 'binary'): (value: string) => unknown {
  return type === bigint ? Number : (pg.types.getTypeParser(type, format) as (value: string) => unknown);
}

/** For each kind of work some of the connections; one is left for listening. */
export function createLanes(config: pg.ClientConfig, connections: number, keepsSessions: boolean) {
  const shared = connections >= 12 ? 2 : 1;
  const rest = connections - shared - (keepsSessions ? 1 : 0);
  const snapshots = Math.max(1, Math.floor(rest / 3));
  const writing = Math.max(1, Math.floor(rest / 6));
  // Changes share transactions, one after the other.
  const changing = 1;
  const lane = (max: number) => {
    const pool = new pg.Pool({
      ...config,
      max,
      connectionTimeoutMillis: connectTimeoutMs,
      idleTimeoutMillis: idleMs,
    });
    // Whoever uses a connection that is lost learns it from their statement; the next one makes a new one.
    pool.on('error', () => undefined);
    pool.on('connect', (client) => {
      client.on('error', () => undefined);
      // Sent before whatever the connection was made for. Where it fails, that fails, too.
      if (keepsSessions) client.query(syncedCommits({ isLocal: false })).catch(() => undefined);
    });
    return pool;
  };
  return {
    shared: lane(shared),
    snapshots: lane(snapshots),
    writing: lane(writing),
    changing: lane(changing),
    reading: lane(Math.max(1, rest - snapshots - writing - changing)),
  };
}

/** Hands out connections. While the server cannot be reached it says so at once, and tries now and then. */
export function createGate() {
  let pauseMs = 0;
  let isShutUntil = 0;
  let lastFault: unknown;
  /** Those made before one was found dead may be, too. */
  let generation = 0;
  const generations = new WeakMap<pg.ClientBase, number>();
  /** Connections that many use at the same time. */
  const shared: (Promise<pg.PoolClient> | undefined)[] = [];
  let turn = 0;

  async function connect(lane: pg.Pool): Promise<pg.PoolClient> {
    if (lane.waitingCount >= mostWaiting) throw tooManyWait();
    if (lane.idleCount === 0 && performance.now() < isShutUntil) throw lastFault;
    const deadline = performance.now() + connectTimeoutMs;
    for (;;) {
      const client = await connectOnce(lane);
      if (client && isFresh(client)) return client;
      if (performance.now() > deadline) throw tooManyWait();
      client?.release(true);
      if (!client) await delay(lookAgainMs);
    }
  }

  function isFresh(client: pg.PoolClient): boolean {
    if (!generations.has(client)) generations.set(client, generation);
    return generations.get(client) === generation;
  }

  /** Undefined if the server takes no more connections, but others of this lane will be free again. */
  async function connectOnce(lane: pg.Pool): Promise<pg.PoolClient | undefined> {
    try {
      const client = await lane.connect();
      pauseMs = 0;
      isShutUntil = 0;
      return client;
    } catch (error) {
      // Not the server, but those before in line.
      if (/^timeout exceeded/.test((error as Error).message)) throw tooManyWait();
      if ((error as { code?: string }).code === tooManyConnections && lane.totalCount > 0) return undefined;
      lastFault = asFault(error);
      if (performance.now() >= isShutUntil) {
        pauseMs = Math.min(Math.max(firstPauseMs, pauseMs * 2), longestPauseMs);
        isShutUntil = performance.now() + pauseMs;
      }
      throw lastFault;
    }
  }

  function connectShared(lane: pg.Pool, place: number): Promise<pg.PoolClient> {
    // Another one may be in its place by then.
    const forget = () => {
      if (shared[place] === made) shared[place] = undefined;
    };
    const made = connect(lane).then((client) => {
      client.once('end', () => {
        forget();
        client.release(true);
      });
      return client;
    });
    made.catch(forget);
    return made;
  }

  return {
    connect,
    /** A connection answered nothing for too long: the way to the server was lost without a word. */
    distrustAll: () => void generation++,
    /** Every connection may lead to another server than it should: none is used again. */
    replaceAll(): void {
      generation++;
      // One that was never made, or is lost already, needs no end.
      for (const each of shared.splice(0)) each?.then((client) => client.end()).catch(() => undefined);
    },
    /** For statements that need no connection of their own. */
    shared(lane: pg.Pool): Promise<pg.PoolClient> {
      const place = turn++ % lane.options.max;
      return (shared[place] ??= connectShared(lane, place));
    },
    async close(): Promise<void> {
      const ending = shared.map(async (client) => (await client)?.end());
      await Promise.allSettled(ending);
    },
  };
}

export function tooManyWait(): Refusal {
  return unavailable(undefined, 'Too many requests wait for the database. Try again later.');
}
