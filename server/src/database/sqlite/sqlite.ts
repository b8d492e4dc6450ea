/**
 * SQLite, embedded: one connection writes, another reads, so that no request sees another's open transaction. A
 * commit returns only when it is on the disk. Knows SQLite's dialect and nothing of what is stored.
 */

import BetterSqlite, { type Database as Connection, type Statement as Prepared } from 'better-sqlite3';
import { createSemaphore } from '../../concurrency/semaphore.ts';
import {
  type Database,
  type DatabaseOptions,
  type Reader,
  type Snapshot,
  type Transaction,
} from '../database.ts';
import { maxSharedCommit } from '../group-commit.ts';
import { watchCommits } from './commit-watcher.ts';
import { toStartError } from './errors.ts';
import { applicationId, toFileStartError, openTimeoutMs, prepareFile, warnIfOthersCanRead } from './file.ts';
import { createFaultState } from './fault-state.ts';
import { createGroupCommit } from './group-commit.ts';
import { prepare, sqliteDialect, toSqlite, type PreparedStatement } from './dialect.ts';
import type { Statement } from '../statement.ts';

const busyTimeoutMs = 20;
const mostSnapshots = 16;
/** How long a transaction waits for other processes, from when it was asked for. */
const busyDeadlineMs = 5_000;
/** And one that must be alone. */
const aloneDeadlineMs = 10_000;

export function openSqlite(path: string, options: DatabaseOptions): Database {
  const { mustExist = false, onStatement, onDuration, log = () => undefined } = options;
  const file = prepareFile(path, { mustExist });
  const guard = createFaultState(file, { log, onWriteFailure: options.onWriteFailure });
  const surroundings = { onStatement, onDuration, toRefusal: guard.toRefusal };
  const { writer, reader } = connectFirst(file);
  warnIfOthersCanRead(file, (text) => log('warn', text));
  const read = statements(reader, surroundings);
  const write = statements(writer, surroundings);
  let isAnnounced = false;
  const transaction: Transaction = {
    isConsistent: true,
    isEmbedded: true,
    ...write,
    run: (statement, parameters) => {
      const changed = write.run(statement, parameters);
      guard.noteRows(changed);
      return changed;
    },
    runEach: (statement, each) => {
      write.runEach(statement, each);
      guard.noteRows(each.length);
    },
    queue: (statement, parameters, refuse) => {
      const changed = write.run(statement, parameters);
      guard.noteRows(changed);
      if (changed === 0 && refuse) throw refuse();
    },
    notes: new Map(),
    announce: () => (isAnnounced = true),
    define: (text) => void writer.exec(text),
    tableNames: () =>
      writer.prepare(`select name from sqlite_schema where type = 'table'`).pluck().all() as string[],
  };
  const snapshots = snapshotConnections(() => {
    try {
      // What is at the path now may be another file than the one that is written.
      guard.requireInPlace('read');
      const connection = connect(file, { readonly: true });
      try {
        guard.requireInPlace('read');
      } catch (error) {
        connection.close();
        throw error;
      }
      return {
        connection,
        read: statements(connection, surroundings),
        begin: connection.prepare('begin'),
        rollback: connection.prepare('rollback'),
      };
    } catch (error) {
      throw guard.toRefusal(error);
    }
  });

  const onBegin = () => {
    commits.releaseReadLock();
    guard.noteBegin();
  };
  const onCommit = () => {
    if (isAnnounced) commits.notify();
    isAnnounced = false;
    guard.noteCommit();
  };
  const { group, isOpen } = createGroupCommit({ writer, transaction, guard, onBegin, onCommit, onDuration });
  const commits = watchCommits(reader, {
    onAnnounced: options.onAnnounced,
    isNeeded: () => isOpen() || group.waiting > 0,
  });

  // The connection that writes knows what it wrote; the other one has to read it from the file, after each commit anew.
  const current = () => (isOpen() ? read : write);
  const committed: Reader = {
    all: (statement, parameters) => current().all(statement, parameters),
    get: (statement, parameters) => current().get(statement, parameters),
  };

  return {
    isEmbedded: true,
    dialect: sqliteDialect,
    formatStatement: (statement) => toSqlite(statement).text,
    ...committed,
    transaction: (work) => group.run(work, { deadlineMs: busyDeadlineMs, isAlone: false }),
    change: (work, { takesLong = false } = {}) =>
      group.run(work, { deadlineMs: busyDeadlineMs, isAlone: takesLong }),
    maxConcurrentChanges: maxSharedCommit,
    exclusive: (work) => group.run(work, { deadlineMs: aloneDeadlineMs, isAlone: true }),
    openSnapshot: snapshots.open,
    snapshot: snapshots.use,
    shortSnapshot: snapshots.useBriefly,
    watch: (onCommit) => commits.watch(onCommit),
    // There is nothing in between that could fail.
    receivesNotifications: true,
    findFault: guard.findFault,
    writeFailure: guard.writeFailure,
    reportDamage: guard.reportDamage,
    reportOutdated: guard.reportOutdated,
    confirmCurrent: guard.confirmCurrent,
    // One that writes and one that reads are always there.
    connections: () => ({
      open: 2 + snapshots.opened,
      busy: (isOpen() ? 1 : 0) + snapshots.busy,
      waiting: group.waiting + snapshots.waiting,
    }),
    explain: (error) => toStartError(error, file),
    close: () => {
      commits.stop();
      snapshots.close();
      reader.close();
      writer.close();
    },
  };
}

function connectFirst(file: string): { writer: Connection; reader: Connection } {
  try {
    return { writer: connect(file, { readonly: false }), reader: connect(file, { readonly: true }) };
  } catch (cause) {
    throw toFileStartError(cause, file);
  }
}

function connect(file: string, options: { readonly: boolean }): Connection {
  const connection = new BetterSqlite(file, { ...options, timeout: openTimeoutMs });
  if (!options.readonly) claim(connection);
  connection.pragma('synchronous = full');
  connection.pragma('foreign_keys = on');
  connection.pragma(`busy_timeout = ${busyTimeoutMs}`);
  return connection;
}

/** Marks a new file as ours. */
function claim(connection: Connection): void {
  const isNew = connection.pragma('page_count', { simple: true }) === 0;
  if (isNew) connection.pragma(`application_id = ${applicationId}`);
  connection.pragma('journal_mode = wal');
}

interface SnapshotConnection {
  readonly connection: Connection;
  readonly read: ReturnType<typeof statements>;
  readonly begin: Prepared;
  readonly rollback: Prepared;
}

/**
 * A pool of read connections. Each is inside one read transaction while a snapshot uses it. A snapshot whose reads do not
 * wait in between uses a connection for microseconds; those that wait are long reads, of which a semaphore bounds the number.
 */
function snapshotConnections(connectAnother: () => SnapshotConnection) {
  const opened: SnapshotConnection[] = [];
  const free: SnapshotConnection[] = [];
  const semaphore = createSemaphore(mostSnapshots);
  return {
    open,
    use: <T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T> => semaphore.run(() => useBriefly(work)),
    useBriefly,
    get opened() {
      return opened.length;
    },
    get busy() {
      return opened.length - free.length;
    },
    get waiting() {
      return semaphore.waiting;
    },
    close: () => opened.forEach(({ connection }) => connection.close()),
  };

  async function useBriefly<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    const snapshot = open();
    try {
      return await work(snapshot);
    } finally {
      snapshot.end();
    }
  }

  function open(): Snapshot {
    let used: SnapshotConnection | undefined;
    let isOver = false;
    const begin = (): SnapshotConnection => {
      // Another answer may use the connection by then, with other rights.
      if (isOver) throw new Error('This snapshot has ended.');
      used = free.pop() ?? openAnother();
      used.begin.run();
      return used;
    };
    return {
      isConsistent: true,
      isEmbedded: true,
      all: (statement, parameters) => (used ?? begin()).read.all(statement, parameters),
      get: (statement, parameters) => (used ?? begin()).read.get(statement, parameters),
      end: () => {
        isOver = true;
        if (!used) return;
        endTransaction(used);
        if (free.length < mostSnapshots) free.push(used);
        else opened.splice(opened.indexOf(used), 1)[0]!.connection.close();
        used = undefined;
      },
    };
  }

  /** After damage was met, SQLite has ended it by itself. To ask first would cost as much as a short statement. */
  function endTransaction({ rollback, connection }: SnapshotConnection): void {
    try {
      rollback.run();
    } catch (error) {
      if (connection.inTransaction) throw error;
    }
  }

  function openAnother(): SnapshotConnection {
    const connection = connectAnother();
    opened.push(connection);
    return connection;
  }
}

interface Surroundings {
  readonly onStatement: DatabaseOptions['onStatement'];
  readonly onDuration: DatabaseOptions['onDuration'];
  readonly toRefusal: (error: unknown) => unknown;
}

function statements(connection: Connection, surroundings: Surroundings) {
  const { onDuration } = surroundings;
  const plain = untimedStatements(connection, surroundings);
  return onDuration ? timed(plain, (ms) => onDuration('statement', ms)) : plain;
}

/** The same functions, each of which tells how long it took. */
function timed<T extends Readonly<Record<string, (...given: never[]) => unknown>>>(
  functions: T,
  tell: (ms: number) => void,
): T {
  const wrapped = Object.entries(functions).map(([name, work]) => [
    name,
    (...given: never[]) => {
      const startedAt = performance.now();
      try {
        return work(...given);
      } finally {
        tell(performance.now() - startedAt);
      }
    },
  ]);
  return Object.fromEntries(wrapped) as T;
}

function untimedStatements(
  connection: Connection,
  { onStatement, toRefusal }: Omit<Surroundings, 'onDuration'>,
) {
  // Some statements are made for a query, and gone with it.
  const known = new WeakMap<Statement, PreparedStatement>();
  const readyFor = (statement: Statement): PreparedStatement => {
    let found = known.get(statement);
    if (!found) known.set(statement, (found = prepare(connection, statement)));
    onStatement?.(found.text);
    return found;
  };
  return {
    all<P, R>(statement: Statement<P, R>, parameters: P): R[] {
      try {
        return readyFor(statement).all(parameters) as R[];
      } catch (error) {
        throw toRefusal(error);
      }
    },
    get<P, R>(statement: Statement<P, R>, parameters: P): R | undefined {
      try {
        return readyFor(statement).get(parameters) as R | undefined;
      } catch (error) {
        throw toRefusal(error);
      }
    },
    run<P>(statement: Statement<P, never>, parameters: P): number {
      try {
        return readyFor(statement).run(parameters);
      } catch (error) {
        throw toRefusal(error);
      }
    },
    runEach<P>(statement: Statement<P, never>, each: readonly P[]): void {
      try {
        const { run } = readyFor(statement);
        for (const parameters of each) run(parameters);
      } catch (error) {
        throw toRefusal(error);
      }
    },
  };
}
