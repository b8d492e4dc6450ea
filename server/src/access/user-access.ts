/** The level of any user on a folder: which grant decides it, and whose level differs between two paths. */

import { readGroup, type Group } from '../accounts/groups.ts';
import { readUsers, requireUser, userKey, type User } from '../accounts/users.ts';
import type { ConsistentReader, Reader } from '../database/database.ts';
import { list, sql } from '../database/statement.ts';
import { readAccess } from './access-cache.ts';
import { accessLevels, type Access, type AccessLevel } from './access.ts';
import { findDecidingGrant, type Grant } from './grants.ts';

const { NONE, MANAGE } = accessLevels;

const findUserLevels = sql<
  { folderIds: readonly string[] },
  { userId: string; folderId: string; level: AccessLevel }
>`
  select users.id as "userId", grants.folder_id as "folderId", max(grants.level) as level
  from grants left join group_members on grants.subject_kind = 'group' and group_members.group_id = grants.subject_id
  join users on users.id = coalesce(group_members.user_id, grants.subject_id)
  where grants.folder_id in (select value from ${list('folderIds')}) and users.is_administrator = 0
  group by users.id, grants.folder_id`;

export interface UserAccess {
  readonly user: User;
  readonly level: AccessLevel;
  /** Undefined if no grant decides. */
  readonly deciding: DecidingGrant | undefined;
  /** Undefined where it would reveal a deeper folder that the viewer may not see. */
  readonly isPassage: boolean | undefined;
}

export interface DecidingGrant {
  readonly grant: Grant;
  /** If the grant is to a group. */
  readonly group: Group | undefined;
}

/** Reads the level of a user on the last folder of a path, for a viewer with the access `viewer`. */
export async function readUserAccess(
  reader: ConsistentReader,
  viewer: Access,
  userId: string,
  pathIds: readonly string[],
): Promise<UserAccess> {
  const user = await requireUser(reader, userId);
  const { isAdministrator } = user;
  const grant = isAdministrator ? undefined : await findDecidingGrant(reader, userId, pathIds);
  const level = isAdministrator ? MANAGE : (grant?.level ?? NONE);
  const mayReveal = viewer.isAdministrator || userId === viewer.userId;
  const access = mayReveal ? await readAccess(reader, userId, isAdministrator) : undefined;
  const isPassage = access && level === NONE && access.isVisible(pathIds.at(-1)!, level);
  return { user, level, deciding: grant && (await withGroup(reader, grant)), isPassage };
}

async function withGroup(reader: Reader, grant: Grant): Promise<DecidingGrant> {
  const { kind, id } = grant.subject;
  return { grant, group: kind === 'group' ? await readGroup(reader, id) : undefined };
}

interface AccessDifference {
  readonly userId: string;
  readonly before: AccessLevel;
  readonly after: AccessLevel;
}

/** Returns the users whose level on a folder differs between two paths, except administrators. */
export async function compareAccess(
  reader: Reader,
  pathBefore: readonly string[],
  pathAfter: readonly string[],
): Promise<AccessDifference[]> {
  const rows = await reader.all(findUserLevels, { folderIds: [...new Set([...pathBefore, ...pathAfter])] });
  const levels = new Map<string, Map<string, AccessLevel>>();
  for (const { userId, folderId, level } of rows) {
    const own = levels.get(userId) ?? new Map<string, AccessLevel>();
    levels.set(userId, own.set(folderId, level));
  }
  const nearest = (own: ReadonlyMap<string, AccessLevel>, pathIds: readonly string[]) =>
    own.get(pathIds.findLast((id) => own.has(id)) ?? '') ?? 0;
  return [...levels]
    .map(([userId, own]) => ({ userId, before: nearest(own, pathBefore), after: nearest(own, pathAfter) }))
    .filter(({ before, after }) => before !== after);
}

export interface UserAccessChange {
  readonly user: User;
  readonly before: AccessLevel;
  readonly after: AccessLevel;
}

/** Like `compareAccess`, with the users, in the order of their names. */
export async function readAccessChanges(
  reader: Reader,
  { before, after }: { readonly before: readonly string[]; readonly after: readonly string[] },
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
