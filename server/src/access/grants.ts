/** Grants: the level of a user or group on a folder, and which grant decides. */

import { readGroup } from '../accounts/groups.ts';
import { readUser } from '../accounts/users.ts';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { readInBatches, type Reader, type Transaction } from '../database/database.ts';
import {
  firstId,
  isRowId,
  lastId,
  list,
  listForEach,
  readListsOfEach,
  sql,
  type ListOfEach,
  type Statement,
} from '../database/statement.ts';
import { record, type ChangedBy } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import { accessLevelName, type AccessLevel } from './access.ts';

export interface Subject {
  readonly kind: 'user' | 'group';
  readonly id: string;
}

/** A subject in a request: one of the two ids is set. */
export interface RequestedSubject {
  readonly userId?: string | null | undefined;
  readonly groupId?: string | null | undefined;
}

export interface Grant {
  readonly folderId: string;
  readonly subject: Subject;
  readonly level: AccessLevel;
  readonly grantedAt: number;
}

/** The position of a grant in a list. The id is that of its subject, or of its folder in a subject's list. */
export interface GrantPosition {
  readonly grantedAt: number;
  readonly id: string;
}

export interface GrantSlice {
  readonly after: GrantPosition | undefined;
  readonly limit: number;
}

interface GrantRow {
  readonly folderId: string;
  readonly subjectId: string;
  readonly subjectKind: Subject['kind'];
  readonly level: AccessLevel;
  readonly grantedAt: number;
}

const selectGrants = sql`select folder_id as "folderId", subject_id as "subjectId", subject_kind as "subjectKind",
  level, granted_at as "grantedAt" from grants`;

const findOn = sql<{ folderIds: readonly string[] }, GrantRow>`
  ${selectGrants} where folder_id in (select value from ${list('folderIds')})
  order by folder_id, subject_kind desc, subject_id`;

type PageParameters = GrantPosition & { readonly limit: number; readonly ids: readonly string[] };

/** The newest first. `owner` is the column that the lists belong to, `other` the second column of the position. */
const pageOfEach = <More = unknown>(owner: Statement, other: Statement, chosen: Statement) =>
  sql<PageParameters & More, ListOfEach>`${listForEach('ids', {
    table: 'grants',
    columns: ['folder_id', 'subject_id', 'subject_kind', 'level', 'granted_at'],
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
  sql<{ folderIds: readonly string[] } & More, { folderId: string; count: number }>`
    select folder_id as "folderId", count(*) as count from grants
    where folder_id in (select value from ${list('folderIds')}) ${chosen} group by folder_id`;
const countAllOn = countOn(sql``);
const countOnToSubjects = countOn<ToSubjects>(toSubjects);

const firstPosition: GrantPosition = { grantedAt: Number.MAX_SAFE_INTEGER, id: lastId };

const findFor = sql<{ folderIds: readonly string[]; userId: string }, GrantRow>`
  ${selectGrants} where folder_id in (select value from ${list('folderIds')})
  and (subject_id = ${'userId'} or subject_id in (select group_id from group_members where user_id = ${'userId'}))
  order by level desc, subject_kind desc, subject_id`;

const put = sql<{
  folderId: string;
  subjectId: string;
  subjectKind: string;
  level: AccessLevel;
  now: number;
}>`
  insert into grants (folder_id, subject_id, subject_kind, level, granted_at)
  values (${'folderId'}, ${'subjectId'}, ${'subjectKind'}, ${'level'}, ${'now'})
  on conflict (folder_id, subject_id) do update set level = excluded.level, granted_at = excluded.granted_at`;

const findLevel = sql<
  { folderId: string; subjectId: string; subjectKind: string },
  { level: AccessLevel; grantedAt: number }
>`
  select level, granted_at as "grantedAt" from grants
  where folder_id = ${'folderId'} and subject_id = ${'subjectId'} and subject_kind = ${'subjectKind'}`;

const remove = sql<{ folderId: string; subjectId: string; subjectKind: string }>`
  delete from grants where folder_id = ${'folderId'} and subject_id = ${'subjectId'}
  and subject_kind = ${'subjectKind'}`;

/** All grants on these folders, those to users first. */
export async function readGrants(reader: Reader, folderIds: readonly string[]): Promise<Grant[]> {
  const read = (some: readonly string[]) => reader.all(findOn, { folderIds: some }, some.length);
  return (await readInBatches(folderIds, read)).map(toGrant);
}

/** A page of the grants on each folder, the newest first; with `subjectIds`, only those to these users and groups. */
export function listGrantsOn(
  reader: Reader,
  folderIds: readonly string[],
  { after = firstPosition, limit }: GrantSlice,
  subjectIds?: readonly string[],
): PromiseOrValue<ReadonlyMap<string, readonly Grant[]>> {
  const parameters = { ids: folderIds, ...after, limit };
  const lists = subjectIds
    ? reader.all(pageOnToSubjects, { ...parameters, subjectIds })
    : reader.all(pageOn, parameters);
  return whenDone(lists, (found) => readListsOfEach(folderIds, found, toListedGrant));
}

/** Counts the grants that `listGrantsOn` pages through. */
export function countGrantsOn(
  reader: Reader,
  folderIds: readonly string[],
  subjectIds?: readonly string[],
): PromiseOrValue<ReadonlyMap<string, number>> {
  const counts = subjectIds
    ? reader.all(countOnToSubjects, { folderIds, subjectIds })
    : reader.all(countAllOn, { folderIds });
  return whenDone(counts, (rows) => new Map(rows.map(({ folderId, count }) => [folderId, count])));
}

/** A page of the grants to each user or group, the newest first. Some are on deleted folders. */
export function listGrantsTo(
  reader: Reader,
  subjectIds: readonly string[],
  { after = firstPosition, limit }: GrantSlice,
): PromiseOrValue<ReadonlyMap<string, readonly Grant[]>> {
  const lists = reader.all(pageTo, { ids: subjectIds, ...after, limit });
  return whenDone(lists, (found) => readListsOfEach(subjectIds, found, toListedGrant));
}

/** The grant that decides the user's level on the last folder of a path: the nearest, then the highest. */
export async function findDecidingGrant(
  reader: Reader,
  userId: string,
  pathIds: readonly string[],
): Promise<Grant | undefined> {
  const rows = await reader.all(findFor, { folderIds: pathIds, userId });
  for (const folderId of pathIds.toReversed()) {
    const row = rows.find((each) => each.folderId === folderId);
    if (row) return toGrant(row);
  }
  return undefined;
}

export function toSubject({ userId, groupId }: RequestedSubject): Subject {
  const id = userId || groupId;
  if (id && !(userId && groupId)) {
    // A text that cannot be an id has no grant.
    return { kind: userId ? 'user' : 'group', id: isRowId(id) ? id : firstId };
  }
  throw new Refusal('BAD_INPUT', 'Give `userId` or `groupId`, one of them.');
}

export async function requireSubject(reader: Reader, requested: RequestedSubject): Promise<Subject> {
  const subject = toSubject(requested);
  const found = await (subject.kind === 'user'
    ? readUser(reader, subject.id)
    : readGroup(reader, subject.id));
  if (!found) throw new Refusal('NOT_FOUND', `There is no ${subject.kind} with this id.`);
  return subject;
}

export async function putGrant(
  transaction: Transaction,
  { folderId, subject, level }: Omit<Grant, 'grantedAt'>,
  { byUserId, now }: ChangedBy,
): Promise<void> {
  const key = { folderId, subjectId: subject.id, subjectKind: subject.kind };
  const old = await transaction.get(findLevel, key);
  if (old?.level === level) return;
  await transaction.run(put, { ...key, level, now });
  record(transaction, {
    kind: 'GRANT_ACCESS',
    at: now,
    byUserId,
    folderId,
    ...subjectColumn(subject),
    ...(old && { before: { level: accessLevelName(old.level) } }),
    after: { level: accessLevelName(level) },
    changesAccess: true,
  });
}

/** Returns whether there was a grant. */
export async function removeGrant(
  transaction: Transaction,
  { folderId, subject }: Pick<Grant, 'folderId' | 'subject'>,
  change: ChangedBy,
): Promise<boolean> {
  const key = { folderId, subjectId: subject.id, subjectKind: subject.kind };
  const old = await transaction.get(findLevel, key);
  if (!old) return false;
  await transaction.run(remove, key);
  recordRemoved(transaction, { folderId, subject, ...old }, { ...change, changesAccess: true });
  return true;
}

/** Records the grants that are removed with a purged folder. They no longer affect any access. */
export async function recordPurgedGrants(
  transaction: Transaction,
  folderIds: readonly string[],
  now: number,
): Promise<void> {
  for (const grant of await readGrants(transaction, folderIds)) {
    recordRemoved(transaction, grant, { byUserId: null, now, changesAccess: false });
  }
}

function recordRemoved(
  transaction: Transaction,
  { folderId, subject, level }: Grant,
  { byUserId, now, changesAccess }: ChangedBy & { readonly changesAccess: boolean },
): void {
  record(transaction, {
    kind: 'REVOKE_ACCESS',
    at: now,
    byUserId,
    folderId,
    ...subjectColumn(subject),
    before: { level: accessLevelName(level) },
    changesAccess,
  });
}

function subjectColumn({ kind, id }: Subject): { readonly userId: string } | { readonly groupId: string } {
  return kind === 'user' ? { userId: id } : { groupId: id };
}

type GrantColumns = [
  folderId: string,
  subjectId: string,
  subjectKind: Subject['kind'],
  level: AccessLevel,
  grantedAt: number,
];

function toListedGrant([folderId, subjectId, subjectKind, level, grantedAt]: GrantColumns): Grant {
  return toGrant({ folderId, subjectId, subjectKind, level, grantedAt });
}

function toGrant({ folderId, subjectId, subjectKind, level, grantedAt }: GrantRow): Grant {
  return { folderId, subject: { kind: subjectKind, id: subjectId }, level, grantedAt };
}
