/**
 * Makes a backup of a SQLite database while servers use it. The backup is one file with a snapshot, which only its owner can
 * read. The file gets its final name when it is on the disk and was checked for damage.
 */

import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { copyDatabaseFile, findDamage, openDatabaseFile } from '../../database/sqlite/backup.ts';
import { sqliteCodeOf, isDamage } from '../../database/sqlite/faults.ts';
import { applicationId, prepareFile, sizeOf } from '../../database/sqlite/file.ts';
import { StartError } from '../../config/start-error.ts';
import { NewFile, requireRoom } from './backup-files.ts';
import { requireSchemaVersion } from '../../database/migrations.ts';
import { sql } from '../../database/statement.ts';
import { readInstallationValue } from '../../database/installation-values.ts';

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
  const target = new NewFile(to);
  try {
    await copyDatabaseFile(from, target.path, { onPages, signal }).catch((error: unknown) => {
      throw explainCopyError(error, from, to);
    });
    onCheck?.();
    const [finding] = await findDamage(target.path, { signal });
    if (finding) throw damageError(from, finding);
    const contents = await readContents(target.path).catch((cause: unknown) => {
      if (!(cause instanceof StartError)) throw cause;
      throw new StartError(`Cannot back up ${from}. ${cause.message}`, { cause });
    });
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
    throw new StartError(`There is no folder ${folder}. Create it, or choose another folder.`);
  }
  const found = statSync(to, { throwIfNoEntry: false });
  if (!found) return;
  if (!found.isFile()) throw new StartError(`${to} is not a file. Give the name of the new file.`);
  const { dev, ino } = statSync(from);
  const isItself = found.dev === dev && found.ino === ino;
  if (isItself || sizeOf(`${to}-wal`)) {
    throw new StartError(`Cannot overwrite ${to}: it is a database in use. Choose another file.`);
  }
  if (!isReplacing) throw new StartError(`${to} already exists. To replace it, use --force.`);
}

/** Turns errors of the disk into messages for the operator. */
function explainCopyError(cause: unknown, from: string, to: string): unknown {
  if (isDamage(cause)) return damageError(from, (cause as Error).message);
  if (!sqliteCodeOf(cause)) return cause;
  return new StartError(`Cannot write the backup to ${dirname(to)}: ${(cause as Error).message}.`, { cause });
}

function damageError(from: string, finding: string): StartError {
  return new StartError(
    `Cannot back up ${from}: the database is damaged: ${finding}. Run 'espalier docs durability' for the steps.`,
  );
}

/** The contents of a database file of any version. */
export interface FileContents {
  /** The number of migrations that were applied to the file. */
  readonly schema: number;
  /** The number of folders, including the trash. */
  readonly folders: number;
  readonly users: number;
  /** True if the signing keys are encrypted, so that a server also needs the master key to create tokens. */
  readonly areKeysSealed: boolean;
  /** The last number of the journal; null in the oldest files, which have no journal. */
  readonly journalNumber: number | null;
  /** The time of the last journal entry. */
  readonly lastChangeAt: number | null;
}

const countRows = sql<object, { folders: number; users: number }>`
  select (select count(*) from folders) as folders, (select count(*) from users) as users`;
const countPlainKeys = sql<object, { count: number }>`
  select count(*) as count from signing_keys where sealed_with is null`;
const findJournalEnd = sql<object, { number: number; at: number | null }>`
  select number, (select at from journal order by number desc limit 1) as at from journal_counter`;
/** The migrations that added the journal and encrypted keys. */
const journalMigration = 3;
const sealMigration = 6;

/** Refuses a file without an installation, and a file of a newer version. */
export async function readContents(file: string): Promise<FileContents> {
  const database = openDatabaseFile(file);
  try {
    if (database.applicationId !== applicationId) throw new StartError('It belongs to another program.');
    const schema = await requireSchemaVersion(database);
    if (schema === 0 || !(await readInstallationValue(database, 'issuer'))) {
      throw new StartError('It contains no installation, because no server was ever started on it.');
    }
    if (await readInstallationValue(database, 'copying')) {
      throw new StartError('It contains an unfinished copy of an installation.');
    }
    const journal = schema >= journalMigration ? await database.get(findJournalEnd, {}) : undefined;
    return {
      schema,
      ...(await database.get(countRows, {}))!,
      areKeysSealed: schema >= sealMigration && (await database.get(countPlainKeys, {}))!.count === 0,
      journalNumber: journal?.number ?? null,
      lastChangeAt: journal?.at ?? null,
    };
  } finally {
    database.close();
  }
}
