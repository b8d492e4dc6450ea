/** Reads and changes groups and their members. Changes are part of a journal transaction. */

import { randomUUID } from 'node:crypto';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { isRowId, list, listForEach, readListsOfEach, sql, type ListOfEach } from '../database/statement.ts';
import { type ChangedBy, record, recordEach } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import { accountNameKey, requireAccountName, searchPattern, toAccountName } from './account-name.ts';
import { readUsers, type KeyedSlice } from './users.ts';

export interface Group {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
}

const selectGroup = sql`select id, name, created_at as "createdAt" from user_groups`;

const findById = sql<{ id: string }, Group>`${selectGroup} where id = ${'id'}`;
const findByIds = sql<{ ids: readonly string[] }, Group>`
  ${selectGroup} where id in (select value from ${list('ids')})`;
const findByKey = sql<{ key: string }, Group>`${selectGroup} where name_key = ${'key'}`;

const page = sql<{ pattern: string; after: string; limit: number }, Group>`
  ${selectGroup} where name_key like ${'pattern'} escape '!' and name_key > ${'after'}
  order by name_key limit ${'limit'}`;
const count = sql<{ pattern: string }, { count: number }>`
  select count(*) as count from user_groups where name_key like ${'pattern'} escape '!'`;
const pageOfEachUser = sql<{ userIds: readonly string[]; after: string; limit: number }, ListOfEach>`
  ${listForEach('userIds', {
    table: 'group_members join user_groups on user_groups.id = group_id',
    columns: ['user_groups.id', 'user_groups.name', 'user_groups.created_at'],
    where: sql`user_id = each.value and name_key > ${'after'}`,
    orderBy: sql`name_key`,
    limit: sql`${'limit'}`,
  })}`;
const countOfEachUser = sql<{ userIds: readonly string[] }, { userId: string; count: number }>`
  select user_id as "userId", count(*) as count from group_members
  where user_id in (select value from ${list('userIds')}) group by user_id`;

export function readGroup(reader: Reader, id: string): PromiseOrValue<Group | undefined> {
  return isRowId(id) ? reader.get(findById, { id }) : undefined;
}

export async function requireGroup(reader: Reader, id: string): Promise<Group> {
  const group = await readGroup(reader, id);
  if (!group) throw new Refusal('NOT_FOUND', 'There is no group with this id.');
  return group;
}

export function readGroupByName(reader: Reader, name: string): PromiseOrValue<Group | undefined> {
  const validName = toAccountName(name);
  return validName ? reader.get(findByKey, { key: accountNameKey(validName) }) : undefined;
}

/** Reads groups by id. Unknown ids are left out. */
export function readGroups(reader: Reader, ids: readonly string[]): PromiseOrValue<Map<string, Group>> {
  return whenDone(
    reader.all(findByIds, { ids: ids.filter(isRowId) }),
    (groups) => new Map(groups.map((group) => [group.id, group])),
  );
}

/** The groups of each user in the order of `groupKey`; users without groups are left out. */
export function listGroupsOf(
  reader: Reader,
  userIds: readonly string[],
  { after = '', limit }: KeyedSlice,
): PromiseOrValue<Map<string, Group[]>> {
  return whenDone(reader.all(pageOfEachUser, { userIds, after, limit }), (lists) =>
    readListsOfEach(userIds, lists, ([id, name, createdAt]: [string, string, number]) => ({
      id,
      name,
      createdAt,
    })),
  );
}

/** How many groups each user is in; users without groups are left out. */
export function countGroupsOf(
  reader: Reader,
  userIds: readonly string[],
): PromiseOrValue<Map<string, number>> {
  return whenDone(
    reader.all(countOfEachUser, { userIds }),
    (rows) => new Map(rows.map(({ userId, count }) => [userId, count])),
  );
}

/** Groups whose name contains the text in any case, in the order of `groupKey`. */
export function listGroups(
  reader: Reader,
  text: string | null | undefined,
  { after = '', limit }: KeyedSlice,
): PromiseOrValue<Group[]> {
  const pattern = searchPattern(text);
  return pattern === undefined ? [] : reader.all(page, { pattern, after, limit });
}

export function countGroups(reader: Reader, text: string | null | undefined): PromiseOrValue<number> {
  const pattern = searchPattern(text);
  return pattern === undefined ? 0 : whenDone(reader.get(count, { pattern }), (row) => row!.count);
}

/** The sort key of a group in a list. */
export function groupKey({ name }: Group): string {
  return accountNameKey(name);
}

export interface Membership {
  readonly groupId: string;
  readonly userIds: readonly string[];
}

const maxMembersPerCall = 1000;
const insert = sql<{ id: string; name: string; nameKey: string; now: number }>`
  insert into user_groups (id, name, name_key, created_at)
  values (${'id'}, ${'name'}, ${'nameKey'}, ${'now'})`;
const rename = sql<{ id: string; name: string; nameKey: string }>`
  update user_groups set name = ${'name'}, name_key = ${'nameKey'} where id = ${'id'}`;

// A foreign key deletes memberships. Grants refer to users and groups, without a foreign key.
const deleteGrants = sql<{ id: string }>`delete from grants where subject_id = ${'id'}`;
const findAllMembers = sql<{ groupId: string }, { userId: string }>`
  select user_id as "userId" from group_members where group_id = ${'groupId'} order by user_id`;
const deleteRow = sql<{ id: string }>`delete from user_groups where id = ${'id'}`;
const findMembers = sql<Membership, { userId: string }>`
  select user_id as "userId" from group_members
  where group_id = ${'groupId'} and user_id in (select value from ${list('userIds')}) order by user_id`;
const insertMembers = sql<Membership>`
  insert into group_members (group_id, user_id)
  select user_groups.id, users.id from user_groups cross join users
  where user_groups.id = ${'groupId'} and users.id in (select value from ${list('userIds')})
  on conflict do nothing`;
const deleteMembers = sql<Membership>`
  delete from group_members
  where group_id = ${'groupId'} and user_id in (select value from ${list('userIds')})`;

/** Returns the id of the new group. */
export async function createGroup(
  transaction: Transaction,
  input: { name: string },
  { byUserId, now }: ChangedBy,
): Promise<string> {
  const name = requireAccountName(input.name, 'group name');
  await requireFreeName(transaction, name);
  const id = randomUUID();
  await transaction.run(insert, { id, name, nameKey: accountNameKey(name), now });
  record(transaction, { kind: 'CREATE_GROUP', at: now, byUserId, groupId: id, after: { name } });
  return id;
}

export async function updateGroup(
  transaction: Transaction,
  id: string,
  changes: { name?: string | null | undefined },
  { byUserId, now }: ChangedBy,
): Promise<void> {
  const group = await requireGroup(transaction, id);
  const name = requireAccountName(changes.name ?? group.name, 'group name');
  await requireFreeName(transaction, name, id);
  if (name === group.name) return;
  await transaction.run(rename, { id, name, nameKey: accountNameKey(name) });
  const before = { name: group.name };
  record(transaction, {
    kind: 'UPDATE_GROUP',
    at: now,
    byUserId,
    groupId: id,
    before,
    after: { name },
  });
}

/** Also deletes the group's grants. Its members remain. */
export async function deleteGroup(transaction: Transaction, id: string, change: ChangedBy): Promise<void> {
  const { name } = await requireGroup(transaction, id);
  const members = (await transaction.all(findAllMembers, { groupId: id })).map(({ userId }) => userId);
  await transaction.run(deleteGrants, { id });
  await transaction.run(deleteRow, { id });
  recordMembers(transaction, 'REMOVE_FROM_GROUP', { groupId: id, userIds: members }, change);
  record(transaction, {
    kind: 'DELETE_GROUP',
    at: change.now,
    byUserId: change.byUserId,
    groupId: id,
    before: { name },
    changesAccess: true,
  });
}

/** Adds all users or none. Returns how many were not members before. */
export async function addToGroup(
  transaction: Transaction,
  { groupId, userIds }: Membership,
  change: ChangedBy,
): Promise<number> {
  limitUserIds(userIds);
  await requireGroup(transaction, groupId);
  const users = await readUsers(transaction, userIds);
  if (!userIds.every((id) => users.has(id))) {
    throw new Refusal('NOT_FOUND', 'Some of `userIds` are not the ids of users.');
  }
  const members = await membersAmong(transaction, { groupId, userIds });
  const added = [...new Set(userIds)].filter((id) => !members.has(id));
  await transaction.run(insertMembers, { groupId, userIds: added });
  recordMembers(transaction, 'ADD_TO_GROUP', { groupId, userIds: added }, change);
  return added.length;
}

/** Ignores users who are not members. Returns how many were removed. */
export async function removeFromGroup(
  transaction: Transaction,
  { groupId, userIds }: Membership,
  change: ChangedBy,
): Promise<number> {
  limitUserIds(userIds);
  await requireGroup(transaction, groupId);
  const members = await membersAmong(transaction, { groupId, userIds: userIds.filter(isRowId) });
  const removed = [...members];
  await transaction.run(deleteMembers, { groupId, userIds: removed });
  recordMembers(transaction, 'REMOVE_FROM_GROUP', { groupId, userIds: removed }, change);
  return removed.length;
}

async function membersAmong(transaction: Transaction, membership: Membership): Promise<ReadonlySet<string>> {
  return new Set((await transaction.all(findMembers, membership)).map(({ userId }) => userId));
}

/** Records one entry per user, so that the entry names the user whose access changes. */
function recordMembers(
  transaction: Transaction,
  kind: 'ADD_TO_GROUP' | 'REMOVE_FROM_GROUP',
  { groupId, userIds }: Membership,
  { byUserId, now }: ChangedBy,
): void {
  recordEach(transaction, { kind, at: now, byUserId, groupId, userIds, changesAccess: true });
}

async function requireFreeName(transaction: Transaction, name: string, ownId?: string): Promise<void> {
  const owner = await readGroupByName(transaction, name);
  if (owner && owner.id !== ownId) throw new Refusal('CONFLICT', `The group name "${name}" is taken.`);
}

function limitUserIds(userIds: readonly string[]): void {
  if (userIds.length > maxMembersPerCall) {
    throw new Refusal('BAD_INPUT', `\`userIds\` takes at most ${maxMembersPerCall} ids at a time.`);
  }
}
