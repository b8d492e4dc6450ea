/**
 * Creates template databases that contain the schema and no rows. Copying one takes a tenth of the time of creating the
 * schema.
 */

import { join } from 'node:path';
import { systemClock } from '../../server/src/clock.ts';
import { openDatabase } from '../../server/src/database/open-database.ts';
import { databaseFolder } from './database-folder.ts';
import { postgres, sqliteTemplateVariable } from '../support/databases.ts';
import { templateVariable } from '../postgres/provided-postgres.ts';

/** Passes the names of the templates to this process and its children by environment variables. */
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
