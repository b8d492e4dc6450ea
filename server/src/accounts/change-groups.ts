/** Changing groups and who is in them. Part of a change that has taken its turn, as with users. */

import { randomUUID } from 'node:crypto';
import type { Transaction } from '../database/database.ts';
import { isRowId } from '../database/row-id.ts';
import { list, sql } from '../database/statement.ts';
import { noteAccessChange } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import { accountNameKey, requireAccountName } from './account-name.ts';
import { readGroupByName, requireGroup } from './groups.ts';
import { readUsers } from './users.ts';

interface Membership {
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
const deleteRow = sql<{ id: string }>`delete from user_groups where id = ${'id'}`;

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
  now: number,
): Promise<string> {
  const name = requireAccountName(given.name, 'group name');
  await requireFreeName(transaction, name);
  const id = randomUUID();
  await transaction.run(insert, { id, name, nameKey: accountNameKey(name), now });
  return id;
}

export async function updateGroup(
  transaction: Transaction,
  id: string,
  changes: { name?: string | null | undefined },
): Promise<void> {
  const group = await requireGroup(transaction, id);
  const name = requireAccountName(changes.name ?? group.name, 'group name');
  await requireFreeName(transaction, name, id);
  await transaction.run(rename, { id, name, nameKey: accountNameKey(name) });
}

/** Takes the group's grants along; its members stay. */
export async function deleteGroup(transaction: Transaction, id: string): Promise<void> {
  await requireGroup(transaction, id);
  await transaction.run(deleteGrants, { id });
  await transaction.run(deleteRow, { id });
  await noteAccessChange(transaction);
}

/** All of them, or none. Answers how many were not in the group before. */
export async function addToGroup(
  transaction: Transaction,
  { groupId, userIds }: Membership,
): Promise<number> {
  requireFew(userIds);
  await requireGroup(transaction, groupId);
  const users = await readUsers(transaction, userIds);
  if (!userIds.every((id) => users.has(id))) {
    throw new Refusal('NOT_FOUND', 'Some of `userIds` are not the ids of users.');
  }
  const added = await transaction.run(insertMembers, { groupId, userIds });
  if (added > 0) await noteAccessChange(transaction);
  return added;
}

/** Whoever is not in the group is passed over. Answers how many were. */
export async function removeFromGroup(
  transaction: Transaction,
  { groupId, userIds }: Membership,
): Promise<number> {
  requireFew(userIds);
  await requireGroup(transaction, groupId);
  const removed = await transaction.run(deleteMembers, { groupId, userIds: userIds.filter(isRowId) });
  if (removed > 0) await noteAccessChange(transaction);
  return removed;
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
