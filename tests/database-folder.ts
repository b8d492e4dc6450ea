/**
 * Where the databases of a test run are: in memory if there is enough of it. A commit to SQLite is synced at once there,
 * and a new database of PostgreSQL, which is a copy of 300 files, takes a third of the CPU time. What is asked of both is
 * the same.
 */

import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

const variable = 'ESPALIER_TEST_FOLDER';
const inMemory = '/dev/shm';
/** More than the files of all tests that run at the same time. */
const enoughBytes = 4 * 2 ** 30;

/** Its name is in the environment meanwhile, for this process and for those that it starts. */
export async function withDatabaseFolder<T>(work: () => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(fastPlace(tmpdir()), 'espalier-databases-'));
  process.env[variable] = folder;
  try {
    return await work();
  } finally {
    delete process.env[variable];
    rmSync(folder, { recursive: true });
  }
}

export function databaseFolder(): string {
  return process.env[variable] ?? tmpdir();
}

/** In memory if there is enough of it, otherwise the other place. */
export function fastPlace(otherwise: string): string {
  return hasMemory() ? inMemory : otherwise;
}

function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(inMemory);
    return Math.min(bavail * bsize, freemem()) >= enoughBytes;
  } catch {
    return false;
  }
}
