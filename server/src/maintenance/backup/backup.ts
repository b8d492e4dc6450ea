/**
 * Makes a backup of a SQLite database while servers use it: one file with a snapshot, which only its owner can read. It gets
 * its name when it is on the disk and was checked for damage.
 */

import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  copyDatabaseFile,
  findDamage,
  openDatabaseFile,
  type DatabaseFile,
} from '../../database/sqlite/backup.ts';
import { codeOf, isDamage } from '../../database/sqlite/errors.ts';
import { applicationId, prepareFile, sizeOf } from '../../database/sqlite/file.ts';
import { StartError } from '../../config/start-error.ts';
import { beginFile, requireRoom } from './atomic-file.ts';
import { requireSchemaVersion } from '../../database/migrations.ts';
import { sql } from '../../database/statement.ts';
import { readSetting } from '../../database/installation-values.ts';

interface BackupOptions {
  readonly from: string;
  readonly to: string;
  /** An existing file with this name may be replaced. */
  readonly isReplacing: boolean;
  readonly onPages?: (done: number, total: number) => void;
  /** Called after the copy, before the check. */
  readonly onCheck?: () => void;
  readonly signal?: AbortSignal;
}

export interface Backup extends FileContents {
  readonly file: string;
  readonly bytes: number;
}

export async function makeBackup({ onPages, onCheck, signal, ...options }: BackupOptions): Promise<Backup> {
  const from = prepareFile(options.from, { mustExist: true });
  const to = resolve(options.to);
  requireTarget(to, from, options.isReplacing);
  requireRoom(dirname(to), sizeOf(from) + sizeOf(`${from}-wal`));
  const target = beginFile(to);
  try {
    await explainWriteErrors(from, to, () => copyDatabaseFile(from, target.path, { onPages, signal }));
    onCheck?.();
    const [finding] = await findDamage(target.path, { signal });
    if (finding) throw damaged(from, finding);
    const contents = await explainErrors(from, () => readContents(target.path));
    requireTarget(to, from, options.isReplacing);
    target.finish({ isReplacing: options.isReplacing });
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

async function explainErrors<T>(from: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof StartError)) throw cause;
    throw new StartError(`No backup of ${from} was made. ${cause.message}`, { cause });
  }
}

/** Turns errors of the disk into messages for the operator. */
async function explainWriteErrors(from: string, to: string, work: () => Promise<void>): Promise<void> {
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

/** The contents of a database file of any version. */
export interface FileContents {
  /** The number of migrations that it has. */
  readonly schema: number;
  /** Including the trash. */
  readonly folders: number;
  readonly users: number;
  /** Creating tokens with its keys also requires the master key. */
  readonly areKeysSealed: boolean;
  /** The last number of the journal; null in the oldest files, which have no journal. */
  readonly journalNumber: number | null;
  /** The time of the last journal entry. */
  readonly lastChangeAt: number | null;
}

const countFolders = sql<object, { count: number }>`select count(*) as count from folders`;
const countUsers = sql<object, { count: number }>`select count(*) as count from users`;
const countPlainKeys = sql<object, { count: number }>`
  select count(*) as count from signing_keys where sealed_with is null`;
const findNumber = sql<object, { number: number }>`select number from journal_counter`;
const findLast = sql<object, { at: number }>`select at from journal order by number desc limit 1`;
/** The migration that added encrypted keys. */
const firstWithSeals = 6;

/** Refuses a file that is no installation or is of a newer version. */
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
      areKeysSealed: schema >= firstWithSeals && (await count(stored, countPlainKeys)) === 0,
      ...(tables.includes('journal_counter')
        ? await readJournalEnd(stored)
        : { journalNumber: null, lastChangeAt: null }),
    };
  } finally {
    stored.close();
  }
}

async function count(stored: DatabaseFile, statement: typeof countFolders): Promise<number> {
  return (await stored.get(statement, {}))!.count;
}

async function readJournalEnd(
  stored: DatabaseFile,
): Promise<Pick<FileContents, 'journalNumber' | 'lastChangeAt'>> {
  const { number } = (await stored.get(findNumber, {}))!;
  return { journalNumber: number, lastChangeAt: (await stored.get(findLast, {}))?.at ?? null };
}
