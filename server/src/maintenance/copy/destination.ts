/**
 * The database that receives a copy. It is marked until the copy is complete, so that no server starts on it. If two
 * processes copy into it at the same time, the later process continues and the earlier process stops.
 */

import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import type { Database, Reader, Transaction } from '../../database/database.ts';
import { migrations, requireSchemaVersion } from '../../database/migrations.ts';
import { migrate } from '../../database/open-database.ts';
import { sql } from '../../database/statement.ts';
import { StartError } from '../../config/start-error.ts';
import { countCopiedRows, countRows, tables, tablesNotCopied } from './tables.ts';

interface StoredSetting {
  readonly name: string;
  readonly value: string;
}

export const selectSettings = sql<object, StoredSetting>`select name, value from settings`;
const insertSetting = sql<StoredSetting>`
  insert into settings (name, value) values (${'name'}, ${'value'}) on conflict do nothing`;
const replaceMark = sql<{ run: string }>`update settings set value = ${'run'} where name = 'copying'`;
const lockMark = sql<{ run: string }>`
  update settings set value = value where name = 'copying' and value = ${'run'}`;
const removeMark = sql<{ run: string }>`delete from settings where name = 'copying' and value = ${'run'}`;

export class Destination {
  readonly reader: Reader;
  readonly #database: Database;
  readonly #clock: Clock;
  /** Identifies this run among all processes. */
  readonly #runId = randomUUID();

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.reader = {
      all: (statement, parameters) =>
        explainErrors(database, async () => database.all(statement, parameters)),
      get: (statement, parameters) =>
        explainErrors(database, async () => database.get(statement, parameters)),
    };
    this.#clock = clock;
  }

  /**
   * Migrates and marks an empty database, or takes over an unfinished copy of the same installation. Returns the number of
   * rows that were copied before.
   */
  async claim(settings: readonly StoredSetting[]): Promise<number> {
    return explainErrors(this.#database, async () => {
      if (await this.#takeOver(settings)) return countCopiedRows(this.#database);
      await migrate(this.#database, this.#clock);
      await this.#database.transaction((transaction) => this.#begin(transaction, settings));
      return 0;
    });
  }

  /** Runs a transaction. Throws if another process has taken over. */
  async write(work: (transaction: Transaction) => PromiseOrValue<unknown>): Promise<void> {
    await explainErrors(this.#database, () =>
      this.#database.transaction(async (transaction) => {
        await this.#requireMark(transaction);
        await work(transaction);
      }),
    );
  }

  /** Drops every table. */
  async clear(): Promise<void> {
    await explainErrors(this.#database, () =>
      this.#database.exclusive(async (transaction) => {
        await this.#requireMark(transaction);
        const copied = tables.map(({ name }) => name).reverse();
        for (const name of [...Object.keys(tablesNotCopied), ...copied]) {
          await transaction.define(`drop table if exists ${name}`);
        }
      }),
    );
  }

  /** Removes the mark of a complete copy, so that servers may start on it. */
  async release(): Promise<void> {
    await this.write((transaction) => transaction.run(removeMark, { run: this.#runId }));
  }

  async #requireMark(transaction: Transaction): Promise<void> {
    if ((await transaction.run(lockMark, { run: this.#runId })) > 0) return;
    throw new StartError(
      "Another 'espalier copy' process now writes to the destination, so this process stops.",
    );
  }

  /** Returns false if the destination is empty. */
  async #takeOver(settings: readonly StoredSetting[]): Promise<boolean> {
    const version = await this.#database.transaction(async (transaction) => {
      const version = await readSchemaVersion('destination', transaction);
      const found = version > 0 ? await transaction.all(selectSettings, {}) : [];
      if (found.length === 0) return undefined;
      const isOfSame = issuerOf(found) === issuerOf(settings);
      if ((await transaction.run(replaceMark, { run: this.#runId })) === 0) throw notEmpty(isOfSame);
      if (!isOfSame) {
        throw new StartError(
          'The destination contains an unfinished copy of another installation. Copy into a new database, or finish that copy.',
        );
      }
      return version;
    });
    if (version === undefined) return false;
    if (version === migrations.length) return true;
    // An older version has begun the copy, with other tables.
    await this.clear();
    return false;
  }

  async #begin(transaction: Transaction, settings: readonly StoredSetting[]): Promise<void> {
    // A server that starts on this database at the same time inserts the same names. The second process waits, and then finds them.
    for (const setting of settings) {
      if ((await transaction.run(insertSetting, setting)) === 0) throw notEmpty();
    }
    for (const table of tables) {
      const mustBeEmpty = table.name !== 'settings' && !table.hasOneRow;
      if (mustBeEmpty && (await countRows(transaction, table)) > 0) throw notEmpty();
    }
    await transaction.run(insertSetting, { name: 'copying', value: this.#runId });
  }
}

/** The installation's name, which the first start of a server stores. */
export function issuerOf(settings: readonly StoredSetting[]): string | undefined {
  return settings.find(({ name }) => name === 'issuer')?.value;
}

function notEmpty(isOfSame = false): StartError {
  return new StartError(
    isOfSame
      ? "The destination already contains this installation. Nothing was copied. If an earlier 'espalier copy' created it, the copy is complete. Otherwise, use a new database."
      : 'The destination already contains an installation. Nothing was copied. Use a new database.',
  );
}

/** Adds the name of the database and the reason to an error of the database. */
export async function explainErrors<T>(database: Database, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw database.explain(error);
  }
}

/** Names the database in the error if its schema cannot be used. */
export async function readSchemaVersion(
  side: 'source' | 'destination',
  transaction: Transaction,
): Promise<number> {
  try {
    return await requireSchemaVersion(transaction);
  } catch (cause) {
    if (!(cause instanceof StartError)) throw cause;
    throw new StartError(`Cannot use the ${side}. ${cause.message}`, { cause });
  }
}
