/** Checks the free space for the database, and whether other users of this machine can read secret files. */

import { statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { formatFreeSpace } from '../../maintenance/backup/format-size.ts';
import { listSecretFiles } from '../../config/config.ts';
import { listDatabaseFiles, sizeOf } from '../../database/sqlite/file.ts';
import { isHidden, isWritable, nearestFolder } from './database-file-check.ts';
import type { Examined } from './check-context.ts';
import { ok, problem, warning, type Finding } from './finding.ts';

const megabyte = 2 ** 20;
const leastFreeBytes = 64 * megabyte;
const enoughFreeBytes = 512 * megabyte;
const others = 0o077;
/** A group may be made for who reads secrets. */
const everybody = 0o007;
const mayChange = 0o022;
const isSticky = 0o1000;

export function* checkFiles({ file, flags }: Examined): Iterable<Finding> {
  if (file !== undefined) yield* checkDataFolder(resolve(file));
  for (const { source, path } of listSecretFiles(flags)) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found) continue;
    yield found.mode & everybody
      ? warning(`Everybody on this machine can read ${path} (${source}).`, `chmod o= ${path}`)
      : ok(`${path} (${source}) is not for everybody.`);
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
      'Others on this machine may read the database, with the keys that sign tokens.',
      `chmod 600 ${readable.join(' ')}`,
    );
  } else if (files.length > 0) {
    yield ok('The database is for its owner alone.');
  }
  const { mode } = statSync(folder);
  if (mode & mayChange && !(mode & isSticky)) {
    yield warning(`Others may put files into ${folder}, and take them away.`, `chmod go-w ${folder}`);
  }
  const [first] = files;
  const self = process.getuid?.();
  // The check of the database reports a file that is not writable.
  if (first !== undefined && self && statSync(first).uid !== self && isWritable(first)) {
    yield warning(
      `${first} belongs to another user than the one who runs this.`,
      'Run espalier as that user.',
    );
  }
}

function roomIn(folder: string, usedBytes: number): Finding {
  const { blocks, bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const text = `${formatFreeSpace(free)} are free in ${folder}.`;
  if (blocks === 0 || free >= Math.max(enoughFreeBytes, usedBytes)) return ok(text);
  const fix = 'Make room: on a full disk nothing can be changed, and nobody can log in.';
  return free < leastFreeBytes ? problem(text, fix) : warning(text, fix);
}
