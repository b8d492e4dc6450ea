/** `espalier migrate`: updates the database schema without starting the server, or prints the missing steps. */

import { resolve } from 'node:path';
import { systemClock } from '../clock.ts';
import { databaseOptionsFrom, readProcessSettings } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import { requireSchemaVersion } from '../database/migrations.ts';
import {
  allSteps,
  type MigrationStep,
  migrate as takeSteps,
  missingSteps,
  openWithoutMigrating,
  sqliteFilePath,
} from '../database/open-database.ts';
import { sizeOf } from '../database/sqlite/file.ts';
import { sqliteDialect } from '../database/sqlite/dialect.ts';
import { readInstallationValue } from '../database/installation-values.ts';
import { redactPassword } from '../config/redact-url.ts';
import { StartError } from '../config/start-error.ts';
import { command, json, type SettingFlags } from './command.ts';
import { databaseSettings } from './database-command.ts';
import { print, printJson } from './terminal/output.ts';

export const migrate = command({
  about: 'Update the database schema, or print the missing steps as SQL',
  options: { dryRun: { about: 'Print the SQL of the missing steps without running it' }, json },
  settings: databaseSettings,
  details: `The server does the same when it starts. If several processes migrate at once, one runs the steps and the others wait.`,
  examples: ['espalier migrate --dry-run', 'espalier migrate'],
  run: ({ options, flags }) =>
    options.dryRun ? show(flags, options.json) : bringUpToDate(flags, options.json),
});

async function bringUpToDate(flags: SettingFlags, isJson: boolean): Promise<void> {
  await onAnyDatabase(flags, async (database, displayUrl) => {
    const taken: MigrationStep[] = [];
    await takeSteps(database, systemClock, (step) => {
      // Printed before the step runs, because an index on a large table takes long.
      if (!isJson) console.log(`Step ${step.number}: ${step.name}`);
      taken.push(step);
    });
    if (isJson) {
      await printJson({ database: displayUrl, steps: taken.map(({ number, name }) => ({ number, name })) });
      return;
    }
    await print(taken.length > 0 ? `${displayUrl} is up to date.` : `${displayUrl} is already up to date.`);
  });
}

/** Prints the SQL, which a database administrator can run instead. */
async function show(flags: SettingFlags, isJson: boolean): Promise<void> {
  const { settings } = readProcessSettings(flags);
  const displayUrl = redactPassword(settings.databaseUrl);
  const file = sqliteFilePath(settings.databaseUrl);
  if (file !== undefined && !sizeOf(resolve(file))) {
    const note = `-- The database file ${resolve(file)} does not exist yet. A new database needs these steps:`;
    await printSteps(allSteps(sqliteDialect), { displayUrl, isJson, note });
    return;
  }
  await onAnyDatabase(flags, async (database) => {
    const steps = await database.transaction((transaction) => missingSteps(transaction, database.dialect));
    await printSteps(steps, { displayUrl, isJson });
  });
}

async function printSteps(
  steps: readonly MigrationStep[],
  {
    displayUrl,
    isJson,
    note,
  }: { readonly displayUrl: string; readonly isJson: boolean; readonly note?: string },
): Promise<void> {
  if (isJson) {
    await printJson({ database: displayUrl, isDryRun: true, steps });
    return;
  }
  const texts = steps.length > 0 ? steps.map(asSql) : ['-- Nothing to do: the database is up to date.'];
  await print([...(note === undefined ? [] : [note]), ...texts].join('\n\n'));
}

async function onAnyDatabase(
  flags: SettingFlags,
  work: (database: Database, displayUrl: string) => Promise<void>,
): Promise<void> {
  const { settings } = readProcessSettings(flags);
  const database = await openWithoutMigrating(settings.databaseUrl, databaseOptionsFrom(settings));
  try {
    await requireNoCopy(database);
    await work(database, redactPassword(settings.databaseUrl));
  } catch (error) {
    throw database.explain(error);
  } finally {
    await database.close();
  }
}

/** An unfinished copy may have the current schema, but no server starts on it. */
async function requireNoCopy(database: Database): Promise<void> {
  const mark = await database.transaction(async (transaction) =>
    (await requireSchemaVersion(transaction)) > 0 ? readInstallationValue(transaction, 'copying') : undefined,
  );
  if (mark === undefined) return;
  throw new StartError(
    'The database contains an unfinished copy of an installation. To continue the copy, run the same espalier copy command again.',
  );
}

function asSql({ number, name, statements }: MigrationStep): string {
  const texts = statements.map((text) => `${text.trim().replace(/\n {6}/g, '\n')};`);
  const record = `insert into espalier_migrations (number, name, applied_at) values (${number}, '${name.replaceAll("'", "''")}', ${systemClock.now()});`;
  return [`-- Step ${number}: ${name}`, 'begin;', ...texts, record, 'commit;'].join('\n');
}
