/** Opens the database of the server for commands that work on it directly. The schema must be current. */

import { databaseOptionsFrom, readProcessSettings, settingsTable, type Settings } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import { sqliteFilePath, openMigrated } from '../database/open-database.ts';
import { redactPassword } from '../config/redact-url.ts';
import { StartError } from '../config/start-error.ts';
import type { CommandInput } from './command.ts';

const { databaseUrl, databasePoolMode } = settingsTable;

/** The settings of every command that works on the database. */
export const databaseSettings = [databaseUrl, databasePoolMode];

export async function onDatabase<T>(
  flags: CommandInput['flags'],
  work: (opened: { readonly database: Database; readonly settings: Settings }) => Promise<T>,
): Promise<T> {
  const { settings } = readProcessSettings(flags);
  const database = await openMigrated(settings.databaseUrl, databaseOptionsFrom(settings));
  try {
    return await work({ database, settings });
  } catch (error) {
    throw database.explain(error);
  } finally {
    await database.close();
  }
}

/** The path of the database file, for commands that work on the file itself. */
export function embeddedFileOf(flags: CommandInput['flags'], what: 'backup' | 'restore'): string {
  const { settings } = readProcessSettings(flags);
  const file = sqliteFilePath(settings.databaseUrl);
  if (file !== undefined) return file;
  const tool = what === 'backup' ? 'pg_dump' : 'pg_restore';
  throw new StartError(
    `espalier ${what} works only on database files, but ${redactPassword(settings.databaseUrl)} is a PostgreSQL database. Use ${tool}; see docs/deployment.md#backup.`,
  );
}
