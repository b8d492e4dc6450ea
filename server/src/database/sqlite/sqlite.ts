/**
 * SQLite, embedded: one connection writes and another reads, so that no request sees the open transaction of another one. A
 * commit returns when it is on the disk.
 */

import BetterSqlite, { type Database as Connection } from 'better-sqlite3';
import { useSnapshot, type Database, type DatabaseOptions, type Transaction } from '../database.ts';
import { maxSharedCommit } from '../group-commit.ts';
import { watchCommits } from './commit-watcher.ts';
import { sqliteDialect, toSqlite } from './dialect.ts';
import { toStartError } from './errors.ts';
import { createFaultState, type SqliteFaultState } from './fault-state.ts';
import { applicationId, openTimeoutMs, prepareFile, toFileStartError, warnIfOthersCanRead } from './file.ts';
import { createGroupCommit } from './group-commit.ts';
import { createSnapshotPool } from './snapshots.ts';
import { createStatementRunner, type StatementRunner } from './statements.ts';

const busyTimeoutMs = 20;
/** How long a transaction waits for other processes, from its request on. */
const busyDeadlineMs = 5_000;
const exclusiveDeadlineMs = 10_000;

export function openSqlite(path: string, options: DatabaseOptions): Database {
  const { mustExist = false, onStatement, onDuration, log = () => undefined } = options;
  const file = prepareFile(path, { mustExist });
  const faults = createFaultState(file, { log, onWriteFailure: options.onWriteFailure });
  const statementOptions = { onStatement, onDuration, toRefusal: faults.toRefusal };
  const { writer, reader } = connectBoth(file);
  warnIfOthersCanRead(file, (text) => log('warn', text));
  const read = createStatementRunner(reader, statementOptions);
  const write = createStatementRunner(writer, statementOptions);
  let isAnnounced = false;
  const announce = () => void (isAnnounced = true);
  const transaction = createTransaction(writer, write, { faults, announce });
  const snapshots = createSnapshotPool(() => {
    try {
      const connection = connectToSameFile(file, faults);
      const runner = createStatementRunner(connection, statementOptions);
      const [begin, rollback] = [connection.prepare('begin'), connection.prepare('rollback')];
      return { connection, runner, begin, rollback };
    } catch (error) {
      throw faults.toRefusal(error);
    }
  });

  const onBegin = () => {
    commits.releaseReadLock();
    faults.noteBegin();
  };
  const onCommit = () => {
    if (isAnnounced) commits.notify();
    isAnnounced = false;
    faults.noteCommit();
  };
  const { group, isOpen } = createGroupCommit({ writer, transaction, faults, onBegin, onCommit, onDuration });
  const commits = watchCommits(reader, {
    onAnnounced: options.onAnnounced,
    isNeeded: () => isOpen() || group.waiting > 0,
  });
  // The writer has the pages that it wrote in its cache; the reader would read them from the file after each commit.
  const current = () => (isOpen() ? read : write);

  return {
    isEmbedded: true,
    dialect: sqliteDialect,
    formatStatement: (statement) => toSqlite(statement).text,
    all: (statement, parameters) => current().all(statement, parameters),
    get: (statement, parameters) => current().get(statement, parameters),
    transaction: (work) => group.run(work, { deadlineMs: busyDeadlineMs, isAlone: false }),
    change: (work, { takesLong = false } = {}) =>
      group.run(work, { deadlineMs: busyDeadlineMs, isAlone: takesLong }),
    maxConcurrentChanges: maxSharedCommit,
    exclusive: (work) => group.run(work, { deadlineMs: exclusiveDeadlineMs, isAlone: true }),
    openSnapshot: snapshots.open,
    snapshot: snapshots.useLong,
    shortSnapshot: (work) => useSnapshot(snapshots.open(), work),
    watch: (onCommit) => commits.watch(onCommit),
    // The file itself is polled, so there is no connection that could fail.
    receivesNotifications: true,
    findFault: faults.findFault,
    writeFailure: faults.writeFailure,
    reportDamage: faults.reportDamage,
    reportOutdated: faults.reportOutdated,
    confirmCurrent: faults.confirmCurrent,
    // The writer and the reader are always open.
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

function createTransaction(
  writer: Connection,
  write: StatementRunner,
  { faults, announce }: { faults: SqliteFaultState; announce: () => void },
): Transaction {
  return {
    isConsistent: true,
    isEmbedded: true,
    ...write,
    run: (statement, parameters) => {
      const changed = write.run(statement, parameters);
      faults.noteRows(changed);
      return changed;
    },
    runEach: (statement, each) => {
      write.runEach(statement, each);
      faults.noteRows(each.length);
    },
    queue: (statement, parameters, refuse) => {
      const changed = write.run(statement, parameters);
      faults.noteRows(changed);
      if (changed === 0 && refuse) throw refuse();
    },
    notes: new Map(),
    announce,
    define: (text) => void writer.exec(text),
    tableNames: () =>
      writer.prepare(`select name from sqlite_schema where type = 'table'`).pluck().all() as string[],
  };
}

/** The path may lead to another file than the one that the writer has open. */
function connectToSameFile(file: string, faults: SqliteFaultState): Connection {
  faults.requireSameFile('read');
  const connection = connect(file, { readonly: true });
  try {
    faults.requireSameFile('read');
  } catch (error) {
    connection.close();
    throw error;
  }
  return connection;
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
