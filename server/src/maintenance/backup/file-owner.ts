/**
 * Whose a file will be that root makes for somebody else: of whom that was which it replaces, or else of whom its folder is. Who is not
 * root can give nothing away, and nothing is done then.
 */

import { fchownSync, fstatSync, lchownSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StartError } from '../../config/start-error.ts';

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
