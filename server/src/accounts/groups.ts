/** Reading groups: one, those of users, or a page of a list in the order of their names. */

import { whenDone, type PromiseOrValue, type Reader } from '../database/database.ts';
import { isRowId } from '../database/row-id.ts';
import { list, sql } from '../database/statement.ts';
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
const upTo = sql<{ pattern: string; key: string }, { id: string }>`
  select id from user_groups where name_key like ${'pattern'} escape '!' and name_key <= ${'key'} limit 1`;

const findOfUsers = sql<{ userIds: readonly string[] }, Group & { userId: string }>`
  select user_id as "userId", id, name, created_at as "createdAt"
  from group_members join user_groups on id = group_id
  where user_id in (select value from ${list('userIds')}) order by name_key`;

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

/** The groups of each user in the order of their names; a user without any is not in the map. */
export function readGroupsOf(
  reader: Reader,
  userIds: readonly string[],
): PromiseOrValue<Map<string, Group[]>> {
  return whenDone(reader.all(findOfUsers, { userIds }), (rows) => Map.groupBy(rows, ({ userId }) => userId));
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

/** Whether the list begins at or before the key. */
export function hasGroupsUpTo(
  reader: Reader,
  text: string | null | undefined,
  key: string,
): PromiseOrValue<boolean> {
  const pattern = searchPattern(text);
  return pattern === undefined ? false : whenDone(reader.get(upTo, { pattern, key }), Boolean);
}

/** The place of a group in a list. */
export function groupKey({ name }: Group): string {
  return accountNameKey(name);
}
