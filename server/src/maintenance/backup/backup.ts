/**
 * A backup of an embedded database, made while servers use it: one file, of one moment, for its owner alone. It gets its
 * name when it is on the disk and found to be whole.
 */

import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { copyDatabaseFile, type DatabaseFile, openDatabaseFile } from '../../database/sqlite/backup.ts';
import { findDamage } from '../../database/sqlite/backup.ts';
import { codeOf, isDamage } from '../../database/sqlite/errors.ts';
import { applicationId, prepareFile, sizeOf } from '../../database/sqlite/file.ts';
import { StartError } from '../../config/start-error.ts';
import { beginFile, requireRoom } from './new-file.ts';
import { requireSchemaVersion } from '../../database/migrations.ts';
import { sql } from '../../database/statement.ts';
import { readSetting } from '../../database/stored-settings.ts';

export interface BackupOptions {
  readonly from: string;
  readonly to: string;
  /** An older backup of that name may go. */
  readonly isReplacing: boolean;
  readonly onPages?: (done: number, total: number) => void;
  /** It is copied, and is now looked through. */
  readonly onCheck?: () => void;
  readonly signal?: AbortSignal;
}

export interface Backup extends FileContents {
  readonly file: string;
  readonly bytes: number;
}

export async function makeBackup({ onPages, onCheck, signal, ...given }: BackupOptions): Promise<Backup> {
  const from = prepareFile(given.from, { mustExist: true });
  const to = resolve(given.to);
  requireTarget(to, from, given.isReplacing);
  requireRoom(dirname(to), sizeOf(from) + sizeOf(`${from}-wal`));
  const target = beginFile(to);
  try {
    await written(from, to, () => copyDatabaseFile(from, target.path, { onPages, signal }));
    onCheck?.();
    const [finding] = await findDamage(target.path, { signal });
    if (finding) throw damaged(from, finding);
    const contents = await explained(from, () => readContents(target.path));
    requireTarget(to, from, given.isReplacing);
    target.finish({ isReplacing: given.isReplacing });
    return { file: to, bytes: sizeOf(to), ...contents };
  } finally {
    target.abandon();
  }
}

function requireTarget(to: string, from: string, isReplacing: boolean): void {
  const folder = dirname(to);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new StartError(`There is no folder ${folder}.`);
  }
  const found = statSync(to, { throwIfNoEntry: false });
  if (!found) return;
  if (!found.isFile()) throw new StartError(`${to} is not a file. Name the file that is to be made.`);
  const { dev, ino } = statSync(from);
  const isItself = found.dev === dev && found.ino === ino;
  if (isItself || sizeOf(`${to}-wal`)) {
    throw new StartError(`${to} is a database in use, and not overwritten. Name another file.`);
  }
  if (!isReplacing) throw new StartError(`There is a file ${to} already. Give --force to replace it.`);
}

async function explained<T>(from: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof StartError)) throw cause;
    throw new StartError(`No backup of ${from} was made. ${cause.message}`, { cause });
  }
}

/** What can go wrong with the disk is the operator's matter. */
async function written(from: string, to: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (isDamage(cause)) throw damaged(from, (cause as Error).message);
    if (!codeOf(cause)) throw cause;
    throw new StartError(`The backup cannot be written to ${dirname(to)}: ${(cause as Error).message}.`, {
      cause,
    });
  }
}

function damaged(from: string, finding: string): StartError {
  return new StartError(
    `No backup was made, because the database file ${from} is damaged: ${finding}. docs/durability.md tells what to do.`,
  );
}
export interface FileContents {
  /** How many steps of the migrations it has taken. */
  readonly schema: number;
  /** With those in the trash. */
  readonly folders: number;
  readonly users: number;
  /** Nobody can make tokens with it who has not the master key, too. */
  readonly areKeysSealed: boolean;
  /** Up to where the journal goes; null in the oldest files, which have none. */
  readonly journalNumber: number | null;
  /** When the last change was made that the journal has. */
  readonly lastChangeAt: number | null;
}
const countFolders = sql<object, { count: number }>`select count(*) as count from folders`;
const countUsers = sql<object, { count: number }>`select count(*) as count from users`;
const countOpenKeys = sql<object, { count: number }>`
  select count(*) as count from signing_keys where sealed_with is null`;
const findNumber = sql<object, { number: number }>`select number from journal_counter`;
const findLast = sql<object, { at: number }>`select at from journal order by number desc limit 1`;
/** Before this step of the migrations none were. */
const firstWithSeals = 6;
/** Refuses what is no installation, or of a newer program. */

export async function readContents(file: string): Promise<FileContents> {
  const stored = openDatabaseFile(file);
  try {
    if (stored.applicationId !== applicationId) throw new StartError('It is of another program.');
    const schema = await requireSchemaVersion(stored);
    if (schema === 0 || !(await readSetting(stored, 'issuer'))) {
      throw new StartError('It holds no installation: no server was ever started on it.');
    }
    if (await readSetting(stored, 'copying')) {
      throw new StartError('It holds an unfinished copy of an installation.');
    }
    const tables = await stored.tableNames();
    return {
      schema,
      folders: await count(stored, countFolders),
      users: await count(stored, countUsers),
      areKeysSealed: schema >= firstWithSeals && (await count(stored, countOpenKeys)) === 0,
      ...(tables.includes('journal_counter')
        ? await journalOf(stored)
        : { journalNumber: null, lastChangeAt: null }),
    };
  } finally {
    stored.close();
  }
}

async function count(stored: DatabaseFile, statement: typeof countFolders): Promise<number> {
  return (await stored.get(statement, {}))!.count;
}

async function journalOf(
  stored: DatabaseFile,
): Promise<Pick<FileContents, 'journalNumber' | 'lastChangeAt'>> {
  const { number } = (await stored.get(findNumber, {}))!;
  return { journalNumber: number, lastChangeAt: (await stored.get(findLast, {}))?.at ?? null };
}
