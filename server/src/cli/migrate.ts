/** `espalier migrate`: brings the database up to date without starting the server, or shows what that would take. */

import { resolve } from 'node:path';
import { systemClock } from '../clock.ts';
import { databaseOptionsFrom, readProcessSettings } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import {
  allSteps,
  migrate as takeSteps,
  missingSteps,
  requireSchemaVersion,
  type MigrationStep,
} from '../database/migrations.ts';
import { sqliteFilePath, openWithoutMigrating } from '../database/open-database.ts';
import { sizeOf } from '../database/sqlite/file.ts';
import { sqliteDialect } from '../database/sqlite/dialect.ts';
import { readSetting } from '../database/installation-values.ts';
import { redactPassword } from '../config/url-password.ts';
import { StartError } from '../config/start-error.ts';
import { command, json, type Given } from './command.ts';
import { databaseSettings } from './database-command.ts';
import { print, printJson } from './output.ts';

export const migrate = command({
  options: { dryRun: { about: 'Change nothing, and print the SQL of the steps that are missing' }, json },
  settings: databaseSettings,
  details: `As the server does it when it starts. Safe while others do the same: one of them does it, the others wait.`,
  run: ({ options, flags }) =>
    options.dryRun ? show(flags, options.json) : bringUpToDate(flags, options.json),
});

async function bringUpToDate(flags: Given['flags'], isJson: boolean): Promise<void> {
  await onAnyDatabase(flags, async (database, shown) => {
    const taken: MigrationStep[] = [];
    await takeSteps(database, systemClock, (step) => {
      // Before it is taken: an index of a large table takes its time.
      if (!isJson) console.log(`Step ${step.number}: ${step.name}`);
      taken.push(step);
    });
    if (isJson) {
      await printJson({ database: shown, steps: taken.map(({ number, name }) => ({ number, name })) });
      return;
    }
    await print(taken.length > 0 ? `${shown} is up to date.` : `${shown} was up to date already.`);
  });
}

/** Prints the SQL, which a database administrator can run instead. */
async function show(flags: Given['flags'], isJson: boolean): Promise<void> {
  const { settings } = readProcessSettings(flags);
  const shown = redactPassword(settings.databaseUrl);
  const file = sqliteFilePath(settings.databaseUrl);
  if (file !== undefined && !sizeOf(resolve(file))) {
    const note = `-- There is no database file ${resolve(file)} yet. A new one takes these steps:`;
    await printSteps(allSteps(sqliteDialect), { shown, isJson, note });
    return;
  }
  await onAnyDatabase(flags, async (database) => {
    const steps = await database.transaction((transaction) => missingSteps(transaction, database.dialect));
    await printSteps(steps, { shown, isJson });
  });
}

async function printSteps(
  steps: readonly MigrationStep[],
  { shown, isJson, note }: { readonly shown: string; readonly isJson: boolean; readonly note?: string },
): Promise<void> {
  if (isJson) {
    await printJson({ database: shown, isDryRun: true, steps });
    return;
  }
  const texts = steps.length > 0 ? steps.map(asSql) : ['-- Nothing to do: the database is up to date.'];
  await print([...(note === undefined ? [] : [note]), ...texts].join('\n\n'));
}

async function onAnyDatabase(
  flags: Given['flags'],
  work: (database: Database, shown: string) => Promise<void>,
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

/** It may look up to date, and no server starts on it. */
async function requireNoCopy(database: Database): Promise<void> {
  const mark = await database.transaction(async (transaction) =>
    (await requireSchemaVersion(transaction)) > 0 ? readSetting(transaction, 'copying') : undefined,
  );
  if (mark === undefined) return;
  throw new StartError(
    'The database holds an unfinished copy of an installation. Run the same espalier copy again: it goes on where it stopped.',
  );
}

function asSql({ number, name, statements }: MigrationStep): string {
  const texts = statements.map((text) => `${text.trim().replace(/\n {6}/g, '\n')};`);
  const record = `insert into espalier_migrations (number, name, applied_at) values (${number}, '${name.replaceAll("'", "''")}', ${systemClock.now()});`;
  return [`-- Step ${number}: ${name}`, 'begin;', ...texts, record, 'commit;'].join('\n');
}
