/** A PostgreSQL database with the schema and nothing in it, from which those of tests are copied: that takes a tenth. */

import { systemClock } from '../../server/src/clock.ts';
import { openDatabase } from '../../server/src/database/open-database.ts';
import { postgres } from '../databases.ts';
import { templateVariable } from './provided-postgres.ts';

/** Its name is in the environment meanwhile, for this process and for those that it starts. */
export async function withPreparedTemplate<T>(work: () => Promise<T>): Promise<T> {
  const template = await postgres.create();
  try {
    await (await openDatabase(template.url, systemClock)).close();
    process.env[templateVariable] = new URL(template.url).pathname.slice(1);
    return await work();
  } finally {
    delete process.env[templateVariable];
    await template.remove();
  }
}
