/** Grants, revokes and explains access to a folder. */

import { isDeepStrictEqual } from 'node:util';
import { accessLevelName, accessLevels, type Access, type AccessLevel } from '../access/access.ts';
import { putGrant, removeGrant, requireSubject, toSubject, type RequestedSubject } from '../access/grants.ts';
import { readUserAccess, type DecidingGrant, type UserAccess } from '../access/user-access.ts';
import type { Transaction } from '../database/database.ts';
import { noResult, type Caller, type Changed, type Changes } from '../journal/changes.ts';
import { Refusal } from '../refusal.ts';
import type { MovedPaths } from './folder-writes.ts';
import { requireLevel } from './change-rules.ts';
import { requireFolder, viewTree, type Folder, type TreeView } from './folders.ts';

const { MANAGE } = accessLevels;

export interface GrantInput extends RequestedSubject {
  readonly folderId: string;
}

export interface Grants {
  /** Replaces the grant that the user or group has on the folder, if any. */
  set(caller: Caller, input: GrantInput & { readonly level: AccessLevel }): Promise<Changed<void>>;
  remove(caller: Caller, input: GrantInput): Promise<Changed<void>>;
}

export function manageGrants(changes: Changes<Access>): Grants {
  return {
    set: (caller, input) =>
      changes.run(caller, {
        codec: noResult,
        work: async (transaction, access, by) => {
          const { folderId, level } = input;
          await requireManaged(transaction, access, folderId);
          const subject = await requireSubject(transaction, input);
          await putGrant(transaction, { folderId, subject, level }, by);
        },
      }),
    remove: (caller, input) =>
      changes.run(caller, {
        codec: noResult,
        work: async (transaction, access, by) => {
          const { folderId } = input;
          await requireManaged(transaction, access, folderId);
          if (!(await removeGrant(transaction, { folderId, subject: toSubject(input) }, by))) {
            throw new Refusal('NOT_FOUND', 'There is no such grant on this folder.');
          }
        },
      }),
  };
}

async function requireManaged(transaction: Transaction, access: Access, folderId: string): Promise<void> {
  requireLevel(await requireFolder(viewTree(transaction, access), folderId), MANAGE);
}

export interface AccessExplanation extends UserAccess {
  readonly folder: Folder;
  readonly deciding: (DecidingGrant & { readonly folder: Folder }) | undefined;
  /** A sentence for people. */
  readonly reason: string;
}

/** Explains which level a user has on a folder. Needs MANAGE on the folder, except for the viewer's own access. */
export async function explainAccess(
  view: TreeView,
  userId: string,
  folderId: string,
): Promise<AccessExplanation> {
  const { reader, access, ancestry } = view;
  const folder = await requireFolder(view, folderId);
  if (userId !== access.userId) requireLevel(folder, MANAGE);
  const userAccess = await readUserAccess(reader, access, userId, ancestry.pathTo(folderId)!);
  const { user, isPassage } = userAccess;
  const deciding = userAccess.deciding && {
    ...userAccess.deciding,
    folder: await requireFolder(view, userAccess.deciding.grant.folderId),
  };
  const because = user.isAdministrator
    ? `${user.username} is an administrator, and administrators manage everything.`
    : describeGrant(user.username, folder, deciding);
  const reason = because + (isPassage ? ' They may pass through it to something deeper.' : '');
  return { ...userAccess, folder, deciding, reason };
}

function describeGrant(username: string, folder: Folder, deciding: AccessExplanation['deciding']): string {
  if (!deciding) return `No grant to ${username} or to a group of theirs holds for "${folder.name}".`;
  const { grant, group, folder: granted } = deciding;
  const to = group ? `the group "${group.name}", in which ${username} is,` : username;
  const isHere = granted.id === folder.id;
  const where = isHere ? 'this very folder' : `"${granted.name}", the nearest folder above with one,`;
  return `A grant to ${to} on ${where} gives ${accessLevelName(grant.level)}.`;
}

/**
 * Whether the viewer may read whose access a move changes: with MANAGE on the folder and both parents. Also false if an
 * ancestor has moved since to a folder whose access the viewer may not read.
 */
export async function mayReadAccessChanges(
  { access, ancestry }: TreeView,
  { before, after }: MovedPaths,
  isDryRun: boolean,
): Promise<boolean> {
  const parents = [before.slice(0, -1), after.slice(0, -1)];
  if (![before, ...parents].every((path) => access.levelAt(path) >= MANAGE)) return false;
  const paths = [...parents, isDryRun ? before : after];
  await ancestry.load(paths.map((path) => path.at(-1)!));
  return paths.every((path) => isDeepStrictEqual(ancestry.pathTo(path.at(-1)!), path));
}
