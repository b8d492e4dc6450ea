/**
 * A backup of an embedded database, made while servers use it: one file, of one moment, for its owner alone. It gets its
 * name when it is on the disk and found to be whole.
 */

import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { copyInUse } from '../../database/sqlite/backup.ts';
import { findDamage } from '../../database/sqlite/check.ts';
import { codeOf, isDamage } from '../../database/sqlite/errors.ts';
import { prepareFile, sizeOf } from '../../database/sqlite/file.ts';
import { StartError } from '../../config/start-error.ts';
import { readContents, type FileContents } from './contents.ts';
import { beginFile, requireRoom } from './new-file.ts';

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
    await written(from, to, () => copyInUse(from, target.path, { onPages, signal }));
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
