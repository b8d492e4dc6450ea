/** What the rest of the server knows of a database: reading, and transactions. */

import { maxRowsPerSlice } from '../concurrency/fair-scheduler.ts';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Refusal } from '../refusal.ts';
import type { Statement } from './statement.ts';
import type { WriteFailure, WriteFailureReason } from './write-failure.ts';

/** `rows` is how many rows a statement examines at most, where that is more than it returns: a paced reader counts them. */
export interface Reader {
  all<P, R>(statement: Statement<P, R>, parameters: P, rows?: number): PromiseOrValue<R[]>;
  get<P, R>(statement: Statement<P, R>, parameters: P, rows?: number): PromiseOrValue<R | undefined>;
}

/** How many rows one statement may examine for a response, so that it fits into a time slice. Longer reads are divided. */
export const maxRowsPerStatement = maxRowsPerSlice;

/**
 * A reader whose reads all see the same state: a snapshot or an open transaction. A `Database` is none: each of its reads
 * sees the latest commit. Everything that is read for a viewer takes one of these, together with rights read from it.
 */
export interface ConsistentReader extends Reader {
  readonly isConsistent: true;
  /** A statement takes no round trip: many small ones cost as much as a large one. */
  readonly isEmbedded: boolean;
}

/** Reads the state committed when its first statement ran, whatever is committed later. */
export interface Snapshot extends ConsistentReader {
  /** Releases the connection. A later read throws. */
  end(): void;
}

export interface Transaction extends ConsistentReader {
  /** How many rows were changed. */
  run<P>(statement: Statement<P, never>, parameters: P): PromiseOrValue<number>;
  /** Runs a statement with each of the parameters, in their order, without waiting in between. */
  runEach<P>(statement: Statement<P, never>, each: readonly P[]): PromiseOrValue<void>;
  /**
   * Runs a statement before the next one, or at the end of the transaction's work. A remote database receives all queued
   * statements as one. So no queued statement may read rows that another one writes, and only the same statement may be
   * queued twice for one row. If no row is changed, the work fails with the error that `refuse` returns.
   */
  queue<P>(statement: Statement<P, never>, parameters: P, refuse?: () => Error): void;
  /** Values that hold until a part of this transaction is undone, which clears them. */
  readonly notes: Map<symbol, unknown>;
  /** Whoever watches is told, in every process, when this is committed. */
  announce(): void;
  /** Runs SQL that no parameter goes into: the migrations. */
  define(text: string): PromiseOrValue<void>;
  tableNames(): PromiseOrValue<string[]>;
}

export interface Database extends Reader {
  /** Its statements take no round trip. */
  readonly isEmbedded: boolean;
  /** What migrations must leave to the dialect. */
  readonly dialect: Dialect;
  /** As it is sent, with signs where its values go. */
  formatStatement(statement: Statement): string;
  /** Commits when `work` is done and synced; rolls back when it throws. May be run again if others got in its way. */
  transaction<T>(work: (transaction: Transaction) => PromiseOrValue<T>): Promise<T>;
  /** A transaction that stands in line with others of its kind, here and elsewhere: nothing else waits for it. */
  change<T>(work: (transaction: Transaction) => PromiseOrValue<T>, options?: ChangeOptions): Promise<T>;
  /** How many changes of this process can share a transaction. More only wait inside the database. */
  readonly maxConcurrentChanges: number;
  /** A transaction of which there is one at a time, in all processes: the others wait, however long it takes. */
  exclusive<T>(work: (transaction: Transaction) => PromiseOrValue<T>): Promise<T>;
  /** The snapshot of one answer. It takes a connection at its first read. End it before you ask for a transaction. */
  openSnapshot(): Snapshot;
  /** Runs long reads in one snapshot. A semaphore bounds how many run at a time. */
  snapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T>;
  /** Runs short reads in one snapshot, without waiting for long ones. */
  shortSnapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T>;
  /** Calls back whenever something that was announced may have been committed: at once by this process, soon by another. */
  watch(onCommit: () => void): void;
  /** Whether what other processes commit is heard of as it should be; else it is found by looking again. */
  readonly receivesNotifications: boolean;
  /** Why this node cannot be relied on: the file is not in its place, the data is damaged, or older than what was read before. */
  findFault(): DatabaseFault | undefined;
  /** Why changes fail, from the first that could not be written until the next that is. Reading goes on meanwhile. */
  writeFailure(): WriteFailure | undefined;
  /** Records that the stored data contradicts itself. Returns the refusal for the client. */
  reportDamage(finding: string): Refusal;
  /** Records that a new snapshot is older than what this process has read before. Returns the refusal for the client. */
  reportOutdated(): Refusal;
  /** Ends what `reportOutdated` recorded, where the database can recover from it without a restart. */
  confirmCurrent(): void;
  /** At this moment: its connections, and who waits for one or for a turn. */
  connections(): { readonly open: number; readonly busy: number; readonly waiting: number };
  /** Why it could not be prepared, and what to do, for the operator; what is not about the database stays as it is. */
  explain(error: unknown): unknown;
  close(): PromiseOrValue<void>;
}

/** Ends the snapshot when the work is done. */
export async function useSnapshot<T>(
  snapshot: Snapshot,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  try {
    return await work(snapshot);
  } finally {
    snapshot.end();
  }
}

export interface DatabaseFault {
  /** For anyone, without names or paths. */
  readonly summary: string;
  /** For the operator: what is wrong, and what to do. */
  readonly detail: string;
}

export interface ChangeOptions {
  /** More than some milliseconds: nobody who is done is kept waiting for it. */
  readonly takesLong?: boolean;
}

export interface Dialect {
  /** The names of column types. Text is compared byte by byte. */
  readonly id: string;
  readonly text: string;
  readonly bytes: string;
  readonly integer: string;
  /** Ends a table's definition. */
  readonly tableEnd: string;
  /** The definitions behind `possibleMatches`: they keep up with the folders by themselves. */
  readonly searchIndex: readonly string[];
  /** Replaces an index whose trigrams end at spaces, in two steps. */
  readonly searchIndexWithSpaces: readonly (readonly string[])[];
  /** Puts what most lists show into the index of the natural order, where one may hold so much. */
  readonly listIndex: readonly string[];
  /** `definition` is the table, the columns and the condition of the index: SQLite can only create it again. */
  readonly renameIndex: (from: string, to: string, definition: string) => readonly string[];
  /** To be run when very many rows came at once: what is planned from then on takes them into account. */
  readonly afterLoading: readonly string[];
}

/** What a database elsewhere needs to know; an embedded one does not. */
export interface DatabaseOptions {
  /** For an embedded one: a file that is not there is refused, not made. */
  mustExist?: boolean;
  /** How many connections this process opens, in all. */
  connections?: number;
  /** Transaction: a proxy in between gives each transaction another connection; nothing can be kept on one. */
  poolMode?: 'session' | 'transaction';
  /** How long a statement may take. */
  timeoutSeconds?: number;
  /** Told of each statement as it is run, without its values. */
  onStatement?: ((text: string) => void) | undefined;
  /** Told what each statement took, and each commit; where nobody wants to know, it is not measured. */
  onDuration?: ((kind: 'statement' | 'commit', ms: number) => void) | undefined;
  /** Told when this process has committed something that was announced, where the database itself does not tell others. */
  onAnnounced?: (() => void) | undefined;
  /** Called for each attempt to write that fails because of the database or its disk. */
  onWriteFailure?: ((reason: WriteFailureReason) => void) | undefined;
  /** Told what the operator has to know of the database: once each, in words. */
  log?: (severity: 'info' | 'warn' | 'error', text: string) => void;
}

/** Reads something of many items, with as many statements as it takes. */
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
