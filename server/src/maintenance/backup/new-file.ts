/** A file that gets its name only when it is whole and on the disk: until then it stands beside, under another. */

import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolders } from '../../database/sqlite/file.ts';
import { StartError } from '../../config/start-error.ts';
import { formatFreeSpace, formatSize } from './format-size.ts';
import { statSync, fstatSync, fchownSync, lchownSync } from 'fs';

/** Other file systems than most have no second names for a file. */
const noLinks = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK']);

export interface NewFile {
  /** Where it is written to. */
  readonly path: string;
  /** Gives it its name. */
  finish(options: { readonly isReplacing: boolean }): void;
  /** Leaves nothing behind, unless it is finished. */
  abandon(): void;
}

/** For its owner alone, who is somebody else than who makes it only if given. */
export function beginFile(name: string, owner?: Owner): NewFile {
  const path = `${name}.unfinished-${randomBytes(4).toString('hex')}`;
  const descriptor = create(path, dirname(name));
  try {
    if (owner) giveFile(descriptor, owner);
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
      else giveNewName(path, name);
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

/** Somebody may have made one of that name meanwhile: it is not overwritten. */
function giveNewName(path: string, name: string): void {
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

/** Better now than after half of it. */
export function requireRoom(folder: string, bytes: number): void {
  const { blocks, bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  // Some file systems do not tell.
  if (blocks === 0 || free >= bytes) return;
  throw new StartError(
    `There is no room in ${folder}: it takes ${formatSize(bytes)}, and ${formatFreeSpace(free)} are free.`,
  );
}
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}
/** Undefined if it stays with who makes it. To be asked before anything is made. */

export function ownerFor(places: readonly string[]): Owner | undefined {
  if (process.geteuid?.() !== 0) return undefined;
  const found = places
    .map((place) => statSync(place, { throwIfNoEntry: false }))
    .find((each) => each !== undefined);
  return found && { uid: found.uid, gid: found.gid };
}
/** The folder and all above it, from below. */

export function foldersFrom(folder: string): string[] {
  return folder === dirname(folder) ? [folder] : [folder, ...foldersFrom(dirname(folder))];
}
/** By its descriptor: in the folder of another user, a name may be that of another file a moment later. */

export function giveFile(descriptor: number, owner: Owner): void {
  const { uid, gid } = fstatSync(descriptor);
  // Some file systems have one owner for all, and refuse to change it.
  if (uid === owner.uid && gid === owner.gid) return;
  given(owner, () => fchownSync(descriptor, owner.uid, owner.gid));
}

export function giveFolders(folders: readonly string[], owner: Owner): void {
  for (const folder of folders) given(owner, () => lchownSync(folder, owner.uid, owner.gid));
}
function given({ uid }: Owner, give: () => void): void {
  try {
    give();
  } catch (cause) {
    throw new StartError(
      `What is made cannot be given to the user ${uid}, whose the database is: ${(cause as Error).message}. Run it as that user.`,
      { cause },
    );
  }
}
