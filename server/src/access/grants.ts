/** Grants: the level of a user or group on a folder, and which grant decides. */

import { readGroup, type Group } from '../accounts/groups.ts';
import { readUser, requireUser, type KeyedSlice, type User } from '../accounts/users.ts';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { readInBatches, type ConsistentReader, type Reader, type Transaction } from '../database/database.ts';
import {
  firstId,
  isRowId,
  lastId,
  list,
  listForEach,
  readCounts,
  readListsOfEach,
  selectAs,
  sql,
  type ColumnsOf,
  type CountOfEach,
  type ListOfEach,
  type Statement,
} from '../database/statement.ts';
import { record, type ChangeOrigin } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import { readAccess } from './access-cache.ts';
import { accessLevelName, accessLevels, type Access, type AccessLevel } from './access.ts';

const { NONE, MANAGE } = accessLevels;

/** A subject in a request: one of the two ids is set. */
export interface RequestedSubject {
  readonly userId?: string | null | undefined;
  readonly groupId?: string | null | undefined;
}

/** The user or group that has a grant. */
interface Subject {
  readonly subjectId: string;
  readonly subjectKind: 'user' | 'group';
}

export interface Grant extends Subject {
  readonly folderId: string;
  readonly level: AccessLevel;
  readonly grantedAt: number;
}

/** The position of a grant in a list. The id is that of its subject, or of its folder in a subject's list. */
export interface GrantPosition {
  readonly grantedAt: number;
  readonly id: string;
}

const columns: ColumnsOf<Grant> = {
  folderId: 'folder_id',
  subjectId: 'subject_id',
  subjectKind: 'subject_kind',
  level: 'level',
  grantedAt: 'granted_at',
};
const selectGrants = sql`select ${selectAs(columns)} from grants`;

const findOn = sql<{ folderIds: readonly string[] }, Grant>`
  ${selectGrants} where folder_id in (select value from ${list('folderIds')})
  order by folder_id, subject_kind desc, subject_id`;

type PageParameters = GrantPosition & { readonly limit: number; readonly ids: readonly string[] };

/** A page of each list, the newest grants first. `owner` is the column of the ids whose lists are read; `other` is the second column of the position. */
const pageOfEach = <More = unknown>(owner: Statement, other: Statement, chosen: Statement) =>
  sql<PageParameters & More, ListOfEach>`${listForEach('ids', {
    table: 'grants',
    columns: Object.values(columns),
    where: sql`${owner} = each.value and (granted_at, ${other}) < (${'grantedAt'}, ${'id'}) ${chosen}`,
    orderBy: sql`granted_at desc, ${other} desc`,
    limit: sql`${'limit'}`,
  })}`;

type ToSubjects = { readonly subjectIds: readonly string[] };
const toSubjects = sql`and subject_id in (select value from ${list('subjectIds')})`;

const pageOn = pageOfEach(sql`folder_id`, sql`subject_id`, sql``);
const pageOnToSubjects = pageOfEach<ToSubjects>(sql`folder_id`, sql`subject_id`, toSubjects);
const pageTo = pageOfEach(sql`subject_id`, sql`folder_id`, sql``);

const countOn = <More = unknown>(chosen: Statement) =>
  sql<{ folderIds: readonly string[] } & More, CountOfEach>`
    select folder_id as id, count(*) as count from grants
    where folder_id in (select value from ${list('folderIds')}) ${chosen} group by folder_id`;
const countAllOn = countOn(sql``);
const countOnToSubjects = countOn<ToSubjects>(toSubjects);

const firstPosition: GrantPosition = { grantedAt: Number.MAX_SAFE_INTEGER, id: lastId };

const findFor = sql<{ folderIds: readonly string[]; userId: string }, Grant>`
  ${selectGrants} where folder_id in (select value from ${list('folderIds')})
  and (subject_id = ${'userId'} or subject_id in (select group_id from group_members where user_id = ${'userId'}))
  order by level desc, subject_kind desc, subject_id`;

/** The path of the folder, for the journal. */
interface FolderPath {
  readonly path: string;
}

type GrantKey = Subject & Pick<Grant, 'folderId'>;

const put = sql<GrantKey & { level: AccessLevel; now: number }>`
  insert into grants (folder_id, subject_id, subject_kind, level, granted_at)
  values (${'folderId'}, ${'subjectId'}, ${'subjectKind'}, ${'level'}, ${'now'})
  on conflict (folder_id, subject_id) do update set level = excluded.level, granted_at = excluded.granted_at`;

const isGrant = sql`folder_id = ${'folderId'} and subject_id = ${'subjectId'} and subject_kind = ${'subjectKind'}`;
const findGrant = sql<GrantKey, Grant>`${selectGrants} where ${isGrant}`;
const remove = sql<GrantKey>`delete from grants where ${isGrant}`;

/** All grants on these folders. For each folder, grants to users come first. */
function readGrants(reader: Reader, folderIds: readonly string[]): PromiseOrValue<readonly Grant[]> {
  return readInBatches(folderIds, (some) => reader.all(findOn, { folderIds: some }, some.length));
}

/** A page of the grants on each folder, the newest first; with `subjectIds`, only those to these users and groups. */
export function listGrantsOn(
  reader: Reader,
  folderIds: readonly string[],
  { after = firstPosition, limit }: KeyedSlice<GrantPosition>,
  subjectIds?: readonly string[],
): PromiseOrValue<ReadonlyMap<string, readonly Grant[]>> {
  const parameters = { ids: folderIds, ...after, limit };
  const lists = subjectIds
    ? reader.all(pageOnToSubjects, { ...parameters, subjectIds })
    : reader.all(pageOn, parameters);
  return whenDone(lists, (found) => readListsOfEach(folderIds, found, columns));
}

/** Counts the grants in all pages of `listGrantsOn()`. */
export function countGrantsOn(
  reader: Reader,
  folderIds: readonly string[],
  subjectIds?: readonly string[],
): PromiseOrValue<ReadonlyMap<string, number>> {
  const counts = subjectIds
    ? reader.all(countOnToSubjects, { folderIds, subjectIds })
    : reader.all(countAllOn, { folderIds });
  return whenDone(counts, readCounts);
}

/** A page of the grants to each user or group, the newest first. Some are on deleted folders. */
export function listGrantsTo(
  reader: Reader,
  subjectIds: readonly string[],
  { after = firstPosition, limit }: KeyedSlice<GrantPosition>,
): PromiseOrValue<ReadonlyMap<string, readonly Grant[]>> {
  const lists = reader.all(pageTo, { ids: subjectIds, ...after, limit });
  return whenDone(lists, (found) => readListsOfEach(subjectIds, found, columns));
}

/** The grant that decides the user's level on the last folder of a path: the nearest, then the highest. */
async function findDecidingGrant(
  reader: Reader,
  userId: string,
  pathIds: readonly string[],
): Promise<Grant | undefined> {
  const rows = await reader.all(findFor, { folderIds: pathIds, userId });
  const nearestId = pathIds.findLast((id) => rows.some(({ folderId }) => folderId === id));
  return rows.find(({ folderId }) => folderId === nearestId);
}

/** The level of a user on a folder, and why. */
export interface UserAccess {
  readonly user: User;
  readonly level: AccessLevel;
  /** Undefined if no grant decides. */
  readonly grant: Grant | undefined;
  /** Set if the deciding grant is to a group. */
  readonly group: Group | undefined;
  /** Undefined if the value could reveal a deeper folder that the viewer may not see. */
  readonly isPassage: boolean | undefined;
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
  const mayReveal = viewer.isAdministrator || viewer.isSelf(userId);
  const access = mayReveal ? await readAccess(reader, { userId, isAdministrator }) : undefined;
  const isPassage = access && level === NONE && access.isVisible(pathIds.at(-1)!, level);
  const group = grant?.subjectKind === 'group' ? await readGroup(reader, grant.subjectId) : undefined;
  return { user, level, grant, group, isPassage };
}

export function toSubject({ userId, groupId }: RequestedSubject): Subject {
  const id = userId || groupId;
  if (id && !(userId && groupId)) {
    // A text that cannot be an id is replaced by an id without grants.
    return { subjectKind: userId ? 'user' : 'group', subjectId: isRowId(id) ? id : firstId };
  }
  throw new Refusal('BAD_INPUT', 'Set either `userId` or `groupId`, not both.');
}

export async function requireSubject(reader: Reader, requested: RequestedSubject): Promise<Subject> {
  const subject = toSubject(requested);
  const { subjectId, subjectKind } = subject;
  const found = await (subjectKind === 'user' ? readUser(reader, subjectId) : readGroup(reader, subjectId));
  if (!found) throw new Refusal('NOT_FOUND', `There is no ${subjectKind} with this id.`);
  return subject;
}

export async function putGrant(
  transaction: Transaction,
  grant: Omit<Grant, 'grantedAt'>,
  by: ChangeOrigin & FolderPath,
): Promise<void> {
  const { folderId, level } = grant;
  const old = await transaction.get(findGrant, grant);
  if (old?.level === level) return;
  await transaction.run(put, { ...grant, now: by.now });
  record(transaction, {
    kind: 'GRANT_ACCESS',
    ...by,
    folderId,
    ...subjectColumn(grant),
    ...(old && { before: { level: accessLevelName(old.level) } }),
    after: { level: accessLevelName(level) },
    changesAccess: true,
  });
}

/** Returns whether there was a grant. */
export async function removeGrant(
  transaction: Transaction,
  grant: GrantKey,
  by: ChangeOrigin & FolderPath,
): Promise<boolean> {
  const old = await transaction.get(findGrant, grant);
  if (!old) return false;
  await transaction.run(remove, grant);
  recordRemoved(transaction, old, by, true);
  return true;
}

/** Records that the grants on purged folders were removed. These grants no longer affect any access. */
export async function recordPurgedGrants(
  transaction: Transaction,
  folderIds: readonly string[],
  now: number,
): Promise<void> {
  for (const grant of await readGrants(transaction, folderIds)) {
    recordRemoved(transaction, grant, { byUserId: null, now }, false);
  }
}

function recordRemoved(
  transaction: Transaction,
  grant: Grant,
  by: ChangeOrigin & Partial<FolderPath>,
  changesAccess: boolean,
): void {
  const ids = { folderId: grant.folderId, ...subjectColumn(grant) };
  const before = { level: accessLevelName(grant.level) };
  record(transaction, { kind: 'REVOKE_ACCESS', ...by, ...ids, before, changesAccess });
}

function subjectColumn({ subjectKind, subjectId }: Subject) {
  return subjectKind === 'user' ? { userId: subjectId } : { groupId: subjectId };
}
