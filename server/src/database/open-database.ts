/** Opens a database by its URL, and runs the migration steps that the database has not recorded yet. */

import type { Clock } from '../clock.ts';
import { StartError } from '../config/start-error.ts';
import type { Database, DatabaseOptions, Dialect, Transaction } from './database.ts';
import { migrations, requireSchemaVersion } from './migrations.ts';
import { openSqlite } from './sqlite/sqlite.ts';
import { sql } from './statement.ts';

/** Opens the database, creates a missing file, and migrates the schema. */
export function openDatabase(url: string, clock: Clock, options: DatabaseOptions = {}): Promise<Database> {
  return openAndPrepare(url, options, (database) => migrate(database, clock));
}

/** Opens an existing database with the current schema, for commands that must not create or migrate one. */
export function openMigrated(url: string, options: DatabaseOptions): Promise<Database> {
  return openAndPrepare(url, { ...options, mustExist: true }, async (database) => {
    const { dialect } = database;
    const steps = await database.transaction((transaction) => missingSteps(transaction, dialect));
    if (steps.length === 0) return;
    throw new StartError(
      "The database is not up to date. Start the server or run 'espalier migrate', and try again.",
    );
  });
}

async function openAndPrepare(
  url: string,
  options: DatabaseOptions,
  prepare: (database: Database) => Promise<void>,
): Promise<Database> {
  const database = await openWithoutMigrating(url, options);
  try {
    await prepare(database);
    return database;
  } catch (error) {
    await database.close();
    throw database.explain(error);
  }
}

/** Undefined if the URL is not a `sqlite:` URL. */
export function sqliteFilePath(url: string): string | undefined {
  return url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : undefined;
}

/** Opens a database with any schema. */
export async function openWithoutMigrating(url: string, options: DatabaseOptions = {}): Promise<Database> {
  const path = sqliteFilePath(url);
  if (path !== undefined) return openSqlite(path, options);
  if (!/^postgres(ql)?:/.test(url)) {
    throw new StartError('The database URL has an unknown scheme. Use sqlite: or postgres:.');
  }
  // Loads the driver of PostgreSQL only if it is needed.
  const { openPostgres } = await import('./postgres/postgres.ts');
  return openPostgres(url, options);
}

const recordStep = sql<{ number: number; name: string; now: number }>`
  insert into espalier_migrations (number, name, applied_at) values (${'number'}, ${'name'}, ${'now'})`;

export interface MigrationStep {
  readonly number: number;
  readonly name: string;
  readonly statements: readonly string[];
}

/** Runs the missing steps, each in a transaction. If several processes start at the same time, each step runs only once. */
export async function migrate(
  database: Database,
  clock: Clock,
  onStep?: (step: MigrationStep) => void,
): Promise<void> {
  for (let isDone = false; !isDone;) {
    isDone = await database.exclusive(async (transaction) => {
      const [step, ...laterSteps] = await missingSteps(transaction, database.dialect);
      if (!step) return true;
      onStep?.(step);
      for (const text of step.statements) await transaction.define(text);
      await transaction.run(recordStep, { ...step, now: clock.now() });
      return laterSteps.length === 0;
    });
  }
}

/** The steps that `migrate()` would run. */
export async function missingSteps(transaction: Transaction, dialect: Dialect): Promise<MigrationStep[]> {
  return allSteps(dialect).slice(await requireSchemaVersion(transaction));
}

/** The steps for a new database. */
export function allSteps(dialect: Dialect): MigrationStep[] {
  return migrations.map(({ name, statements }, index) => ({
    number: index + 1,
    name,
    statements: statements(dialect),
  }));
}
