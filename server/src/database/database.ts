/** What the rest of the server knows of a database: reading, and transactions. */

import type { Statement } from './statement.ts';

/** An embedded database answers at once, a remote one later. `await` serves both; hot paths use `whenDone`. */
export type PromiseOrValue<T> = T | Promise<T>;

export interface Reader {
  all<P, R>(statement: Statement<P, R>, parameters: P): PromiseOrValue<R[]>;
  get<P, R>(statement: Statement<P, R>, parameters: P): PromiseOrValue<R | undefined>;
}

/** Nobody ever waits for it. */
export interface ReaderAtOnce {
  get<P, R>(statement: Statement<P, R>, parameters: P): R | undefined;
  /** The first column of the first row; as a text, of which nothing else has to be made. */
  getText<P>(statement: Statement<P>, parameters: P): string | undefined;
}

/** What is read for one answer. */
export interface Reading extends Reader {
  /**
   * All of it is of one moment, whatever others commit meanwhile. Where it is not, that holds as long as nobody waits
   * in between: an embedded database answers at once.
   */
  readonly isOfOneMoment: boolean;
  /** Nothing is read with it any more. */
  end(): void;
}

export interface Transaction extends Reader {
  /** How many rows were changed. */
  run<P>(statement: Statement<P, never>, parameters: P): PromiseOrValue<number>;
  /** Runs a statement with each of the parameters, in their order, without waiting in between. */
  runEach<P>(statement: Statement<P, never>, each: readonly P[]): PromiseOrValue<void>;
  /** Whoever watches is told, in every process, when this is committed. */
  announce(): void;
  /** Runs SQL that no parameter goes into: the migrations. */
  define(text: string): PromiseOrValue<void>;
  tableNames(): PromiseOrValue<string[]>;
}

export interface Database extends Reader {
  /** Only an embedded one has it. */
  readonly atOnce?: ReaderAtOnce;
  /** What migrations must leave to the dialect. */
  readonly dialect: Dialect;
  /** As it is sent, with signs where its values go. */
  textOf(statement: Statement): string;
  /** Commits when `work` is done and synced; rolls back when it throws. May be run again if others got in its way. */
  transaction<T>(work: (transaction: Transaction) => PromiseOrValue<T>): Promise<T>;
  /** A transaction that stands in line with others of its kind, here and elsewhere: nothing else waits for it. */
  change<T>(work: (transaction: Transaction) => PromiseOrValue<T>, options?: ChangeOptions): Promise<T>;
  /** A transaction of which there is one at a time, in all processes: the others wait, however long it takes. */
  alone<T>(work: (transaction: Transaction) => PromiseOrValue<T>): Promise<T>;
  /** For what one answer reads; costs nothing until it is used. To be ended before a transaction is asked for. */
  reading(): Reading;
  /** All that `work` reads is of one moment, however long it takes. Few at a time; the others wait. */
  snapshot<T>(work: (reader: Reader) => Promise<T>): Promise<T>;
  /** The same for what is short, and does not wait for what takes long. */
  moment<T>(work: (reader: Reader) => Promise<T>): Promise<T>;
  /** Calls back whenever something that was announced may have been committed: at once by this process, soon by another. */
  watch(onCommit: () => void): void;
  /** Whether what other processes commit is heard of as it should be; else it is found by looking again. */
  readonly hearsOthers: boolean;
  /** Of an embedded one: why nothing can be written, for the operator; undefined while its file is in its place. */
  findMoved?(): string | undefined;
  /** At this moment: its connections, and who waits for one or for a turn. */
  connections(): { readonly open: number; readonly busy: number; readonly waiting: number };
  /** Why it could not be prepared, and what to do, for the operator; what is not about the database stays as it is. */
  explain(error: unknown): unknown;
  close(): PromiseOrValue<void>;
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
  /** Puts what most lists show into the index of the natural order, where one may hold so much. */
  readonly listIndex: readonly string[];
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
  onTimed?: ((kind: 'statement' | 'commit', ms: number) => void) | undefined;
  /** Told when this process has committed something that was announced, where the database itself does not tell others. */
  onAnnounced?: (() => void) | undefined;
  /** Told what the operator has to know of the database: once each, in words. */
  tell?: (severity: 'info' | 'warn' | 'error', text: string) => void;
}

export function isPromise<T>(value: PromiseOrValue<T>): value is Promise<T> {
  return value instanceof Promise;
}

/** Goes on with a value at once if it is there, without a detour through the microtask queue. */
export function whenDone<T, U>(
  value: PromiseOrValue<T>,
  next: (value: T) => PromiseOrValue<U>,
): PromiseOrValue<U> {
  return isPromise(value) ? value.then(next) : next(value);
}
