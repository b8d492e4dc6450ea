/** `espalier migrate`: brings the database up to date without starting the server, or shows what that would take. */

import { systemClock } from '../clock.ts';
import { databaseOptionsOf, settingsOfProcess, settingsTable } from '../config.ts';
import type { Database } from '../database/database.ts';
import { migrate as takeSteps, missingSteps, type Step } from '../database/migrations.ts';
import { openAsItIs } from '../database/open-database.ts';
import { withoutPassword } from '../shown-url.ts';
import { command } from './command.ts';

const { databaseUrl, databasePoolMode } = settingsTable;

export const migrate = command({
  options: { dryRun: { about: 'Change nothing, and print the SQL of the steps that are missing' } },
  settings: [databaseUrl, databasePoolMode],
  details: `As the server does it when it starts. Safe while others do the same: one of them does it, the others wait.`,
  run: ({ options, flags }) => bringUpToDate(options.dryRun, flags),
});

async function bringUpToDate(isDryRun: boolean, flags: Readonly<Record<string, string>>): Promise<void> {
  const { settings } = settingsOfProcess(flags);
  const url = settings.databaseUrl;
  const options = { ...databaseOptionsOf(settings), mustExist: isDryRun };
  const database = await openAsItIs(url, options);
  try {
    if (isDryRun) await show(database);
    else await run(database, withoutPassword(url));
  } catch (error) {
    throw database.explain(error);
  } finally {
    await database.close();
  }
}

async function run(database: Database, shown: string): Promise<void> {
  let count = 0;
  await takeSteps(database, systemClock, ({ number, name }) => {
    console.log(`Step ${number}: ${name}`);
    count++;
  });
  console.log(count > 0 ? `${shown} is up to date.` : `${shown} was up to date already.`);
}

/** As SQL that somebody may run instead. */
async function show(database: Database): Promise<void> {
  const steps = await database.transaction((transaction) => missingSteps(transaction, database.dialect));
  console.log(
    steps.length > 0 ? steps.map(asSql).join('\n\n') : '-- Nothing to do: the database is up to date.',
  );
}

function asSql({ number, name, statements }: Step): string {
  const texts = statements.map((text) => `${text.trim().replace(/\n {6}/g, '\n')};`);
  const record = `insert into espalier_migrations (number, name, applied_at) values (${number}, '${name.replaceAll("'", "''")}', ${systemClock.now()});`;
  return [`-- Step ${number}: ${name}`, 'begin;', ...texts, record, 'commit;'].join('\n');
}
