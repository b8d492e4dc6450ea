/**
 * Where the SQLite files of a test run are: in memory if there is enough of it, since there a commit is synced at once,
 * and on a disk that takes longer than all the rest of it. What is asked of SQLite is the same.
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
  const folder = mkdtempSync(join(hasMemory() ? inMemory : tmpdir(), 'espalier-databases-'));
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

function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(inMemory);
    return Math.min(bavail * bsize, freemem()) >= enoughBytes;
  } catch {
    return false;
  }
}
