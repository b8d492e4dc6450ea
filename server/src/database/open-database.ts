/** Opens a database by its URL. */

import type { Clock } from '../clock.ts';
import { Refusal } from '../refusal.ts';
import { StartError } from '../start-error.ts';
import type { Database, DatabaseOptions } from './database.ts';
import { migrate } from './migrations.ts';
import { openSqlite } from './sqlite.ts';

/** Opens the database, creating it if it is not there, and brings its schema up to date. */
export async function openDatabase(
  url: string,
  clock: Clock,
  options: DatabaseOptions = {},
): Promise<Database> {
  const [scheme] = url.split(':', 1);
  if (scheme !== 'sqlite') throw new StartError(`There is no database for URLs that start with ${scheme}:.`);
  const database = openSqlite(url.slice('sqlite:'.length), options);
  try {
    await migrate(database, clock);
  } catch (cause) {
    await database.close();
    if (!(cause instanceof Refusal)) throw cause;
    throw new StartError(`The database cannot be prepared: ${(cause.cause as Error).message}.`, { cause });
  }
  return database;
}
