/** Whether the database file is where it should be, and whether this user may do with it what a server does. Changes nothing. */

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { listDatabaseFiles, sizeOf } from '../../database/sqlite/file.ts';
import { jsonOf } from './http-request.ts';
import type { Examined } from './check-context.ts';
import { problem, warning, type Finding } from './finding.ts';

const { R_OK, W_OK, X_OK } = constants;

/**
 * Finds a problem of the file without opening it. Even a reader creates SQLite files next to it, with its own owner and mode, and
 * the server could not write those later.
 */
export async function whyUnusable(file: string, server: Examined['server']): Promise<Finding | undefined> {
  const folder = nearestFolder(dirname(file));
  if (isHidden(file)) {
    return problem(
      `${file} cannot be looked at by this user, who may not enter ${folder}.`,
      asServer(folder, 'u+rwx'),
    );
  }
  if (!sizeOf(file)) return (await whyMissing(file, server)) ?? whyNotMade(file, folder);
  const [first, ...more] = listDatabaseFiles(file).filter((each) => !isWritable(each));
  if (first !== undefined) {
    return problem(
      `${first} cannot be written by this user: ${whyNot(first, R_OK | W_OK)}. The server does not start.`,
      asServer(first, '600', more),
    );
  }
  const why = whyNot(folder, W_OK | X_OK);
  if (why === undefined) return undefined;
  return problem(
    `This user can put nothing into ${folder}: ${why}. The log of the database has to be there: the server does not start.`,
    asServer(folder, 'u+rwx'),
  );
}

/** The existence of the file cannot be checked. */
export function isHidden(file: string): boolean {
  try {
    statSync(file, { throwIfNoEntry: false });
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return true;
    throw error;
  }
}

/** One that is there. */
export function nearestFolder(folder: string): string {
  return existsSync(folder) ? folder : nearestFolder(dirname(folder));
}

async function whyMissing(
  file: string,
  { url, isGiven, alive }: Examined['server'],
): Promise<Finding | undefined> {
  // A path in the settings may belong to another database.
  const answer = url === undefined || isGiven ? undefined : await alive().catch(() => undefined);
  if (answer && (jsonOf(answer.body) as { status?: string } | undefined)?.status === 'ok') {
    return problem(
      `The database file ${file} is gone, and a server runs at ${url}: it was moved away or deleted, or that server has other settings.`,
      'Put the file back where it was, with its -wal. Do not restart the server before: it would make a new, empty database, and of a file that was deleted its process has the last copy.',
    );
  }
  if (!sizeOf(`${file}-wal`)) return undefined;
  return problem(
    `There is no database file ${file}, but its write-ahead log is there: the server does not start.`,
    'Put the file back beside it, or run espalier restore <backup> --replace.',
  );
}

function whyNotMade(file: string, folder: string): Finding {
  const text = `There is no database file ${file} yet`;
  const none = `${text}, and this user can put none into ${folder}`;
  if (!statSync(folder).isDirectory()) {
    return problem(`${none}: it is no folder.`, 'Name another file in ESPALIER_DATABASE_URL.');
  }
  const why = whyNot(folder, W_OK | X_OK);
  return why === undefined
    ? warning(`${text}.`, 'The first start of the server makes it.')
    : problem(`${none}: ${why}.`, asServer(folder, 'u+rwx'));
}

export function isWritable(file: string): boolean {
  return whyNot(file, R_OK | W_OK) === undefined;
}

/** In a few words; undefined if they may. */
function whyNot(path: string, mode: number): string | undefined {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EROFS') return 'its disk is mounted read-only';
    if (code !== 'EACCES') return message;
    return isOwn(path) ? 'its mode does not allow it' : `it belongs to the user ${statSync(path).uid}`;
  }
}

function asServer(path: string, mode: string, more: readonly string[] = []): string {
  const all = [path, ...more].join(' ');
  if (isOwn(path)) return `chmod ${mode} ${all}`;
  return `Run this as the user of the server. If this is that user: chown ${process.getuid?.()} ${all}`;
}

function isOwn(path: string): boolean {
  return statSync(path).uid === process.getuid?.();
}
