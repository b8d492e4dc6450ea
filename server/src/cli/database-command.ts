/** Opens the database of the server for commands that work on it directly. */

import { databaseOptionsFrom, readProcessSettings } from '../config/config.ts';
import { settingsTable, type Settings } from '../config/settings-table.ts';
import type { Database } from '../database/database.ts';
import type { SettingFlags } from './command.ts';

const { databaseUrl, databasePoolMode } = settingsTable;

/** The settings of every command that works on the database. */
export const databaseSettings = [databaseUrl, databasePoolMode];

export async function onDatabase<T>(
  flags: SettingFlags,
  work: (opened: { readonly database: Database; readonly settings: Settings }) => Promise<T>,
  /** Also opens a database with an older schema, or without a schema. */
  { isAnySchema = false } = {},
): Promise<T> {
  const { settings } = readProcessSettings(flags);
  const { openMigrated, openWithoutMigrating } = await import('../database/open-database.ts');
  const open = isAnySchema ? openWithoutMigrating : openMigrated;
  const database = await open(settings.databaseUrl, databaseOptionsFrom(settings));
  try {
    return await work({ database, settings });
  } catch (error) {
    throw database.explain(error);
  } finally {
    await database.close();
  }
}
