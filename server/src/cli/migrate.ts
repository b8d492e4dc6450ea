/** `espalier migrate`: updates the database schema without starting the server, or prints the missing steps. */

import { resolve } from 'node:path';
import { systemClock } from '../clock.ts';
import { readProcessSettings } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import { requireSchemaVersion } from '../database/migrations.ts';
import {
  allSteps,
  type MigrationStep,
  migrate as runMissingSteps,
  missingSteps,
  sqliteFilePath,
} from '../database/open-database.ts';
import { sizeOf } from '../database/sqlite/file.ts';
import { sqliteDialect } from '../database/sqlite/dialect.ts';
import { readInstallationValue } from '../database/installation-values.ts';
import { redactPassword } from '../config/redact-url.ts';
import { StartError } from '../config/start-error.ts';
import { command, json, type Output, type SettingFlags } from './command.ts';
import { databaseSettings, onDatabase } from './database-command.ts';

export const migrate = command({
  about: 'Update the database schema, or print the missing steps as SQL',
  options: { dryRun: { about: 'Print the SQL of the missing steps without running it' }, json },
  settings: databaseSettings,
  details: `The server also updates the schema when it starts. If several processes migrate at once, one runs the steps and the others wait.`,
  examples: ['espalier migrate --dry-run', 'espalier migrate'],
  run: ({ options, flags }) => (options.dryRun ? listMissingSteps(flags) : runSteps(flags, options.json)),
});

function runSteps(flags: SettingFlags, isJson: boolean): Promise<Output> {
  return onAnyDatabase(flags, async (database, displayUrl) => {
    const stepsRun: { number: number; name: string }[] = [];
    await runMissingSteps(database, systemClock, ({ number, name }) => {
      // Printed before the step runs, because creating an index on a large table takes a long time.
      if (!isJson) console.log(`Step ${number}: ${name}`);
      stepsRun.push({ number, name });
    });
    return {
      data: { database: displayUrl, steps: stepsRun },
      text: `${displayUrl} is ${stepsRun.length > 0 ? '' : 'already '}up to date.`,
    };
  });
}

/** Prints the SQL, which a database administrator can run instead. */
async function listMissingSteps(flags: SettingFlags): Promise<Output> {
  const { databaseUrl } = readProcessSettings(flags).settings;
  const file = sqliteFilePath(databaseUrl);
  if (file !== undefined && !sizeOf(resolve(file))) {
    const note = `-- The database file ${resolve(file)} does not exist yet. A new database needs these steps:`;
    return describeSteps(allSteps(sqliteDialect), redactPassword(databaseUrl), [note]);
  }
  return onAnyDatabase(flags, async (database, displayUrl) => {
    const steps = await database.transaction((transaction) => missingSteps(transaction, database.dialect));
    return describeSteps(steps, displayUrl);
  });
}

function describeSteps(
  steps: readonly MigrationStep[],
  database: string,
  notes: readonly string[] = [],
): Output {
  const texts = steps.length > 0 ? steps.map(asSql) : ['-- Nothing to do: the database is up to date.'];
  return { data: { database, isDryRun: true, steps }, text: [...notes, ...texts].join('\n\n') };
}

function onAnyDatabase(
  flags: SettingFlags,
  work: (database: Database, displayUrl: string) => Promise<Output>,
): Promise<Output> {
  return onDatabase(
    flags,
    async ({ database, settings }) => {
      await requireNoCopy(database);
      return work(database, redactPassword(settings.databaseUrl));
    },
    { isAnySchema: true },
  );
}

/** An unfinished copy may have the current schema, but no server starts on it. */
async function requireNoCopy(database: Database): Promise<void> {
  const copyMarker = await database.transaction(async (transaction) =>
    (await requireSchemaVersion(transaction)) > 0 ? readInstallationValue(transaction, 'copying') : undefined,
  );
  if (copyMarker === undefined) return;
  throw new StartError(
    "The database contains an unfinished copy of an installation. To continue the copy, run the same 'espalier copy' command again.",
  );
}

function asSql({ number, name, statements }: MigrationStep): string {
  const texts = statements.map((text) => `${text.trim().replace(/\n {6}/g, '\n')};`);
  const record = `insert into espalier_migrations (number, name, applied_at) values (${number}, '${name.replaceAll("'", "''")}', ${systemClock.now()});`;
  return [`-- Step ${number}: ${name}`, 'begin;', ...texts, record, 'commit;'].join('\n');
}
