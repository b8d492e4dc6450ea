/** Reads groups and their members, and makes the changes of groups that administrators request. */

import { randomUUID } from 'node:crypto';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Reader, Transaction } from '../database/database.ts';
import {
  isRowId,
  list,
  listForEach,
  readCounts,
  readListsOfEach,
  selectAs,
  sql,
  type ColumnsOf,
  type CountOfEach,
  type ListOfEach,
} from '../database/statement.ts';
import {
  idCodec,
  voidCodec,
  type Caller,
  type Changed,
  type ChangeRunner,
  type ResultCodec,
} from '../journal/change-runner.ts';
import { record, recordEach, type ChangeOrigin } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import {
  accountNameKey,
  deleteGrants,
  readUsers,
  requireAccountName,
  requireFreeName,
  runAsAdministrator,
  searchPattern,
  toAccountName,
  type KeyedSlice,
  type ViewerRights,
} from './users.ts';

export interface Group {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
}

const columns: ColumnsOf<Group> = {
  id: 'user_groups.id',
  name: 'user_groups.name',
  createdAt: 'user_groups.created_at',
};
const selectGroup = sql`select ${selectAs(columns)} from user_groups`;

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
    columns: Object.values(columns),
    where: sql`user_id = each.value and name_key > ${'after'}`,
    orderBy: sql`name_key`,
    limit: sql`${'limit'}`,
  })}`;
const countOfEachUser = sql<{ userIds: readonly string[] }, CountOfEach>`
  select user_id as id, count(*) as count from group_members
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

/** Reads groups by id. The map has no entry for an unknown id. */
export function readGroups(reader: Reader, ids: readonly string[]): PromiseOrValue<Map<string, Group>> {
  return whenDone(
    reader.all(findByIds, { ids: ids.filter(isRowId) }),
    (groups) => new Map(groups.map((group) => [group.id, group])),
  );
}

/** The groups of each user in the order of `groupKey()`. The map has no entry for a user without groups. */
export function listGroupsOf(
  reader: Reader,
  userIds: readonly string[],
  { after = '', limit }: KeyedSlice,
): PromiseOrValue<Map<string, Group[]>> {
  return whenDone(reader.all(pageOfEachUser, { userIds, after, limit }), (lists) =>
    readListsOfEach<Group>(userIds, lists, columns),
  );
}

/** The number of groups of each user. The map has no entry for a user without groups. */
export function countGroupsOf(
  reader: Reader,
  userIds: readonly string[],
): PromiseOrValue<Map<string, number>> {
  return whenDone(reader.all(countOfEachUser, { userIds }), readCounts);
}

/** Groups whose name contains the text in any case, in the order of `groupKey()`. */
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

interface Membership {
  readonly groupId: string;
  readonly userIds: readonly string[];
}

export interface ChangedGroup {
  readonly id: string;
  /** The group after the change. Missing if an earlier request with the same idempotency key made the change. */
  readonly group?: Group;
}

interface ChangedMembers extends ChangedGroup {
  /** How many users were added or removed. */
  readonly count: number;
}

const maxMembersPerCall = 1000;
const insert = sql<{ id: string; name: string; nameKey: string; now: number }>`
  insert into user_groups (id, name, name_key, created_at)
  values (${'id'}, ${'name'}, ${'nameKey'}, ${'now'})`;
const rename = sql<{ id: string; name: string; nameKey: string }>`
  update user_groups set name = ${'name'}, name_key = ${'nameKey'} where id = ${'id'}`;
// A foreign key also deletes memberships.
const deleteRow = sql<{ id: string }>`delete from user_groups where id = ${'id'}`;
const findAllMembers = sql<{ groupId: string }, { userId: string }>`
  select user_id as "userId" from group_members where group_id = ${'groupId'} order by user_id`;
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

const findGroupIdsOf = sql<{ userId: string; ids: readonly string[] }, { id: string }>`
  select group_id as id from group_members
  where user_id = ${'userId'} and group_id in (select value from ${list('ids')})`;

/** Makes a user a member of some groups, and removes the user from others. Other groups do not change. */
export async function setMemberships(
  transaction: Transaction,
  userId: string,
  wanted: ReadonlyMap<string, boolean>,
  by: ChangeOrigin,
): Promise<void> {
  const current = await transaction.all(findGroupIdsOf, { userId, ids: [...wanted.keys()] });
  const currentIds = new Set(current.map(({ id }) => id));
  for (const [groupId, isMember] of wanted) {
    if (isMember === currentIds.has(groupId)) continue;
    await transaction.run(isMember ? insertMembers : deleteMembers, { groupId, userIds: [userId] });
    const kind = isMember ? 'ADD_TO_GROUP' : 'REMOVE_FROM_GROUP';
    record(transaction, { kind, ...by, groupId, userId, changesAccess: true });
  }
}

const membersResult: ResultCodec<ChangedMembers, { id: string; count: number }> = {
  toStored: ({ id, count }) => ({ id, count }),
  fromStored: (stored) => stored,
};

export class Groups {
  readonly #changes: ChangeRunner<ViewerRights>;

  constructor(changes: ChangeRunner<ViewerRights>) {
    this.#changes = changes;
  }

  create(caller: Caller, input: { readonly name: string }): Promise<Changed<ChangedGroup>> {
    return runAsAdministrator(this.#changes, caller, idCodec, async (transaction, by) => {
      const name = requireAccountName(input.name, 'group name');
      requireFreeName('group name', name, await readGroupByName(transaction, name));
      const id = randomUUID();
      await transaction.run(insert, { id, name, nameKey: accountNameKey(name), now: by.now });
      record(transaction, { kind: 'CREATE_GROUP', ...by, groupId: id, after: { name } });
      return changedGroup(transaction, id);
    });
  }

  update(
    caller: Caller,
    { id, name: newName }: { readonly id: string; readonly name?: string | null | undefined },
  ): Promise<Changed<ChangedGroup>> {
    return runAsAdministrator(this.#changes, caller, idCodec, async (transaction, by) => {
      const before = { name: (await requireGroup(transaction, id)).name };
      const name = requireAccountName(newName ?? before.name, 'group name');
      requireFreeName('group name', name, await readGroupByName(transaction, name), id);
      if (name !== before.name) {
        await transaction.run(rename, { id, name, nameKey: accountNameKey(name) });
        record(transaction, { kind: 'UPDATE_GROUP', ...by, groupId: id, before, after: { name } });
      }
      return changedGroup(transaction, id);
    });
  }

  /** Also deletes the group's grants. Its members remain. */
  delete(caller: Caller, id: string): Promise<Changed<void>> {
    return runAsAdministrator(this.#changes, caller, voidCodec, async (transaction, by) => {
      const { name } = await requireGroup(transaction, id);
      const userIds = (await transaction.all(findAllMembers, { groupId: id })).map(({ userId }) => userId);
      await transaction.run(deleteGrants, { id });
      await transaction.run(deleteRow, { id });
      const entries = { groupId: id, userIds, changesAccess: true };
      recordEach(transaction, { kind: 'REMOVE_FROM_GROUP', ...by, ...entries });
      const before = { name };
      record(transaction, { kind: 'DELETE_GROUP', ...by, groupId: id, before, changesAccess: true });
    });
  }

  /** Adds all users or none. The result counts the users who were not members before. */
  addMembers(caller: Caller, { groupId, userIds }: Membership): Promise<Changed<ChangedMembers>> {
    return runAsAdministrator(this.#changes, caller, membersResult, async (transaction, by) => {
      limitUserIds(userIds);
      const group = await requireGroup(transaction, groupId);
      const users = await readUsers(transaction, userIds);
      if (!userIds.every((id) => users.has(id))) {
        throw new Refusal('NOT_FOUND', '`userIds` contains an id that belongs to no user.');
      }
      const members = await membersAmong(transaction, { groupId, userIds });
      const addedIds = [...new Set(userIds)].filter((id) => !members.has(id));
      await transaction.run(insertMembers, { groupId, userIds: addedIds });
      // Each entry names one user whose access changes.
      const entries = { groupId, userIds: addedIds, changesAccess: true };
      recordEach(transaction, { kind: 'ADD_TO_GROUP', ...by, ...entries });
      return { id: groupId, group, count: addedIds.length };
    });
  }

  /** Ignores users who are not members, and does not count them. */
  removeMembers(caller: Caller, { groupId, userIds }: Membership): Promise<Changed<ChangedMembers>> {
    return runAsAdministrator(this.#changes, caller, membersResult, async (transaction, by) => {
      limitUserIds(userIds);
      const group = await requireGroup(transaction, groupId);
      const removedIds = [
        ...(await membersAmong(transaction, { groupId, userIds: userIds.filter(isRowId) })),
      ];
      await transaction.run(deleteMembers, { groupId, userIds: removedIds });
      const entries = { groupId, userIds: removedIds, changesAccess: true };
      recordEach(transaction, { kind: 'REMOVE_FROM_GROUP', ...by, ...entries });
      return { id: groupId, group, count: removedIds.length };
    });
  }
}

async function changedGroup(transaction: Transaction, id: string): Promise<ChangedGroup> {
  return { id, group: await requireGroup(transaction, id) };
}

async function membersAmong(transaction: Transaction, membership: Membership): Promise<ReadonlySet<string>> {
  return new Set((await transaction.all(findMembers, membership)).map(({ userId }) => userId));
}

function limitUserIds(userIds: readonly string[]): void {
  if (userIds.length > maxMembersPerCall) {
    throw new Refusal(
      'BAD_INPUT',
      `\`userIds\` must have at most ${maxMembersPerCall} ids. Send them in several requests.`,
    );
  }
}
