/** Grants, revokes and explains access to a folder, and reads whose access a move changes. */

import { isDeepStrictEqual } from 'node:util';
import { readAccess } from '../access/access-cache.ts';
import { accessLevelName, accessLevels, type Access, type AccessLevel } from '../access/access.ts';
import {
  compareAccess,
  findDecidingGrant,
  putGrant,
  removeGrant,
  requireSubject,
  toSubject,
  type Grant,
  type RequestedSubject,
} from '../access/grants.ts';
import { readGroup, type Group } from '../accounts/groups.ts';
import { readUsers, requireUser, userKey, type User } from '../accounts/users.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { nothing, type Caller, type Changed, type Changes } from '../journal/changes.ts';
import { Refusal } from '../refusal.ts';
import { requireLevel } from './change-rules.ts';
import type { MovedPaths } from './change-folders.ts';
import { requireFolder, viewTree, type Folder, type TreeView } from './folders.ts';

const { NONE, MANAGE } = accessLevels;

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
        memory: nothing,
        work: async (transaction, access, by) => {
          const { folderId, level } = input;
          await requireManaged(transaction, access, folderId);
          const subject = await requireSubject(transaction, input);
          await putGrant(transaction, { folderId, subject, level }, by);
        },
      }),
    remove: (caller, input) =>
      changes.run(caller, {
        memory: nothing,
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

export interface AccessExplanation {
  readonly user: User;
  readonly folder: Folder;
  readonly level: AccessLevel;
  /** Undefined if no grant decides. */
  readonly deciding: DecidingGrant | undefined;
  /** Undefined where it would reveal a deeper folder that the viewer may not see. */
  readonly isPassage: boolean | undefined;
  /** A sentence for people. */
  readonly reason: string;
}

interface DecidingGrant {
  readonly grant: Grant;
  readonly folder: Folder;
  /** If the grant is to a group. */
  readonly group: Group | undefined;
}

/** Explains which level a user has on a folder. Needs MANAGE on the folder, except for the viewer's own access. */
export async function explainAccess(
  view: TreeView,
  userId: string,
  folderId: string,
): Promise<AccessExplanation> {
  const { reader, access } = view;
  const folder = await requireFolder(view, folderId);
  if (userId !== access.userId) requireLevel(folder, MANAGE);
  const user = await requireUser(reader, userId);
  const { isAdministrator } = user;
  const deciding = isAdministrator ? undefined : await readDecidingGrant(view, userId, folderId);
  const level = isAdministrator ? MANAGE : (deciding?.grant.level ?? NONE);
  const mayReveal = access.isAdministrator || userId === access.userId;
  const userAccess = mayReveal ? await readAccess(reader, userId, isAdministrator) : undefined;
  const isPassage = userAccess && level === NONE && userAccess.isVisible(folderId, level);
  const because = isAdministrator
    ? `${user.username} is an administrator, and administrators manage everything.`
    : describeGrant(user.username, folder, deciding);
  const reason = because + (isPassage ? ' They may pass through it to something deeper.' : '');
  return { user, folder, level, deciding, isPassage, reason };
}

async function readDecidingGrant(
  view: TreeView,
  userId: string,
  folderId: string,
): Promise<DecidingGrant | undefined> {
  const grant = await findDecidingGrant(view.reader, userId, view.ancestry.pathTo(folderId)!);
  if (!grant) return undefined;
  const { kind, id } = grant.subject;
  const group = kind === 'group' ? await readGroup(view.reader, id) : undefined;
  return { grant, group, folder: await requireFolder(view, grant.folderId) };
}

function describeGrant(username: string, folder: Folder, deciding: DecidingGrant | undefined): string {
  if (!deciding) return `No grant to ${username} or to a group of theirs holds for "${folder.name}".`;
  const { grant, group, folder: granted } = deciding;
  const to = group ? `the group "${group.name}", in which ${username} is,` : username;
  const isHere = granted.id === folder.id;
  const where = isHere ? 'this very folder' : `"${granted.name}", the nearest folder above with one,`;
  return `A grant to ${to} on ${where} gives ${accessLevelName(grant.level)}.`;
}

/**
 * Whether the viewer may read whose access a move changes: with MANAGE on the folder and both parents. Since the move, one of
 * their ancestors may have been moved to where the viewer may not see who has access. Then the answer is no.
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

export interface UserAccessChange {
  readonly user: User;
  readonly before: AccessLevel;
  readonly after: AccessLevel;
}

/** Reads whose access a move changes, in the order of user names. */
export async function readAccessChanges(
  reader: Reader,
  { before, after }: MovedPaths,
): Promise<readonly UserAccessChange[]> {
  const differences = await compareAccess(reader, before, after);
  const userIds = differences.map(({ userId }) => userId);
  const users = await readUsers(reader, userIds);
  return differences
    .flatMap(({ userId, ...levels }) => {
      const user = users.get(userId);
      return user ? [{ user, ...levels }] : [];
    })
    .toSorted((one, other) => (userKey(one.user) < userKey(other.user) ? -1 : 1));
}
