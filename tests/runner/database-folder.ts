/**
 * Chooses the folder for the databases of a test run: in memory if enough memory is free. In memory, SQLite
 * commits sync immediately, and creating a PostgreSQL database, a copy of 300 files, takes a third of the CPU
 * time.
 */

import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

const variable = 'ESPALIER_TEST_FOLDER';
const inMemory = '/dev/shm';
/** More than the files of all tests that run at the same time. */
const minFreeBytes = 4 * 2 ** 30;

/** Creates the folder and passes its name to this process and its children by an environment variable. */
export async function withDatabaseFolder<T>(work: () => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(fastFolder(tmpdir()), 'espalier-databases-'));
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

/** Returns a folder in memory if there is enough memory, otherwise the other folder. */
export function fastFolder(fallback: string): string {
  return hasMemory() ? inMemory : fallback;
}

function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(inMemory);
    return Math.min(bavail * bsize, freemem()) >= minFreeBytes;
  } catch {
    return false;
  }
}
