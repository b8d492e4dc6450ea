/** Checks the free space for the database, and whether other users of this machine can read secret files. */

import { statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { formatFreeSpace } from '../../maintenance/backup/backup-files.ts';
import { listSecretFiles } from '../../config/config.ts';
import { listDatabaseFiles, sizeOf } from '../../database/sqlite/file.ts';
import { isHidden, isWritable, nearestFolder } from './database-file-check.ts';
import type { CheckContext } from './check-context.ts';
import { ok, problem, warning, type Finding } from './finding.ts';

const megabyte = 2 ** 20;
const leastFreeBytes = 64 * megabyte;
const enoughFreeBytes = 512 * megabyte;
const others = 0o077;
/** A group may have access, because it may consist of readers of secrets. */
const allUsers = 0o007;
const mayChange = 0o022;
const isSticky = 0o1000;

export function* checkFiles({ file, flags }: CheckContext): Iterable<Finding> {
  if (file !== undefined) yield* checkDataFolder(resolve(file));
  for (const { source, path } of listSecretFiles(flags)) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found) continue;
    yield found.mode & allUsers
      ? warning(`All users of this machine can read ${path} (${source}).`, `chmod o= ${path}`)
      : ok(`${path} (${source}) is not readable by all users.`);
  }
}

function* checkDataFolder(file: string): Iterable<Finding> {
  // The check of the database reports it.
  if (isHidden(file)) return;
  const folder = nearestFolder(dirname(file));
  yield roomIn(folder, sizeOf(file));
  const files = listDatabaseFiles(file);
  const readable = files.filter((each) => statSync(each).mode & others);
  if (readable.length > 0) {
    yield warning(
      'Other users of this machine can read the database, which contains the keys that sign tokens.',
      `chmod 600 ${readable.join(' ')}`,
    );
  } else if (files.length > 0) {
    yield ok('Only its owner can read the database.');
  }
  const { mode } = statSync(folder);
  if (mode & mayChange && !(mode & isSticky)) {
    yield warning(`Other users can create and delete files in ${folder}.`, `chmod go-w ${folder}`);
  }
  const [first] = files;
  const self = process.getuid?.();
  // The check of the database reports a file that is not writable.
  if (first !== undefined && self && statSync(first).uid !== self && isWritable(first)) {
    yield warning(`The current user is not the owner of ${first}.`, 'Run espalier as the owner.');
  }
}

function roomIn(folder: string, usedBytes: number): Finding {
  const { blocks, bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const text = `${formatFreeSpace(free)} are free in ${folder}.`;
  if (blocks === 0 || free >= Math.max(enoughFreeBytes, usedBytes)) return ok(text);
  const fix = 'Free some space: on a full disk, all changes and logins fail.';
  return free < leastFreeBytes ? problem(text, fix) : warning(text, fix);
}
