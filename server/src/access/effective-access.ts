/**
 * The users who have access to a folder, in the order of their names. A page examines users in small batches. If few users can
 * have access, a page examines only these users, regardless of the number of other users.
 */

import { listUsers, userKey, type KeyedSlice, type User } from '../accounts/users.ts';
import type { ConsistentReader } from '../database/database.ts';
import { list, sql } from '../database/statement.ts';
import { accessLevels, type AccessLevel } from './access.ts';
import type { Grant } from './grants.ts';

const { NONE, MANAGE } = accessLevels;

/** The effective level of a user, and the grant that decides it. */
export interface EffectiveAccess {
  readonly user: User;
  readonly level: AccessLevel;
  /** Undefined for administrators, whose level depends on no grant. */
  readonly grant: Grant | undefined;
}

export interface EffectiveAccessRead {
  /** The ids from the root to the folder. */
  readonly pathIds: readonly string[];
  /** Called for each batch with the number of its users, before their levels are read. It may refuse. */
  readonly onRead: (count: number) => void;
}

/** Limits the duration of one statement, which looks up the memberships of each user and the grants on the path. */
const usersPerBatch = 250;
/** If more users can have access, a page examines all users in the order of their names. */
const maxCandidates = 1_000;

type OnPath = { readonly folderIds: readonly string[] };

/** The position of a folder is its depth. */
const path = sql`(select value as id, position as depth from ${list('folderIds')}) as path`;

const findGrantedFolders = sql<OnPath, { id: string; depth: number }>`
  select path.id, path.depth from ${path}
  where exists (select 1 from grants where folder_id = path.id) order by path.depth`;

/** Each part has its own limit, so that a large group costs no more than the limit. */
const findCandidates = sql<OnPath & { limit: number }, { id: string }>`
  select id from (select id from users where is_administrator = 1 limit ${'limit'}) as administrators
  union
  select id from (
    select grants.subject_id as id from ${path} cross join grants
    where grants.folder_id = path.id and grants.subject_kind = 'user' limit ${'limit'}
  ) as granted
  union
  select id from (
    select group_members.user_id as id from ${path} cross join grants cross join group_members
    where grants.folder_id = path.id and group_members.group_id = grants.subject_id limit ${'limit'}
  ) as members
  limit ${'limit'}`;

/** The nearest folder decides, then the highest level. `findDecidingGrant()` has the same order. */
const findDecidingGrants = sql<OnPath & { userIds: readonly string[] }, Grant & { userId: string }>`
  select "userId", "folderId", "subjectId", "subjectKind", level, "grantedAt" from (
    select subjects.user_id as "userId", grants.folder_id as "folderId", grants.subject_id as "subjectId",
      grants.subject_kind as "subjectKind", grants.level, grants.granted_at as "grantedAt",
      row_number() over (
        partition by subjects.user_id
        order by path.depth desc, grants.level desc, grants.subject_kind desc, grants.subject_id
      ) as rank
    from (
      select each.value as user_id, each.value as subject_id from ${list('userIds')}
      union all
      select group_members.user_id, group_members.group_id from ${list('userIds')} cross join group_members
      where group_members.user_id = each.value
    ) as subjects
    cross join ${path} cross join grants
    where grants.folder_id = path.id and grants.subject_id = subjects.subject_id
  ) as ranked
  where rank = 1`;

/** A page of the users with a level above NONE. */
export async function listEffectiveAccess(
  reader: ConsistentReader,
  options: EffectiveAccessRead,
  { after, limit }: KeyedSlice,
): Promise<readonly EffectiveAccess[]> {
  const found: EffectiveAccess[] = [];
  for await (const batch of readAll(reader, options, after)) {
    found.push(...batch);
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** Counts the users in all pages of `listEffectiveAccess()`. */
export async function countEffectiveAccess(
  reader: ConsistentReader,
  options: EffectiveAccessRead,
): Promise<number> {
  let count = 0;
  for await (const batch of readAll(reader, options, undefined)) count += batch.length;
  return count;
}

/** Yields batches until the caller has enough. */
async function* readAll(
  reader: ConsistentReader,
  { pathIds, onRead }: EffectiveAccessRead,
  after: string | undefined,
): AsyncGenerator<readonly EffectiveAccess[], undefined> {
  const granted = await reader.all(findGrantedFolders, { folderIds: pathIds }, pathIds.length);
  const folderIds = granted.map(({ id }) => id);
  const candidates = await reader.all(findCandidates, { folderIds, limit: maxCandidates + 1 }, maxCandidates);
  const filter = candidates.length > maxCandidates ? {} : { ids: candidates.map(({ id }) => id) };
  for (let from = after; ;) {
    const users = await listUsers(reader, filter, { after: from, limit: usersPerBatch });
    onRead(users.length);
    yield await withLevels(reader, users, folderIds);
    if (users.length < usersPerBatch) return;
    from = userKey(users.at(-1)!);
  }
}

async function withLevels(
  reader: ConsistentReader,
  users: readonly User[],
  folderIds: readonly string[],
): Promise<readonly EffectiveAccess[]> {
  const userIds = users.filter(({ isAdministrator }) => !isAdministrator).map(({ id }) => id);
  const rows = await reader.all(findDecidingGrants, { folderIds, userIds }, usersPerBatch);
  const grants = new Map(rows.map(({ userId, ...grant }) => [userId, grant]));
  return users
    .map((user): EffectiveAccess => {
      if (user.isAdministrator) return { user, level: MANAGE, grant: undefined };
      const grant = grants.get(user.id);
      return { user, level: grant?.level ?? NONE, grant };
    })
    .filter(({ level }) => level > NONE);
}
