/** Creates a file that gets its name when it is complete and on the disk; until then it has a temporary name in the same folder. */

import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolders } from '../../database/sqlite/file.ts';
import { StartError } from '../../config/start-error.ts';
import { formatFreeSpace, formatSize } from './format-size.ts';
import { statSync, fstatSync, fchownSync, lchownSync } from 'node:fs';

/** Errors of file systems without hard links. */
const noLinks = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK']);

export interface NewFile {
  /** The temporary name. */
  readonly path: string;
  /** Syncs the file and gives it its name. */
  finish(options: { readonly isReplacing: boolean }): void;
  /** Removes the temporary files; does nothing after `finish`. */
  abandon(): void;
}

/** Only the owner can read it. Without `owner`, that is the user of the process. */
export function beginFile(name: string, owner?: Owner): NewFile {
  const path = `${name}.unfinished-${randomBytes(4).toString('hex')}`;
  const descriptor = create(path, dirname(name));
  try {
    if (owner) changeFileOwner(descriptor, owner);
  } catch (error) {
    rmSync(path);
    throw error;
  } finally {
    closeSync(descriptor);
  }
  return {
    path,
    finish({ isReplacing }) {
      sync(path);
      if (isReplacing) renameSync(path, name);
      else renameToNew(path, name);
      syncFolders(dirname(name), dirname(name));
    },
    abandon: () => {
      for (const end of ['', '-journal', '-wal', '-shm']) rmSync(path + end, { force: true });
    },
  };
}

function create(path: string, folder: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (cause) {
    throw new StartError(`No file can be made in ${folder}: ${(cause as Error).message}.`, { cause });
  }
}

/** Does not overwrite a file that was created meanwhile. */
function renameToNew(path: string, name: string): void {
  try {
    linkSync(path, name);
    rmSync(path);
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    if (!noLinks.has(code)) throw new StartError(`The file ${name} cannot be made: ${message}.`, { cause });
    renameSync(path, name);
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Checked in advance, so that a copy does not fail halfway. */
export function requireRoom(folder: string, bytes: number): void {
  const { blocks, bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  // Some file systems do not report their size.
  if (blocks === 0 || free >= bytes) return;
  throw new StartError(
    `There is no room in ${folder}: it takes ${formatSize(bytes)}, and ${formatFreeSpace(free)} are free.`,
  );
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The owner of the first existing path: a file that root creates gets the owner of the file that it replaces, or of its folder.
 * Undefined if the process is not root. Call it before anything is created.
 */
export function ownerFor(paths: readonly string[]): Owner | undefined {
  if (process.geteuid?.() !== 0) return undefined;
  const found = paths
    .map((path) => statSync(path, { throwIfNoEntry: false }))
    .find((each) => each !== undefined);
  return found && { uid: found.uid, gid: found.gid };
}

/** The folder and all folders above it, the deepest first. */
export function foldersFrom(folder: string): string[] {
  return folder === dirname(folder) ? [folder] : [folder, ...foldersFrom(dirname(folder))];
}

/** Uses the descriptor: in a folder of another user, the name may lead to another file a moment later. */
function changeFileOwner(descriptor: number, owner: Owner): void {
  const { uid, gid } = fstatSync(descriptor);
  // Some file systems have one owner for all files, and refuse to change it.
  if (uid === owner.uid && gid === owner.gid) return;
  explainOwnerErrors(owner, () => fchownSync(descriptor, owner.uid, owner.gid));
}

export function giveFolders(folders: readonly string[], owner: Owner): void {
  for (const folder of folders) explainOwnerErrors(owner, () => lchownSync(folder, owner.uid, owner.gid));
}

function explainOwnerErrors({ uid }: Owner, change: () => void): void {
  try {
    change();
  } catch (cause) {
    throw new StartError(
      `What is made cannot be given to the user ${uid}, whose the database is: ${(cause as Error).message}. Run it as that user.`,
      { cause },
    );
  }
}
