/** Checks that the database file exists and that this user can use it like a server. Changes nothing. */

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { listDatabaseFiles, sizeOf } from '../../database/sqlite/file.ts';
import { jsonOf } from './http-request.ts';
import type { CheckContext } from './check-context.ts';
import { problem, warning, type Finding } from './finding.ts';

const { R_OK, W_OK, X_OK } = constants;

/**
 * Finds a problem of the file without opening it. Even a reader creates SQLite files next to it, with its own owner and mode, and
 * the server could not write those later.
 */
export async function whyUnusable(
  file: string,
  server: CheckContext['server'],
): Promise<Finding | undefined> {
  const folder = nearestFolder(dirname(file));
  if (isHidden(file)) {
    return problem(
      `This user cannot access ${file}: no permission to enter ${folder}.`,
      permissionFix(folder, 'u+rwx'),
    );
  }
  if (!sizeOf(file)) return (await explainLostFile(file, server)) ?? describeNewFile(file, folder);
  const [first, ...more] = listDatabaseFiles(file).filter((each) => !isWritable(each));
  if (first !== undefined) {
    return problem(
      `This user cannot write ${first}: ${whyNot(first, R_OK | W_OK)}. The server does not start.`,
      permissionFix(first, '600', more),
    );
  }
  const why = whyNot(folder, W_OK | X_OK);
  if (why === undefined) return undefined;
  return problem(
    `This user cannot create files in ${folder}: ${why}. The server does not start, because it creates its write-ahead log there.`,
    permissionFix(folder, 'u+rwx'),
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

/** Returns the nearest existing ancestor folder. */
export function nearestFolder(folder: string): string {
  return existsSync(folder) ? folder : nearestFolder(dirname(folder));
}

async function explainLostFile(
  file: string,
  { url, isExplicit, alive }: CheckContext['server'],
): Promise<Finding | undefined> {
  // A server that the user named explicitly may use another database.
  const response = url === undefined || isExplicit ? undefined : await alive().catch(() => undefined);
  if (response && (jsonOf(response.body) as { status?: string } | undefined)?.status === 'ok') {
    return problem(
      `The database file ${file} is missing, but a server runs at ${url}. The file was moved or deleted, or the server has other settings.`,
      'Put the file back, with its -wal file, before you restart the server. Otherwise, the server would create a new, empty database. If the file was deleted, only the running process still has the data.',
    );
  }
  if (!sizeOf(`${file}-wal`)) return undefined;
  return problem(
    `The database file ${file} is missing, but its write-ahead log exists. The server does not start.`,
    'Put the file back next to its log, or run espalier restore <backup> --replace.',
  );
}

function describeNewFile(file: string, folder: string): Finding {
  const text = `The database file ${file} does not exist yet`;
  const none = `${text}, and this user cannot create it in ${folder}`;
  if (!statSync(folder).isDirectory()) {
    return problem(`${none}: it is not a folder.`, 'Set ESPALIER_DATABASE_URL to another file.');
  }
  const why = whyNot(folder, W_OK | X_OK);
  return why === undefined
    ? warning(`${text}.`, 'The first start of the server creates it.')
    : problem(`${none}: ${why}.`, permissionFix(folder, 'u+rwx'));
}

export function isWritable(file: string): boolean {
  return whyNot(file, R_OK | W_OK) === undefined;
}

/** Undefined if this user has the permission. */
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

function permissionFix(path: string, mode: string, more: readonly string[] = []): string {
  const all = [path, ...more].join(' ');
  if (isOwn(path)) return `chmod ${mode} ${all}`;
  return `Run this command as the user of the server. If you do: chown ${process.getuid?.()} ${all}`;
}

function isOwn(path: string): boolean {
  return statSync(path).uid === process.getuid?.();
}
