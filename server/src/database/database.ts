/** What the rest of the server knows of a database: reading, and transactions. */

import type { Statement } from './statement.ts';

/** An embedded database answers at once, a remote one later. `await` serves both; hot paths use `whenDone`. */
export type PromiseOrValue<T> = T | Promise<T>;

export interface Reader {
  all<P, R>(statement: Statement<P, R>, parameters: P): PromiseOrValue<R[]>;
  get<P, R>(statement: Statement<P, R>, parameters: P): PromiseOrValue<R | undefined>;
}

export interface Transaction extends Reader {
  /** How many rows were changed. */
  run<P>(statement: Statement<P, never>, parameters: P): PromiseOrValue<number>;
  /** Runs SQL that no parameter goes into: the migrations. */
  define(text: string): PromiseOrValue<void>;
  tableNames(): PromiseOrValue<string[]>;
}

export interface Database extends Reader {
  /** What migrations must leave to the dialect. */
  readonly dialect: Dialect;
  /** Commits when `work` is done and synced; rolls back when it throws. Writers stand in one line. */
  transaction<T>(work: (transaction: Transaction) => PromiseOrValue<T>): Promise<T>;
  /** All that `work` reads is of one moment, however long it takes and whatever others commit meanwhile. */
  snapshot<T>(work: (reader: Reader) => Promise<T>): Promise<T>;
  /** Calls back whenever something may have been committed: at once by this process, soon by another. */
  watch(onCommit: () => void): void;
  close(): PromiseOrValue<void>;
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
}

export interface DatabaseOptions {
  /** Told of each statement as it is run, without its values. */
  onStatement?: (text: string) => void;
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
