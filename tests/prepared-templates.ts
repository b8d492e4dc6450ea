/** Databases with the schema and nothing in them, from which those of tests are copied: that takes a tenth. */

import { join } from 'node:path';
import { systemClock } from '../server/src/clock.ts';
import { openDatabase } from '../server/src/database/open-database.ts';
import { databaseFolder } from './database-folder.ts';
import { postgres, sqliteTemplateVariable } from './databases.ts';
import { templateVariable } from './postgres/provided-postgres.ts';

/** Their names are in the environment meanwhile, for this process and for those that it starts. */
export async function withPreparedTemplates<T>(work: () => Promise<T>): Promise<T> {
  const template = await postgres.create();
  const file = join(databaseFolder(), 'template.db');
  try {
    for (const url of [template.url, `sqlite:${file}`]) await (await openDatabase(url, systemClock)).close();
    process.env[templateVariable] = new URL(template.url).pathname.slice(1);
    process.env[sqliteTemplateVariable] = file;
    return await work();
  } finally {
    delete process.env[templateVariable];
    delete process.env[sqliteTemplateVariable];
    await template.remove();
  }
}
