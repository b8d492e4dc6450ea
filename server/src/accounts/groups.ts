/** Reading groups: one, those of users, or a page of a list in the order of their names. */

import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Reader } from '../database/database.ts';
import { isRowId } from '../database/statement.ts';
import { list, listForEach, readListsOfEach, sql, type ListOfEach } from '../database/statement.ts';
import { Refusal } from '../refusal.ts';
import { accountNameKey, searchPattern, toAccountName } from './account-name.ts';
import type { KeyedSlice } from './users.ts';

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
  const kept = toAccountName(name);
  return kept ? reader.get(findByKey, { key: accountNameKey(kept) }) : undefined;
}

/** Those of the ids that are groups, by id. */
export function readGroups(reader: Reader, ids: readonly string[]): PromiseOrValue<Map<string, Group>> {
  return whenDone(
    reader.all(findByIds, { ids: ids.filter(isRowId) }),
    (groups) => new Map(groups.map((group) => [group.id, group])),
  );
}

/** The groups of each user in the order of `groupKey`; a user without any is not in the map. */
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

/** How many groups each user is in; a user without any is not in the map. */
export function countGroupsOf(
  reader: Reader,
  userIds: readonly string[],
): PromiseOrValue<Map<string, number>> {
  return whenDone(
    reader.all(countOfEachUser, { userIds }),
    (rows) => new Map(rows.map(({ userId, count: many }) => [userId, many])),
  );
}

/** Groups whose name holds the text in any case, in the order of `groupKey`. */
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

/** The place of a group in a list. */
export function groupKey({ name }: Group): string {
  return accountNameKey(name);
}
