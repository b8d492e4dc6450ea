/**
 * PostgreSQL: a few connections, each kind of work with its own, so that none waits for another kind and nobody waits
 * in a circle. Changes run at READ COMMITTED and stand in line at the journal's counter; what one answer reads is of
 * one moment. Knows PostgreSQL's dialect and nothing of what is stored.
 */

import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { redactPassword } from '../../config/url-password.ts';
import type { PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import type { Database, DatabaseOptions, Snapshot, Transaction } from '../database.ts';
import { maxSharedCommit } from '../group-commit.ts';
import { checkServer, syncedCommits } from './server-info.ts';
import {
  connectionConfig,
  createGate,
  createLanes,
  idleInTransactionSeconds,
  lockSeconds,
  tooManyWait,
} from './connections.ts';
import { asFault, endsConnection, PostgresFault, toStartError, uncertain } from './errors.ts';
import { createPostgresGroup, nothingWritten, type Written } from './group-commit.ts';
import { createPostgresGuard } from './fault-state.ts';
import { openListener } from './listener.ts';
import {
  rowsAtOnce,
  searchIndex,
  searchIndexWithSpaces,
  toPostgres,
  toPostgresForMany,
  toQuery,
  type PostgresStatement,
} from './dialect.ts';
import { toOneStatement } from './dialect.ts';
import type { Statement } from '../statement.ts';

/** What reads for long may think in between. */
const idleInLongReadSeconds = 60;
const mostTries = 5;
const longestMs = 2 ** 31 - 1;
/** Statements that are sent before the first is answered. */
const mostAtOnce = 100;
const channel = 'espalier';
/** "ESPA": whoever migrates this database holds the lock of this number. */
const migrationLock = 0x45535041;

export async function openPostgres(url: string, options: DatabaseOptions): Promise<Database> {
  const { connections = 16, poolMode = 'session', timeoutSeconds = 30 } = options;
  const { onStatement, onDuration, log = () => undefined } = options;
  const shown = redactPassword(url);
  const keepsSessions = poolMode === 'session';
  const config = connectionConfig(url, { keepsSessions, timeoutSeconds, shown });
  const gate = createGate();
  const guard = createPostgresGuard({
    log,
    shown,
    onWriteFailure: options.onWriteFailure,
    onOutdated: () => gate.replaceAll(),
  });
  const lanes = createLanes(config, connections, keepsSessions);
  const limits = keepsSessions
    ? ''
    : `; set local statement_timeout = '${timeoutSeconds}s'; set local lock_timeout = '${lockSeconds}s'; set local idle_in_transaction_session_timeout = '${idleInTransactionSeconds}s'; set local jit = off`;
  const syncing = keepsSessions ? '' : `; ${syncedCommits({ isLocal: true })}`;
  const beginWriting = `begin isolation level read committed${limits}${syncing}`;
  const beginReading = `begin isolation level repeatable read read only${limits}`;
  // What takes long is better planned for its values.
  const beginLong = `${beginReading}; set local plan_cache_mode = auto; set local enable_seqscan = on; set local idle_in_transaction_session_timeout = '${idleInLongReadSeconds}s'`;

  const ask = <P, R>(client: pg.ClientBase, statement: Statement<P, R>, parameters: P) =>
    askWritten<R>(client, toPostgres(statement), parameters);

  async function askWritten<R>(client: pg.ClientBase, written: PostgresStatement, parameters: unknown) {
    onStatement?.(written.text);
    const startedAt = onDuration && performance.now();
    try {
      const done = await client.query<R & pg.QueryResultRow>(toQuery(written, parameters, keepsSessions));
      if (written.hasLists) for (const row of done.rows) parseList(row);
      return done;
    } catch (error) {
      if (/^Query read timeout/.test((error as Error).message)) gate.distrustAll();
      throw asFault(error);
    } finally {
      if (startedAt !== undefined) onDuration!('statement', performance.now() - startedAt);
    }
  }

  /** A connection of a lane, until `work` is done with it. */
  async function withClient<T>(lane: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await gate.connect(lane);
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
    lane: pg.Pool,
    work: (transaction: Transaction) => PromiseOrValue<T>,
    written: Written = nothingWritten(),
  ): Promise<T> {
    const result = await withClient(lane, async (client) => {
      // Not waited for: it is answered before the first statement is.
      const begun = send(client, beginWriting);
      begun.catch(() => undefined);
      try {
        const done = await work(transactionOf(client, written));
        await settle(client, written);
        await begun;
        await commitTimed(client, written);
        return done;
      } catch (error) {
        // Where even this fails, the connection is lost, and the server rolls back by itself.
        await send(client, 'rollback').catch(() => undefined);
        throw error;
      }
    });
    noteCommit(written);
    return result;
  }

  async function commitTimed(client: pg.ClientBase, { isAnnounced }: Written): Promise<void> {
    const startedAt = onDuration && performance.now();
    await commit(client, isAnnounced && keepsSessions);
    if (startedAt !== undefined) onDuration!('commit', performance.now() - startedAt);
  }

  function noteCommit({ rows, isAnnounced }: Written): void {
    guard.noteCommit(rows);
    if (isAnnounced) listener.tell();
  }

  async function askNoting<R>(
    client: pg.ClientBase,
    written: Written,
    statement: PostgresStatement,
    parameters: unknown,
  ) {
    try {
      return await askWritten<R>(client, statement, parameters);
    } catch (error) {
      // After a failure, PostgreSQL rejects the statements that follow without naming the cause: report the first error.
      written.failure ??= error as Error;
      throw written.failure;
    }
  }

  async function sendQueued(client: pg.ClientBase, written: Written): Promise<void> {
    const writes = written.queued;
    if (writes.length === 0) return;
    written.queued = [];
    const statement = toOneStatement(writes);
    const values = writes.map(({ parameters }) => parameters);
    const { rows } = await askNoting<Record<string, number>>(client, written, statement, values);
    const [counts] = rows as [Record<string, number>];
    writes.forEach(({ refuse }, index) => {
      const changed = counts[`c${index}`]!;
      written.rows += changed;
      if (changed === 0) written.failure ??= refuse?.();
    });
  }

  /** Sends the queued statements. Throws if a statement of the transaction has failed. */
  async function settle(client: pg.ClientBase, written: Written): Promise<void> {
    await sendQueued(client, written);
    if (written.failure) throw written.failure;
  }

  function transactionOf(client: pg.ClientBase, written: Written): Transaction {
    // Not waited for: what follows fails if it does.
    const sendAhead = () => void sendQueued(client, written).catch(() => undefined);
    const askOne = <P, R>(statement: Statement<P, R>, parameters: P) => {
      sendAhead();
      return askNoting<R>(client, written, toPostgres(statement), parameters);
    };
    return {
      isConsistent: true,
      isEmbedded: false,
      all: async (statement, parameters) => (await askOne(statement, parameters)).rows,
      get: async (statement, parameters) => (await askOne(statement, parameters)).rows[0],
      run: async (statement, parameters) => {
        const { rowCount } = await askOne(statement, parameters);
        written.rows += rowCount ?? 0;
        return rowCount ?? 0;
      },
      runEach: async (statement, each) => {
        sendAhead();
        for (const some of slices(toRequests(statement, each), mostAtOnce)) {
          await Promise.all(some.map(({ text, parameters }) => askNoting(client, written, text, parameters)));
        }
        written.rows += each.length;
      },
      queue: (statement, parameters, refuse) => {
        const queued = toPostgres(statement);
        // One statement changes a row only once.
        if (written.queued.some((each) => each.statement === queued)) sendAhead();
        written.queued.push({ statement: queued, parameters, refuse });
      },
      notes: new Map(),
      announce: () => void (written.isAnnounced = true),
      // A new index may take long.
      define: async (text) => void (await send(client, text, longestMs)),
      tableNames: async () => {
        const { rows } = (await send(client, selectTableNames)) as pg.QueryResult<{ name: string }>;
        return rows.map(({ name }) => name);
      },
    };
  }

  const { group, change } = createPostgresGroup({
    connect: () => gate.connect(lanes.changing),
    send,
    beginText: beginWriting,
    transactionOf,
    settle,
    commit: commitTimed,
    onCommit: noteCommit,
    toRefusal: (error, { rows }) => guard.toWriteRefusal(error, rows),
    tooManyWait,
  });

  /** Tries again what failed only because of others. */
  async function retried<T>(
    lane: pg.Pool,
    work: (transaction: Transaction) => PromiseOrValue<T>,
  ): Promise<T> {
    for (let tries = 1; ; tries++) {
      const written = nothingWritten();
      try {
        return await inTransaction(lane, work, written);
      } catch (error) {
        if (!(error instanceof PostgresFault && error.isCollision && tries < mostTries))
          throw guard.toWriteRefusal(error, written.rows);
        await delay(Math.random() * 20 * tries);
      }
    }
  }

  /** What reads with a connection as long as it has it. */
  function borrowing(connect: () => Promise<pg.PoolClient>, begun: () => Promise<unknown> | undefined) {
    let isOver = false;
    // Somebody else may have the connection by then.
    const checkTime = () => {
      if (isOver) throw new Error('This snapshot has ended.');
    };
    const read = async <P, R>(statement: Statement<P, R>, parameters: P): Promise<R[]> => {
      try {
        checkTime();
        const client = await connect();
        checkTime();
        const asked = ask(client, statement, parameters);
        // It is answered first. Without it, each statement would read at another moment.
        const [{ rows }] = await Promise.all([asked, begun()]);
        return rows;
      } catch (error) {
        throw guard.toRefusal(error);
      }
    };
    return {
      all: read,
      get: async <P, R>(statement: Statement<P, R>, parameters: P) => (await read(statement, parameters))[0],
      giveBack: () => void (isOver = true),
    };
  }

  function openSnapshot(): Snapshot {
    let begun: Promise<pg.PoolClient> | undefined;
    const begin = async () => {
      const client = await gate.connect(lanes.reading);
      beginning = send(client, beginReading);
      beginning.catch(() => undefined);
      return client;
    };
    let beginning: Promise<unknown> | undefined;
    const { all, get, giveBack } = borrowing(
      () => (begun ??= begin()),
      () => beginning,
    );
    return {
      isConsistent: true,
      isEmbedded: false,
      all,
      get,
      end: () => {
        giveBack();
        void begun?.then(
          (client) =>
            send(client, 'commit').then(
              () => client.release(),
              () => client.release(true),
            ),
          () => undefined,
        );
      },
    };
  }

  async function snapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    try {
      return await withClient(lanes.snapshots, async (client) => {
        const beginning = send(client, beginLong);
        beginning.catch(() => undefined);
        const { all, get, giveBack } = borrowing(
          () => Promise.resolve(client),
          () => beginning,
        );
        try {
          return await work({ isConsistent: true, isEmbedded: false, all, get, end: giveBack });
        } finally {
          giveBack();
          await send(client, 'commit').catch(() => undefined);
        }
      });
    } catch (error) {
      throw guard.toRefusal(error);
    }
  }

  /** Statements that stand alone share a few connections: each is sent at once, behind those before it. */
  async function readAlone<P, R>(statement: Statement<P, R>, parameters: P): Promise<R[]> {
    try {
      return (await ask(await gate.shared(lanes.shared), statement, parameters)).rows;
    } catch (error) {
      throw guard.toRefusal(error);
    }
  }

  const listener = openListener({ config, channel, keepsSessions, onAnnounced: options.onAnnounced });
  try {
    await withClient(lanes.reading, (client) => checkServer((text) => send(client, text), log));
  } catch (error) {
    await close();
    throw toStartError(error, shown);
  }

  async function close(): Promise<void> {
    const lanesEnd = Object.values(lanes).map((lane) => lane.end());
    await Promise.all([listener.close(), gate.close(), ...lanesEnd]);
  }

  return {
    isEmbedded: false,
    dialect: {
      id: 'uuid',
      text: 'text collate "C"',
      bytes: 'bytea',
      integer: 'bigint',
      tableEnd: '',
      searchIndex,
      searchIndexWithSpaces,
      // An entry may have 2,704 bytes, and a title more.
      listIndex: [],
      renameIndex: (from, to) => [`alter index ${from} rename to ${to}`],
      afterLoading: ['analyze'],
    },
    formatStatement: (statement) => toPostgres(statement).text,
    all: readAlone,
    get: async (statement, parameters) => (await readAlone(statement, parameters))[0],
    transaction: (work) => retried(lanes.writing, work),
    change,
    maxConcurrentChanges: maxSharedCommit,
    exclusive: (work) =>
      inTransaction(lanes.changing, async (held) => {
        await held.define(
          `set local lock_timeout = 0; set local statement_timeout = 0; select pg_advisory_xact_lock(${migrationLock})`,
        );
        return work(held);
      }),
    openSnapshot,
    snapshot,
    shortSnapshot: async (work) => {
      const reader = openSnapshot();
      try {
        return await work(reader);
      } finally {
        reader.end();
      }
    },
    watch: (onCommit) => listener.watch(onCommit),
    connections: () => {
      const all = Object.values(lanes);
      const open = sum(all.map(({ totalCount }) => totalCount));
      return {
        open,
        busy: open - sum(all.map(({ idleCount }) => idleCount)),
        waiting: group.waiting + sum(all.map(({ waitingCount }) => waitingCount)),
      };
    },
    get receivesNotifications() {
      return listener.isHearing;
    },
    findFault: guard.findFault,
    writeFailure: guard.writeFailure,
    reportDamage: guard.reportDamage,
    reportOutdated: guard.reportOutdated,
    confirmCurrent: guard.confirmCurrent,
    explain: (error) => toStartError(error, shown),
    close,
  };
}

function parseList(row: { list?: unknown }): void {
  row.list = typeof row.list === 'string' ? (JSON.parse(row.list) as unknown) : [];
}

/** A statement for each of the parameters, or for as many of them together as can be. */
function toRequests(statement: Statement, each: readonly unknown[]) {
  const text = toPostgres(statement);
  const forMany = toPostgresForMany(statement);
  if (!forMany) return each.map((parameters) => ({ text, parameters }));
  return slices(each, rowsAtOnce).flatMap((some) =>
    some.length === rowsAtOnce
      ? [{ text: forMany, parameters: some }]
      : some.map((parameters) => ({ text, parameters })),
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function slices<T>(all: readonly T[], size: number): (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, place) =>
    all.slice(place * size, (place + 1) * size),
  );
}

const selectTableNames = `
  select relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  where nspname = current_schema() and relkind in ('r', 'p')`;

async function send(
  client: pg.ClientBase,
  text: string,
  timeoutMs?: number,
): Promise<pg.QueryResult | pg.QueryResult[]> {
  try {
    return await client.query({ text, query_timeout: timeoutMs } as pg.QueryConfig);
  } catch (error) {
    throw asFault(error);
  }
}

/** What a failed statement left cannot be committed, and the server says so only in the name of what it did. */
async function commit(client: pg.ClientBase, isAnnounced: boolean): Promise<void> {
  let done;
  try {
    done = await send(client, isAnnounced ? `notify ${channel}; commit` : 'commit');
  } catch (error) {
    throw endsConnection(error) ? uncertain(error) : error;
  }
  const { command } = Array.isArray(done) ? done.at(-1)! : done;
  if (command !== 'COMMIT') throw new Error('The transaction was not committed.');
}
