/** Checks free space, the modes of files with secrets, and scheduled backups. Writes nothing. */

import { accessSync, constants, statSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { listSecretFiles } from '../../config/config.ts';
import { listDatabaseFiles, sizeOf } from '../../database/sqlite/file.ts';
import {
  formatCount,
  formatFreeSpace,
  formatInterval,
  formatSize,
} from '../../maintenance/backup/backup-files.ts';
import { type StoredBackup, listBackups, readInstallation } from '../../maintenance/backup/backup-folder.ts';
import { overdueAfterMs } from '../../maintenance/backup/scheduled-backup.ts';
import {
  type CheckContext,
  type Finding,
  type Findings,
  ok,
  problem,
  responds,
  skipped,
  warning,
} from './check-context.ts';
import { isHidden, isWritable, nearestFolder } from './database-checks.ts';
import { describeFileError } from '../../config/start-error.ts';

const megabyte = 2 ** 20;
const minFreeBytes = 64 * megabyte;
const recommendedFreeBytes = 512 * megabyte;
const groupAndOthersBits = 0o077;
/** Access for a group is allowed: it may be a group of users who may read secrets. */
const othersBits = 0o007;
const writableByOthersBits = 0o022;
const stickyBit = 0o1000;

export function* checkFiles({ file, flags }: CheckContext): Iterable<Finding> {
  if (file !== undefined) yield* checkDataFolder(resolve(file));
  for (const { source, path } of listSecretFiles(flags)) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found) continue;
    yield found.mode & othersBits
      ? warning(`All users of this machine can read ${path} (${source}).`, `chmod o= ${path}`)
      : ok(`${path} (${source}) is not readable by all users.`);
  }
}

function* checkDataFolder(file: string): Iterable<Finding> {
  // `checkDatabase` reports this.
  if (isHidden(file)) return;
  const folder = nearestFolder(dirname(file));
  yield checkFreeSpace(folder, sizeOf(file));
  const files = listDatabaseFiles(file);
  const readable = files.filter((each) => statSync(each).mode & groupAndOthersBits);
  if (readable.length > 0) {
    yield warning(
      'Other users of this machine can read the database, which contains the keys that sign tokens.',
      `chmod 600 ${readable.join(' ')}`,
    );
  } else if (files.length > 0) {
    yield ok('Only the owner of the database files can read them.');
  }
  const { mode } = statSync(folder);
  if (mode & writableByOthersBits && !(mode & stickyBit)) {
    yield warning(`Other users can create and delete files in ${folder}.`, `chmod go-w ${folder}`);
  }
  const [first] = files;
  const self = process.getuid?.();
  // `checkDatabase` reports a file that is not writable.
  if (first !== undefined && self && statSync(first).uid !== self && isWritable(first)) {
    yield warning(`The current system user is not the owner of ${first}.`, 'Run espalier as the owner.');
  }
}

function checkFreeSpace(folder: string, usedBytes: number): Finding {
  const { blocks, bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const text = `${formatFreeSpace(free)} are free in ${folder}.`;
  if (blocks === 0 || free >= Math.max(recommendedFreeBytes, usedBytes)) return ok(text);
  const fix = 'Free some space: on a full disk, all changes and logins fail.';
  return free < minFreeBytes ? problem(text, fix) : warning(text, fix);
}

const hourMs = 3_600_000;

export async function* checkBackups(context: CheckContext): Findings {
  const { file, settings, clock } = context;
  if (file === undefined) {
    yield skipped('Espalier does not back up PostgreSQL. Make sure that you back it up with its own tools.');
    return;
  }
  if (settings.backupFolder === undefined) {
    yield skipped(
      "The server makes no backups, because ESPALIER_BACKUP_FOLDER is not set. Make sure that you run 'espalier backup'.",
    );
    return;
  }
  const folder = resolve(settings.backupFolder);
  const unusable = findFolderProblem(folder);
  if (unusable) {
    yield unusable;
    return;
  }
  const database = resolve(file);
  const isThere = statSync(folder, { throwIfNoEntry: false }) !== undefined;
  const backups = isThere ? await listBackups(folder, clock.now()) : [];
  yield* checkOwner(folder, backups, database);
  yield await checkAge(folder, backups, context);
  yield checkBackupSpace(folder, backups.length, { database, keep: settings.backupKeep });
  if (isThere) yield* checkModes(folder, backups);
}

/** Finds a problem that prevents the start of the server. */
function findFolderProblem(folder: string): Finding | undefined {
  const name = `ESPALIER_BACKUP_FOLDER is ${folder}`;
  const nearest = nearestFolder(folder);
  if (!statSync(nearest).isDirectory()) {
    return problem(
      `${name}, but ${nearest} is not a folder.`,
      'Set another folder. Until then, the server does not start.',
    );
  }
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return problem(
      `${name}, ${nearest === folder ? 'which is not writable' : 'which does not exist and cannot be created'}: ${describeFileError(error)}.`,
      `Let the user of the server write to ${nearest}, or set another folder. Until then, the server does not start.`,
    );
  }
}

async function* checkOwner(folder: string, [newest]: readonly StoredBackup[], database: string): Findings {
  if (!newest || isHidden(database) || !sizeOf(database)) return;
  const [ours, theirs] = [await readInstallation(database), await readInstallation(newest.file)];
  if (theirs === undefined) {
    yield problem(
      `Cannot read ${newest.file} as a backup.`,
      'Move the file away. The server then makes a new backup.',
    );
  } else if (ours !== undefined && ours !== theirs) {
    yield problem(
      `${newest.file} is a backup of another installation. The server does not start.`,
      `Use a separate folder for each installation, or move the backups in ${folder} elsewhere.`,
    );
  }
}

async function checkAge(
  folder: string,
  [newest]: readonly StoredBackup[],
  { clock, server, settings }: CheckContext,
): Promise<Finding> {
  const every = `the server makes one ${formatInterval(settings.backupEveryHours)}`;
  const isServed = await responds(server);
  if (!newest) {
    return warning(
      `There is no backup in ${folder} yet.`,
      isServed
        ? 'The server makes the first backup soon after its start. If there is none after a minute, see the log of the server.'
        : 'The server makes the first backup soon after its start.',
    );
  }
  const ageMs = clock.now() - newest.startedAt;
  const hours = Math.floor(ageMs / hourMs);
  const ago = hours === 0 ? 'less than an hour' : formatCount(hours, 'hour');
  const text = `The newest backup in ${folder} is from ${new Date(newest.startedAt).toISOString()}, ${ago} ago; ${every}.`;
  if (ageMs <= settings.backupEveryHours * hourMs + overdueAfterMs) return ok(text);
  return isServed
    ? problem(
        text,
        'See the log of the server or its health in the console. Make sure that the server runs with these settings.',
      )
    : warning(text, 'The server makes the next backup when it starts.');
}

/** Each backup needs more space until `keep` backups exist. From then on, each new backup needs space before the oldest is deleted. */
function checkBackupSpace(folder: string, count: number, of: { database: string; keep: number }): Finding {
  const { blocks, bavail, bsize } = statfsSync(nearestFolder(folder));
  const one = isHidden(of.database) ? 0 : sizeOf(of.database) + sizeOf(`${of.database}-wal`);
  const wanted = one * Math.max(1, of.keep - count + 1);
  const free = bavail * bsize;
  const takes = `; the next backup needs ${formatSize(one)}, and all ${of.keep} that are kept need up to ${formatSize(wanted)} more`;
  const text = `${formatFreeSpace(free)} are free for backups${one > 0 ? takes : ''}.`;
  // Some file systems do not report their size.
  if (blocks === 0 || free >= wanted) return ok(text + sameDisk(folder, of.database));
  const fix = 'Free some space, use a folder on a larger disk, or lower ESPALIER_BACKUP_KEEP.';
  return free < one ? problem(text, fix) : warning(text, fix);
}

function sameDisk(folder: string, database: string): string {
  const [one, other] = [nearestFolder(folder), nearestFolder(dirname(database))].map(
    (each) => statSync(each).dev,
  );
  return one === other
    ? ' The backups are on the same disk as the database: also copy them to another machine.'
    : '';
}

function* checkModes(folder: string, backups: readonly StoredBackup[]): Iterable<Finding> {
  const readable = backups.filter(({ file }) => statSync(file).mode & groupAndOthersBits);
  const { mode } = statSync(folder);
  if (readable.length > 0) {
    yield warning(
      `Other users of this machine can read ${readable.length} of ${formatCount(backups.length, 'backup')}. A backup contains the keys that sign tokens.`,
      `chmod 600 ${folder}/espalier-*.db`,
    );
  } else if (backups.length > 0) {
    yield ok('Only their owner can read the backups.');
  }
  if (mode & writableByOthersBits) {
    yield warning(
      `Other users can create files in ${folder}, which the server would treat as backups.`,
      `chmod go-w ${folder}`,
    );
  }
}
