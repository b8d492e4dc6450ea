/** The size of an installation, for GraphQL and the metrics: folders, users, database, disk and backups. */

import { singleFlight } from '../concurrency/single-flight.ts';
import type { Database } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import type { HealthCheck } from './health.ts';

/** The values that are read from the database. */
export interface Sizes {
  /** Includes deleted folders that are not purged. */
  readonly folders: number;
  readonly users: number;
  readonly databaseBytes: number;
}

export interface Gauges extends Sizes {
  /** Undefined if the database is not a file of this machine. */
  readonly freeDiskBytes: number | undefined;
  /** In milliseconds since 1970. Undefined if there is no scheduled backup yet. */
  readonly lastBackupAt: number | undefined;
}

interface GaugeSources {
  readonly readSizes: () => Promise<Sizes>;
  readonly checkHealth: () => Promise<readonly Pick<HealthCheck, 'name' | 'freeBytes'>[]>;
  /** Undefined if no backups are scheduled. `state` reads the folder of the backups. */
  readonly backups:
    | { readonly lastBackupAt: number | undefined; readonly state: () => Promise<unknown> }
    | undefined;
}

/** Counting a million folders takes a few milliseconds, during which an embedded database serves no request. */
const cacheMs = 10_000;

const countRows = sql<object, { folders: number; users: number }>`
  select (select count(*) from folders) as folders, (select count(*) from users) as users`;

export function createSizeReader(database: Pick<Database, 'get' | 'readSize'>): () => Promise<Sizes> {
  return singleFlight(
    async () => ({
      ...(await database.get(countRows, {}))!,
      databaseBytes: await database.readSize(),
    }),
    cacheMs,
  );
}

export async function readGauges({ readSizes, checkHealth, backups }: GaugeSources): Promise<Gauges> {
  const sizes = await readSizes();
  const disk = (await checkHealth()).find(({ name }) => name === 'disk');
  // Only one worker makes the backups. The others read the folder.
  await backups?.state();
  return { ...sizes, freeDiskBytes: disk?.freeBytes, lastBackupAt: backups?.lastBackupAt };
}
