/**
 * The database that is copied to. It carries a mark until the copy is whole: no server starts on it, and of two that
 * copy into it at the same time the later one goes on and the earlier one stops.
 */

import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import type { Database, Reader, Transaction } from '../../database/database.ts';
import { migrate, migrations, stepsTaken } from '../../database/migrations.ts';
import { sql } from '../../database/statement.ts';
import { StartError } from '../../config/start-error.ts';
import { countOf, tables } from './table-rows.ts';
import { tablesLeftBehind } from './tables.ts';

export interface StoredSetting {
  readonly name: string;
  readonly value: string;
}

export const selectSettings = sql<object, StoredSetting>`select name, value from settings`;
const insertSetting = sql<StoredSetting>`
  insert into settings (name, value) values (${'name'}, ${'value'}) on conflict do nothing`;
const takeMark = sql<{ run: string }>`update settings set value = ${'run'} where name = 'copying'`;
const holdMark = sql<{ run: string }>`
  update settings set value = value where name = 'copying' and value = ${'run'}`;
const removeMark = sql<{ run: string }>`delete from settings where name = 'copying' and value = ${'run'}`;

export class Destination {
  readonly reader: Reader;
  readonly #database: Database;
  readonly #clock: Clock;
  /** Told from every other run, of this program or another. */
  readonly #run = randomUUID();

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.reader = {
      all: (statement, parameters) => explained(database, async () => database.all(statement, parameters)),
      get: (statement, parameters) => explained(database, async () => database.get(statement, parameters)),
    };
    this.#clock = clock;
  }

  /**
   * Makes it ours: a new database is prepared and marked, an unfinished copy of the same installation taken over. Answers
   * with how many rows of it are there.
   */
  async claim(settings: readonly StoredSetting[]): Promise<number> {
    return explained(this.#database, async () => {
      if (await this.#takeOver(settings)) return this.#countCopied();
      await migrate(this.#database, this.#clock);
      await this.#database.transaction((transaction) => this.#begin(transaction, settings));
      return 0;
    });
  }

  async #countCopied(): Promise<number> {
    let count = 0;
    for (const table of tables) if (!table.hasOneRow) count += await countOf(this.#database, table);
    return count;
  }

  /** A transaction, as long as nobody has taken over. */
  async write(work: (transaction: Transaction) => PromiseOrValue<unknown>): Promise<void> {
    await explained(this.#database, () =>
      this.#database.transaction(async (transaction) => {
        await this.#hold(transaction);
        await work(transaction);
      }),
    );
  }

  /** Leaves an empty database. */
  async clear(): Promise<void> {
    await explained(this.#database, () =>
      this.#database.alone(async (transaction) => {
        await this.#hold(transaction);
        const copied = tables.map(({ name }) => name).reverse();
        for (const name of [...Object.keys(tablesLeftBehind), ...copied]) {
          await transaction.define(`drop table if exists ${name}`);
        }
      }),
    );
  }

  /** The copy is whole: servers may start on it. */
  async release(): Promise<void> {
    await this.write((transaction) => transaction.run(removeMark, { run: this.#run }));
  }

  async #hold(transaction: Transaction): Promise<void> {
    if ((await transaction.run(holdMark, { run: this.#run })) > 0) return;
    throw new StartError('Another espalier copy has taken over the destination: this one stops.');
  }

  /** Answers whether there was something to go on with. */
  async #takeOver(settings: readonly StoredSetting[]): Promise<boolean> {
    const steps = await this.#database.transaction(async (transaction) => {
      const taken = await stepsOf('destination', transaction);
      const found = taken > 0 ? await transaction.all(selectSettings, {}) : [];
      if (found.length === 0) return undefined;
      const isOfSame = issuerOf(found) === issuerOf(settings);
      if ((await transaction.run(takeMark, { run: this.#run })) === 0) throw notEmpty(isOfSame);
      if (!isOfSame) {
        throw new StartError(
          'The destination holds an unfinished copy of another installation. Copy into a new database, or finish that copy.',
        );
      }
      return taken;
    });
    if (steps === undefined) return false;
    if (steps === migrations.length) return true;
    // Of an older program, whose tables are not as they are now.
    await this.clear();
    return false;
  }

  async #begin(transaction: Transaction, settings: readonly StoredSetting[]): Promise<void> {
    // A server that is started here at the same moment writes the same names: one of the two waits, and then sees.
    for (const setting of settings) {
      if ((await transaction.run(insertSetting, setting)) === 0) throw notEmpty();
    }
    for (const table of tables) {
      const isMadeEmpty = table.name !== 'settings' && !table.hasOneRow;
      if (isMadeEmpty && (await countOf(transaction, table)) > 0) throw notEmpty();
    }
    await transaction.run(insertSetting, { name: 'copying', value: this.#run });
  }
}

/** The name of an installation, which is stored at its first start. */
export function issuerOf(settings: readonly StoredSetting[]): string | undefined {
  return settings.find(({ name }) => name === 'issuer')?.value;
}

function notEmpty(isOfSame = false): StartError {
  const what = isOfSame
    ? 'this installation already, the whole of it. If espalier copy made it, that is done: start the server on it. If it is the source itself, under another name, nothing was copied'
    : 'an installation already';
  return new StartError(`The destination is not empty: it holds ${what}. Copy into a new database.`);
}
export async function explained<T>(database: Database, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw database.explain(error);
  }
}
/** How many steps of the migrations; says which of the two it is about if it refuses. */

export async function stepsOf(side: 'source' | 'destination', transaction: Transaction): Promise<number> {
  try {
    return await stepsTaken(transaction);
  } catch (cause) {
    if (!(cause instanceof StartError)) throw cause;
    throw new StartError(`The ${side} cannot be used. ${cause.message}`, { cause });
  }
}
