/**
 * The database on SQLite, which is embedded. One connection writes and another reads, so that no request sees the open
 * transaction of another request. A commit returns when it is on the disk.
 */

import BetterSqlite, { type Database as Connection } from 'better-sqlite3';
import { withSnapshot, type Database, type DatabaseOptions } from '../database.ts';
import { maxTransactionsPerCommit } from '../group-commit.ts';
import { CommitPoller } from './commit-poller.ts';
import { createStatementRunner, sqliteDialect, toSqlite } from './dialect.ts';
import { SqliteFaults, toStartError } from './faults.ts';
import { applicationId, openTimeoutMs, prepareFile, toFileStartError, warnIfOthersCanRead } from './file.ts';
import { sql } from '../statement.ts';
import { SnapshotPool } from './snapshots.ts';
import { SqliteWriter } from './writer.ts';

const busyTimeoutMs = 20;
/** How long a transaction may wait for other processes, from the moment of the call. */
const maxBusyMs = 5_000;
const maxExclusiveBusyMs = 10_000;

const selectSize = sql<object, { bytes: number }>`
  select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`;

export function openSqlite(path: string, options: DatabaseOptions): Database {
  const { mustExist = false, onStatement, onDuration, notifyOtherProcesses } = options;
  const file = prepareFile(path, { mustExist });
  const faults = new SqliteFaults(file, options);
  const { toRefusal } = faults;
  const connections = connectBoth(file);
  warnIfOthersCanRead(file, (text) => faults.log('warn', text));
  const createRunner = (connection: Connection) =>
    createStatementRunner(connection, { onStatement, onDuration, toRefusal });
  const readerRunner = createRunner(connections.reader);
  const writerRunner = createRunner(connections.writer);
  const poller: CommitPoller = new CommitPoller(connections.reader, {
    notifyOtherProcesses,
    isNeeded: () => writer.isOpen || writer.waiting > 0,
  });
  const writer = new SqliteWriter(connections.writer, { runner: writerRunner, faults, poller, onDuration });
  const snapshots = new SnapshotPool(() => connectToSameFile(file, faults), createRunner);
  // While no transaction is open, reads use the writer, because its cache has the pages that it wrote.
  const currentRunner = () => (writer.isOpen ? readerRunner : writerRunner);

  return {
    isEmbedded: true,
    dialect: sqliteDialect,
    formatStatement: (statement) => toSqlite(statement).text,
    all: (statement, parameters) => currentRunner().all(statement, parameters),
    get: (statement, parameters) => currentRunner().get(statement, parameters),
    transaction: (work) => writer.run(work, { deadlineMs: maxBusyMs, isAlone: false }),
    // A long change has its own commit, so that others do not wait for it.
    change: (work, { takesLong = false } = {}) =>
      writer.run(work, { deadlineMs: maxBusyMs, isAlone: takesLong }),
    maxConcurrentChanges: maxTransactionsPerCommit,
    exclusive: (work) => writer.run(work, { deadlineMs: maxExclusiveBusyMs, isAlone: true }),
    openSnapshot: () => snapshots.open(),
    snapshot: (work) => snapshots.runLong(work),
    shortSnapshot: (work) => withSnapshot(snapshots.open(), work),
    onCommit: (listener) => poller.onCommit(listener),
    // The file itself is polled, so no connection for notifications can fail.
    receivesNotifications: true,
    findFault: () => faults.findFault(),
    writeFailure: () => faults.writeFailure,
    reportDamage: (finding) => faults.reportDamage(finding),
    reportStale: () => faults.reportDamage('it was overwritten with an older copy while the server used it'),
    // Connections cache pages of the overwritten file until a restart.
    confirmCurrent: () => undefined,
    // The writer and the reader are always open.
    connections: () => ({
      open: 2 + snapshots.openCount,
      busy: (writer.isOpen ? 1 : 0) + snapshots.busy,
      waiting: writer.waiting + snapshots.waiting,
    }),
    readSize: () => currentRunner().get(selectSize, {})!.bytes,
    explain: (error) => toStartError(error, file),
    close: () => {
      poller.stop();
      snapshots.close();
      connections.reader.close();
      connections.writer.close();
    },
  };
}

/** Checks the file before and after, because the path may now lead to another file than the file that the writer has open. */
function connectToSameFile(file: string, faults: SqliteFaults): Connection {
  let connection: Connection | undefined;
  try {
    faults.requireSameFile('read');
    connection = connect(file, { readonly: true });
    faults.requireSameFile('read');
    return connection;
  } catch (error) {
    connection?.close();
    throw faults.toRefusal(error);
  }
}

function connectBoth(file: string): { writer: Connection; reader: Connection } {
  try {
    return { writer: connect(file, { readonly: false }), reader: connect(file, { readonly: true }) };
  } catch (cause) {
    throw toFileStartError(cause, file);
  }
}

function connect(file: string, options: { readonly: boolean }): Connection {
  const connection = new BetterSqlite(file, { ...options, timeout: openTimeoutMs });
  if (!options.readonly) {
    const isNew = connection.pragma('page_count', { simple: true }) === 0;
    if (isNew) connection.pragma(`application_id = ${applicationId}`);
    connection.pragma('journal_mode = wal');
  }
  connection.pragma('synchronous = full');
  connection.pragma('foreign_keys = on');
  connection.pragma(`busy_timeout = ${busyTimeoutMs}`);
  return connection;
}
