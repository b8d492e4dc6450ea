/** Checks scheduled backups: their age, free space and file permissions. Writes nothing to their folder. */

import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { listBackups, readInstallation, type StoredBackup } from '../../maintenance/backup/backup-folder.ts';
import { overdueAfterMs } from '../../maintenance/backup/scheduled-backup.ts';
import {
  formatCount,
  formatInterval,
  formatFreeSpace,
  formatSize,
} from '../../maintenance/backup/format-size.ts';
import { sizeOf } from '../../database/sqlite/file.ts';
import { isHidden, nearestFolder } from './database-file-check.ts';
import { answers, type Examined } from './check-context.ts';
import { ok, problem, skipped, warning, type Finding, type Findings } from './finding.ts';

const hourMs = 3_600_000;
const others = 0o077;
const mayChange = 0o022;

export async function* checkBackups(examined: Examined): Findings {
  const { file, settings, clock } = examined;
  if (file === undefined) {
    yield skipped('Backups of a PostgreSQL are made with its own tools: see to it that they are.');
    return;
  }
  if (settings.backupFolder === undefined) {
    yield skipped(
      'The server makes none by itself: ESPALIER_BACKUP_FOLDER is not set. See to it that espalier backup is run.',
    );
    return;
  }
  const folder = resolve(settings.backupFolder);
  const unusable = unusableFolder(folder);
  if (unusable) {
    yield unusable;
    return;
  }
  const database = resolve(file);
  const isThere = statSync(folder, { throwIfNoEntry: false }) !== undefined;
  const kept = isThere ? await listBackups(folder, clock.now()) : [];
  yield* checkOwner(folder, kept, database);
  yield await ageOf(folder, kept, examined);
  yield roomFor(folder, kept.length, { database, keep: settings.backupKeep });
  if (isThere) yield* checkModes(folder, kept);
}

/** What stops the start of the server. */
function unusableFolder(folder: string): Finding | undefined {
  const name = `ESPALIER_BACKUP_FOLDER names ${folder}`;
  const nearest = nearestFolder(folder);
  if (!statSync(nearest).isDirectory()) {
    return problem(
      `${name}, and ${nearest} is no folder.`,
      'Name another. Until then the server does not start.',
    );
  }
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return problem(
      `${name}, ${nearest === folder ? 'into which nothing can be written' : 'which is not there and cannot be made'}: ${(error as Error).message}.`,
      `Let the user of the server write to ${nearest}, or name another folder. Until then the server does not start.`,
    );
  }
}

async function* checkOwner(folder: string, [newest]: readonly StoredBackup[], database: string): Findings {
  if (!newest || isHidden(database) || !sizeOf(database)) return;
  const [ours, theirs] = [await readInstallation(database), await readInstallation(newest.file)];
  if (theirs === undefined) {
    yield problem(
      `${newest.file} is not a backup that can be read.`,
      'Move it away; the server then makes a new one.',
    );
  } else if (ours !== undefined && ours !== theirs) {
    yield problem(
      `${newest.file} is a backup of another installation: the server does not start.`,
      `Give each a folder of its own, or move what is in ${folder} elsewhere.`,
    );
  }
}

async function ageOf(
  folder: string,
  [newest]: readonly StoredBackup[],
  { clock, server, settings }: Examined,
): Promise<Finding> {
  const every = `one is made ${formatInterval(settings.backupEveryHours)}`;
  const isServed = await answers(server);
  if (!newest) {
    return warning(
      `There is no backup in ${folder} yet.`,
      isServed
        ? 'The first is made soon after the start. If there is none a minute later, the log of the server says why.'
        : 'The server makes the first one soon after it is started.',
    );
  }
  const ageMs = clock.now() - newest.startedAt;
  const hours = Math.floor(ageMs / hourMs);
  const ago = hours === 0 ? 'less than an hour' : formatCount(hours, 'hour');
  const text = `The newest backup in ${folder} is of ${new Date(newest.startedAt).toISOString()}, ${ago} ago; ${every}.`;
  if (ageMs <= settings.backupEveryHours * hourMs + overdueAfterMs) return ok(text);
  return isServed
    ? problem(
        text,
        'The log of the server says why, and so does its health in the console. Was it started with these settings?',
      )
    : warning(text, 'The server makes the next one when it is started.');
}

/** Until so many are kept as are wanted, each takes more; then an old one goes only after a new one is made. */
function roomFor(folder: string, count: number, of: { database: string; keep: number }): Finding {
  const { blocks, bavail, bsize } = statfsSync(nearestFolder(folder));
  const one = isHidden(of.database) ? 0 : sizeOf(of.database) + sizeOf(`${of.database}-wal`);
  const wanted = one * Math.max(1, of.keep - count + 1);
  const free = bavail * bsize;
  const takes = `; the next one takes ${formatSize(one)}, and all ${of.keep} that are kept up to ${formatSize(wanted)} more`;
  const text = `${formatFreeSpace(free)} are free for backups${one > 0 ? takes : ''}.`;
  // Some file systems do not report it.
  if (blocks === 0 || free >= wanted) return ok(text + sameDisk(folder, of.database));
  const fix = 'Make room, take a folder on a larger disk, or lower ESPALIER_BACKUP_KEEP.';
  return free < one ? problem(text, fix) : warning(text, fix);
}

function sameDisk(folder: string, database: string): string {
  const [one, other] = [nearestFolder(folder), nearestFolder(dirname(database))].map(
    (each) => statSync(each).dev,
  );
  return one === other ? ' They are on the disk of the database: copy them elsewhere, too.' : '';
}

function* checkModes(folder: string, kept: readonly StoredBackup[]): Iterable<Finding> {
  const readable = kept.filter(({ file }) => statSync(file).mode & others);
  const { mode } = statSync(folder);
  if (readable.length > 0) {
    yield warning(
      `Others on this machine may read ${readable.length} of ${formatCount(kept.length, 'backup')}, with the keys that sign tokens.`,
      `chmod 600 ${folder}/espalier-*.db`,
    );
  } else if (kept.length > 0) {
    yield ok('The backups are for their owner alone.');
  }
  if (mode & mayChange) {
    yield warning(
      `Others may put files into ${folder}, which would be taken for backups.`,
      `chmod go-w ${folder}`,
    );
  }
}
