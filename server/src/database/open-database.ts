/** Opens a database by its URL. */

import type { Clock } from '../clock.ts';
import { StartError } from '../config/start-error.ts';
import type { Database, DatabaseOptions } from './database.ts';
import { migrate, missingSteps } from './migrations.ts';
import { openSqlite } from './sqlite/sqlite.ts';

/** Loads the driver only if it is needed. */
const openPostgres = async (url: string, options: DatabaseOptions) =>
  (await import('./postgres/postgres.ts')).openPostgres(url, options);

const openers: Readonly<
  Record<string, (url: string, options: DatabaseOptions) => Database | Promise<Database>>
> = {
  sqlite: (url, options) => openSqlite(sqliteFilePath(url)!, options),
  postgres: openPostgres,
  postgresql: openPostgres,
};

/** Opens the database, creates a missing file, and migrates the schema. */
export async function openDatabase(
  url: string,
  clock: Clock,
  options: DatabaseOptions = {},
): Promise<Database> {
  const database = await openWithoutMigrating(url, options);
  try {
    await migrate(database, clock);
  } catch (cause) {
    await database.close();
    throw database.explain(cause);
  }
  return database;
}

/** Opens an existing database with the current schema, for commands that must not create or migrate one. */
export async function openMigrated(url: string, options: DatabaseOptions): Promise<Database> {
  const database = await openWithoutMigrating(url, { ...options, mustExist: true });
  try {
    const { dialect } = database;
    const missing = await database.transaction((transaction) => missingSteps(transaction, dialect));
    if (missing.length === 0) return database;
    throw new StartError(
      'The database is not up to date. Start the server, or run espalier migrate, and try again.',
    );
  } catch (error) {
    await database.close();
    throw database.explain(error);
  }
}

/** Undefined for PostgreSQL. */
export function sqliteFilePath(url: string): string | undefined {
  return url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : undefined;
}

/** Opens a database with any schema. */
export async function openWithoutMigrating(url: string, options: DatabaseOptions = {}): Promise<Database> {
  const [scheme = ''] = url.split(':', 1);
  const open = Object.hasOwn(openers, scheme) ? openers[scheme] : undefined;
  if (!open) throw new StartError(`There is no database for URLs that start with ${scheme}:.`);
  return open(url, options);
}
