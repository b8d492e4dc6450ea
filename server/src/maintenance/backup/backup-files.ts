/**
 * The files that backup and restore create. A file gets its final name when it is complete and on the disk. If root creates it, it
 * gets the owner of the database. Also formats sizes for people.
 */

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lchownSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { syncFolders, withDescriptor } from '../../database/sqlite/file.ts';
import { StartError, fileError, describeFileError } from '../../config/start-error.ts';

/** Errors of file systems without hard links. */
const noLinks = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK']);

/** A new file, which has a temporary name in the same folder until it is complete. Only the owner can read the file. */
export class NewFile {
  /** The temporary name. */
  readonly path: string;
  readonly #name: string;

  /** Without `owner`, the file belongs to the user of the process. */
  constructor(name: string, owner?: Owner) {
    this.#name = name;
    this.path = `${name}.unfinished-${randomBytes(4).toString('hex')}`;
    const descriptor = create(this.path, dirname(name));
    try {
      if (owner) changeFileOwner(descriptor, owner);
    } catch (error) {
      rmSync(this.path);
      throw error;
    } finally {
      closeSync(descriptor);
    }
  }

  /** Syncs the file and gives it the final name. */
  finish({ isReplacing }: { readonly isReplacing: boolean }): void {
    withDescriptor(this.path, 'r+', fsyncSync);
    if (isReplacing) renameSync(this.path, this.#name);
    else renameToNew(this.path, this.#name);
    syncFolders(dirname(this.#name), dirname(this.#name));
  }

  /** Removes the temporary files; does nothing after `finish`. */
  abandon(): void {
    for (const end of ['', '-journal', '-wal', '-shm']) rmSync(this.path + end, { force: true });
  }
}

function create(path: string, folder: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (cause) {
    throw fileError(`Cannot create a file in ${folder}`, cause);
  }
}

/** Does not overwrite a file that was created meanwhile. */
function renameToNew(path: string, name: string): void {
  try {
    linkSync(path, name);
    rmSync(path);
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    if (!noLinks.has(code)) throw fileError(`Cannot create the file ${name}`, cause);
    renameSync(path, name);
  }
}

/** Call it before a copy, so that a full disk does not stop the copy halfway. */
export function requireRoom(folder: string, bytes: number): void {
  const { blocks, bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  // Some file systems do not report their size.
  if (blocks === 0 || free >= bytes) return;
  throw new StartError(
    `Not enough free space in ${folder}: ${formatSize(bytes)} are required, and ${formatFreeSpace(free)} are free.`,
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

/** Uses a descriptor, because in a folder of another user, the name may lead to another file a moment later. */
function changeFileOwner(descriptor: number, owner: Owner): void {
  const { uid, gid } = fstatSync(descriptor);
  // Some file systems have one owner for all files, and refuse to change it.
  if (uid === owner.uid && gid === owner.gid) return;
  explainOwnerErrors(owner, () => fchownSync(descriptor, owner.uid, owner.gid));
}

export function changeFolderOwners(folders: readonly string[], owner: Owner): void {
  for (const folder of folders) explainOwnerErrors(owner, () => lchownSync(folder, owner.uid, owner.gid));
}

function explainOwnerErrors({ uid }: Owner, change: () => void): void {
  try {
    change();
  } catch (cause) {
    throw new StartError(
      `Cannot make user ${uid}, the owner of the database, the owner of the new files: ${describeFileError(cause)}. Run the command as that user.`,
      { cause },
    );
  }
}

const kilobyte = 2 ** 10;
const megabyte = 2 ** 20;

/** Rounds up, so that a file that does not fit never seems to fit. */
export function formatSize(bytes: number): string {
  return formatRounded(bytes, Math.ceil);
}

/** Rounds down, so that a file that does not fit never seems to fit. */
export function formatFreeSpace(bytes: number): string {
  return formatRounded(bytes, Math.floor);
}

function formatRounded(bytes: number, round: (number: number) => number): string {
  if (bytes < megabyte) return `${formatNumber(round(bytes / kilobyte))} kB`;
  if (bytes < 10 * megabyte) return `${formatNumber(round((bytes / megabyte) * 10) / 10)} MB`;
  return `${formatNumber(round(bytes / megabyte))} MB`;
}

/** For example "1 folder" or "2,000 folders". */
export function formatCount(number: number, one: string): string {
  return `${formatNumber(number)} ${one}${number === 1 ? '' : 's'}`;
}

/** For example "every 6 hours". */
export function formatInterval(hours: number): string {
  return hours === 1 ? 'every hour' : `every ${hours} hours`;
}

function formatNumber(number: number): string {
  return number.toLocaleString('en');
}
