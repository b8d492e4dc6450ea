/** Changing groups and who is in them. Part of a change that has taken its turn, as with users. */

import { randomUUID } from 'node:crypto';
import type { Transaction } from '../database/database.ts';
import { isRowId } from '../database/statement.ts';
import { list, sql } from '../database/statement.ts';
import { record, recordEach, type ChangedBy } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import { accountNameKey, requireAccountName } from './account-name.ts';
import { readGroupByName, requireGroup } from './groups.ts';
import { readUsers } from './users.ts';

export interface Membership {
  readonly groupId: string;
  readonly userIds: readonly string[];
}

const mostMembersAtOnce = 1_000;

const insert = sql<{ id: string; name: string; nameKey: string; now: number }>`
  insert into user_groups (id, name, name_key, created_at)
  values (${'id'}, ${'name'}, ${'nameKey'}, ${'now'})`;

const rename = sql<{ id: string; name: string; nameKey: string }>`
  update user_groups set name = ${'name'}, name_key = ${'nameKey'} where id = ${'id'}`;

// Memberships go with the row by themselves; grants name users and groups alike and do not.
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

/** Answers with the new group's id. */
export async function createGroup(
  transaction: Transaction,
  given: { name: string },
  { byUserId, now }: ChangedBy,
): Promise<string> {
  const name = requireAccountName(given.name, 'group name');
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

/** Takes the group's grants along; its members stay. */
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

/** All of them, or none. Answers how many were not in the group before. */
export async function addToGroup(
  transaction: Transaction,
  { groupId, userIds }: Membership,
  change: ChangedBy,
): Promise<number> {
  requireFew(userIds);
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

/** Whoever is not in the group is passed over. Answers how many were. */
export async function removeFromGroup(
  transaction: Transaction,
  { groupId, userIds }: Membership,
  change: ChangedBy,
): Promise<number> {
  requireFew(userIds);
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

/** One entry each: whose access it changes can then be told by its user. */
function recordMembers(
  transaction: Transaction,
  kind: 'ADD_TO_GROUP' | 'REMOVE_FROM_GROUP',
  { groupId, userIds }: Membership,
  { byUserId, now }: ChangedBy,
): void {
  recordEach(transaction, { kind, at: now, byUserId, groupId, userIds, changesAccess: true });
}

async function requireFreeName(transaction: Transaction, name: string, ownId?: string): Promise<void> {
  const holder = await readGroupByName(transaction, name);
  if (holder && holder.id !== ownId) throw new Refusal('CONFLICT', `The group name "${name}" is taken.`);
}

function requireFew(userIds: readonly string[]): void {
  if (userIds.length > mostMembersAtOnce) {
    throw new Refusal('BAD_INPUT', `\`userIds\` takes at most ${mostMembersAtOnce} ids at a time.`);
  }
}
