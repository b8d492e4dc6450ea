/** What a file of an embedded database holds, whatever version of the program wrote it. */

import { applicationId } from '../../database/sqlite/file.ts';
import { openStored, type StoredFile } from '../../database/sqlite/backup.ts';
import { stepsTaken } from '../../database/migrations.ts';
import { sql } from '../../database/statement.ts';
import { readStored } from '../../database/stored-settings.ts';
import { StartError } from '../../config/start-error.ts';

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
  const stored = openStored(file);
  try {
    if (stored.applicationId !== applicationId) throw new StartError('It is of another program.');
    const schema = await stepsTaken(stored);
    if (schema === 0 || !(await readStored(stored, 'issuer'))) {
      throw new StartError('It holds no installation: no server was ever started on it.');
    }
    if (await readStored(stored, 'copying')) {
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

async function count(stored: StoredFile, statement: typeof countFolders): Promise<number> {
  return (await stored.get(statement, {}))!.count;
}

async function journalOf(stored: StoredFile): Promise<Pick<FileContents, 'journalNumber' | 'lastChangeAt'>> {
  const { number } = (await stored.get(findNumber, {}))!;
  return { journalNumber: number, lastChangeAt: (await stored.get(findLast, {}))?.at ?? null };
}
