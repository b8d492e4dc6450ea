/** The interface of a database: reads, snapshots and transactions. */

import { maxRowsPerSlice } from '../concurrency/fair-scheduler.ts';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Refusal } from '../refusal.ts';
import type { Statement } from './statement.ts';
import type { DatabaseFault, FaultOptions, WriteFailure } from './faults.ts';

/** `rows` is the maximum number of rows that the statement examines. Set it if the statement returns fewer rows. */
export interface Reader {
  all<P, R>(statement: Statement<P, R>, parameters: P, rows?: number): PromiseOrValue<R[]>;
  get<P, R>(statement: Statement<P, R>, parameters: P, rows?: number): PromiseOrValue<R | undefined>;
}

/** How many rows one statement may examine for a response, so that the read fits into a time slice. Longer reads are divided. */
export const maxRowsPerStatement = maxRowsPerSlice;

/**
 * A reader whose reads all see the same state: a snapshot or an open transaction. In contrast, each read of a `Database` sees
 * the latest commit. Read a viewer's data and rights with the same `ConsistentReader`.
 */
export interface ConsistentReader extends Reader {
  readonly isConsistent: true;
  /** Statements need no round trip, so many small ones cost no more than one large one. */
  readonly isEmbedded: boolean;
}

/** All reads see the state at the first statement, without later commits. */
export interface Snapshot extends ConsistentReader {
  /** Releases the connection. A later read throws. */
  end(): void;
}

export interface Transaction extends ConsistentReader {
  /** Returns the number of changed rows. */
  run<P>(statement: Statement<P, never>, parameters: P): PromiseOrValue<number>;
  /** Runs a statement with each set of parameters, in order, without waiting in between. */
  runEach<P>(statement: Statement<P, never>, parameterSets: readonly P[]): PromiseOrValue<void>;
  /**
   * May delay a statement until the next one that is not queued, or until the end of the transaction's work. PostgreSQL receives
   * all queued statements as one. So two different queued statements must not change the same row, and none may read rows that
   * another one writes. If a statement changes no row, the work fails with the error that `refuse` returns.
   */
  queue<P>(statement: Statement<P, never>, parameters: P, refuse?: () => Error): void;
  /** Values that are valid in this transaction. The cache is cleared when any part of the transaction is rolled back. */
  readonly cache: Map<symbol, unknown>;
  /** Marks the transaction: after its commit, the listeners of `onCommit()` are called in every process. */
  announce(): void;
  /** Runs SQL without parameters, for migrations. */
  define(text: string): PromiseOrValue<void>;
  tableNames(): PromiseOrValue<string[]>;
}

export interface Database extends Reader {
  /** Statements need no round trip. */
  readonly isEmbedded: boolean;
  /** The parts of migrations that depend on the database. */
  readonly dialect: Dialect;
  /** Returns the SQL text that the database receives, with placeholders for the values. */
  formatStatement(statement: Statement): string;
  /** Resolves when the commit is on the disk; rolls back if `work` throws. Runs `work` again after a collision with another transaction. */
  transaction<T>(work: (transaction: Transaction) => PromiseOrValue<T>): Promise<T>;
  /** Runs a transaction that waits for earlier changes of all processes. On PostgreSQL, `transaction()` does not wait for changes. */
  change<T>(work: (transaction: Transaction) => PromiseOrValue<T>, options?: ChangeOptions): Promise<T>;
  /** How many changes of this process can share a commit. More concurrent changes would only wait inside the database. */
  readonly maxConcurrentChanges: number;
  /** Runs only one such transaction at a time across all processes. The others wait, on PostgreSQL without a timeout. */
  exclusive<T>(work: (transaction: Transaction) => PromiseOrValue<T>): Promise<T>;
  /** A snapshot for one response. It takes a connection at its first read. End it before you start a transaction. */
  openSnapshot(): Snapshot;
  /** Runs long reads in one snapshot. The number of such snapshots at a time is limited. */
  snapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T>;
  /** Runs short reads in one snapshot, without waiting for long ones. */
  shortSnapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T>;
  /** Calls the listener after an announced commit: immediately if this process committed, soon after if another process did. */
  onCommit(listener: () => void): void;
  /** False while notifications from other processes are lost. Polling then finds their commits. */
  readonly receivesNotifications: boolean;
  /** Why you cannot rely on this node: the file was moved, or the data is damaged or older than data that was read before. */
  findFault(): DatabaseFault | undefined;
  /** Why changes fail, from the first failed write until the next successful one. Reads continue meanwhile. */
  writeFailure(): WriteFailure | undefined;
  /** Records that the stored data contradicts itself. Returns the refusal for the client. */
  reportDamage(finding: string): Refusal;
  /** Records that a new snapshot is older than data read before. Returns the refusal for the client. */
  reportStale(): Refusal;
  /** Clears the fault that `reportStale()` recorded, if the database can recover without a restart. */
  confirmCurrent(): void;
  /** The current number of connections, and of requests that wait for a connection or a lock. */
  connections(): { readonly open: number; readonly busy: number; readonly waiting: number };
  /** The size of the stored data in bytes. */
  readSize(): PromiseOrValue<number>;
  /** Explains an error of the database to the operator, with advice. Returns other errors unchanged. */
  explain(error: unknown): unknown;
  close(): PromiseOrValue<void>;
}

/** Ends the snapshot when the work is done. */
export async function withSnapshot<T>(
  snapshot: Snapshot,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  try {
    return await work(snapshot);
  } finally {
    snapshot.end();
  }
}

export interface ChangeOptions {
  /** Set it if the change takes more than a few milliseconds. The change then gets its own commit, so that others need not wait. */
  readonly takesLong?: boolean;
}

export interface Dialect {
  /** The names of column types. Text is compared byte by byte. */
  readonly id: string;
  readonly text: string;
  readonly bytes: string;
  readonly integer: string;
  /** The SQL at the end of a table's definition. */
  readonly tableEnd: string;
  /** Creates the index that `possibleMatches()` searches. The database keeps it up to date. */
  readonly searchIndex: readonly string[];
  /** Replaces, in two steps, the first search index, which has no trigrams across spaces. */
  readonly searchIndexWithSpaces: readonly (readonly string[])[];
  /** Adds the columns that most lists select to the index `folders_in_order`, if an index entry can be that large. */
  readonly listIndex: readonly string[];
  /** SQLite cannot rename an index, so it creates a new index from `definition`: the table, the columns and the condition. */
  readonly renameIndex: (from: string, to: string, definition: string) => readonly string[];
  /** The SQL to run after a bulk load, so that later query plans consider the new rows. */
  readonly afterLoading: readonly string[];
}

/** Most options apply to PostgreSQL only. */
export interface DatabaseOptions extends FaultOptions {
  /** SQLite: refuses a missing file instead of creating it. */
  mustExist?: boolean;
  /** How many connections this process opens in total. */
  connections?: number;
  /** `transaction`: a connection pooler may use another connection for each transaction, so a session keeps no state. */
  poolMode?: 'session' | 'transaction';
  /** How long a statement may take. */
  timeoutSeconds?: number;
  /** Called with the text of each statement, without its values. */
  onStatement?: ((text: string) => void) | undefined;
  /** Called with the duration of each statement and commit. Without this option, no duration is measured. */
  onDuration?: ((kind: 'statement' | 'commit', ms: number) => void) | undefined;
  /** Called after an announced commit of this process, if the database itself does not notify other processes. */
  notifyOtherProcesses?: (() => void) | undefined;
}

/** Reads rows for many items, with several statements if necessary. */
export function readInBatches<T, R>(
  items: readonly T[],
  read: (some: readonly T[]) => PromiseOrValue<readonly R[]>,
  size = maxRowsPerStatement,
): PromiseOrValue<readonly R[]> {
  if (items.length <= size) return read(items);
  return whenDone(read(items.slice(0, size)), (first) =>
    whenDone(readInBatches(items.slice(size), read, size), (rest) => [...first, ...rest]),
  );
}
