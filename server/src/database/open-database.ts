/** Opens a database by its URL. */

import type { Clock } from '../clock.ts';
import { StartError } from '../config/start-error.ts';
import type { Database, DatabaseOptions } from './database.ts';
import { migrate, missingSteps } from './migrations.ts';
import { openSqlite } from './sqlite/sqlite.ts';

/** Its driver is loaded by whoever needs it. */
const openPostgres = async (url: string, options: DatabaseOptions) =>
  (await import('./postgres/postgres.ts')).openPostgres(url, options);

const openers: Readonly<
  Record<string, (url: string, options: DatabaseOptions) => Database | Promise<Database>>
> = {
  sqlite: (url, options) => openSqlite(sqliteFilePath(url)!, options),
  postgres: openPostgres,
  postgresql: openPostgres,
};

/** Opens the database, creating what is not there, and brings its schema up to date. */
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

/** One that is there, and of this program's own schema: for commands beside the server, which prepares nothing. */
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

/** The path of the file of an embedded database; undefined for one elsewhere. */
export function sqliteFilePath(url: string): string | undefined {
  return url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : undefined;
}

/** Whatever its schema is. */
export async function openWithoutMigrating(url: string, options: DatabaseOptions = {}): Promise<Database> {
  const [scheme = ''] = url.split(':', 1);
  const open = Object.hasOwn(openers, scheme) ? openers[scheme] : undefined;
  if (!open) throw new StartError(`There is no database for URLs that start with ${scheme}:.`);
  return open(url, options);
}
