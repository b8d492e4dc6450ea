/** Changing users. Part of a change that has taken its turn: what is checked here still holds when it is written. */

import { randomUUID } from 'node:crypto';
import type { Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { record, type ChangedBy } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import { accountNameKey, requireAccountName } from './account-name.ts';
import type { CheckedCredentials } from './accounts.ts';
import { readUserByName, requireUser, type User } from './users.ts';

/** What is not given stays as it is. */
export interface UserChanges {
  readonly username?: string | null | undefined;
  readonly isAdministrator?: boolean | null | undefined;
  readonly isDisabled?: boolean | null | undefined;
}

interface NewUserRow {
  readonly id: string;
  readonly username: string;
  readonly usernameKey: string;
  readonly passwordHash: string;
  readonly isAdministrator: number;
  readonly now: number;
}

type ChangedUserRow = Omit<NewUserRow, 'passwordHash' | 'now'> & { readonly disabledAt: number | null };

const insert = sql<NewUserRow>`
  insert into users (id, username, username_key, password_hash, is_administrator, created_at)
  values (${'id'}, ${'username'}, ${'usernameKey'}, ${'passwordHash'}, ${'isAdministrator'}, ${'now'})`;

const update = sql<ChangedUserRow>`
  update users set username = ${'username'}, username_key = ${'usernameKey'},
    is_administrator = ${'isAdministrator'}, disabled_at = ${'disabledAt'}
  where id = ${'id'}`;

const updatePassword = sql<{ userId: string; passwordHash: string }>`
  update users set password_hash = ${'passwordHash'} where id = ${'userId'}`;

const exchangePassword = sql<CheckedCredentials & { newHash: string }>`
  update users set password_hash = ${'newHash'}
  where id = ${'userId'} and password_hash = ${'passwordHash'}`;

// Sessions and memberships go with the row by themselves; grants name users and groups alike and do not.
const deleteGrants = sql<{ id: string }>`delete from grants where subject_id = ${'id'}`;
const deleteRow = sql<{ id: string }>`delete from users where id = ${'id'}`;
const rememberDeleted = sql<{ id: string; now: number }>`
  insert into deleted_users (id, deleted_at) values (${'id'}, ${'now'})`;

/** Answers with the new user's id. */
export async function createUser(
  transaction: Transaction,
  given: { username: string; passwordHash: string; isAdministrator: boolean },
  { byUserId, now }: ChangedBy,
): Promise<string> {
  const username = requireAccountName(given.username, 'user name');
  await requireFreeName(transaction, username);
  const id = randomUUID();
  await transaction.run(insert, {
    id,
    username,
    usernameKey: accountNameKey(username),
    passwordHash: given.passwordHash,
    isAdministrator: given.isAdministrator ? 1 : 0,
    now,
  });
  const after = { username, isAdministrator: given.isAdministrator };
  record(transaction, { kind: 'CREATE_USER', at: now, byUserId, userId: id, after });
  return id;
}

/** An administrator cannot disable or demote themself: so there is always one left. */
export async function updateUser(
  transaction: Transaction,
  id: string,
  changes: UserChanges,
  { byUserId, now }: ChangedBy,
): Promise<void> {
  const user = await requireUser(transaction, id);
  const username = requireAccountName(changes.username ?? user.username, 'user name');
  const isAdministrator = changes.isAdministrator ?? user.isAdministrator;
  const isDisabled = changes.isDisabled ?? user.disabledAt !== null;
  if (id === byUserId && isDisabled) throw new Refusal('CONFLICT', 'You cannot disable yourself.');
  if (id === byUserId && !isAdministrator) {
    throw new Refusal('CONFLICT', 'You cannot take the administrator role from yourself.');
  }
  await requireFreeName(transaction, username, id);
  await transaction.run(update, {
    id,
    username,
    usernameKey: accountNameKey(username),
    isAdministrator: isAdministrator ? 1 : 0,
    disabledAt: isDisabled ? (user.disabledAt ?? now) : null,
  });
  const before = { username: user.username, ...rolesOf(user) };
  const after = { username, isAdministrator, isDisabled };
  const changed = (Object.keys(after) as (keyof typeof after)[]).filter((key) => before[key] !== after[key]);
  if (changed.length === 0) return;
  const only = (values: typeof after) => Object.fromEntries(changed.map((key) => [key, values[key]]));
  record(transaction, {
    kind: 'UPDATE_USER',
    at: now,
    byUserId,
    userId: id,
    before: only(before),
    after: only(after),
    changesAccess: changed.some((key) => key !== 'username'),
  });
}

function rolesOf({ isAdministrator, disabledAt }: User): { isAdministrator: boolean; isDisabled: boolean } {
  return { isAdministrator, isDisabled: disabledAt !== null };
}

export async function resetPassword(
  transaction: Transaction,
  given: { userId: string; passwordHash: string },
  { byUserId, now }: ChangedBy,
): Promise<void> {
  const { userId } = given;
  await requireUser(transaction, userId);
  await transaction.run(updatePassword, given);
  record(transaction, { kind: 'CHANGE_PASSWORD', at: now, byUserId, userId });
}

/** Answers false if the password that was checked has been changed meanwhile. */
export async function changePassword(
  transaction: Transaction,
  { userId, passwordHash }: CheckedCredentials,
  newHash: string,
  now: number,
): Promise<boolean> {
  if ((await transaction.run(exchangePassword, { userId, passwordHash, newHash })) === 0) return false;
  record(transaction, { kind: 'CHANGE_PASSWORD', at: now, byUserId: userId, userId });
  return true;
}

/** Takes the user's grants, memberships and sessions along. */
export async function deleteUser(
  transaction: Transaction,
  id: string,
  { byUserId, now }: ChangedBy,
): Promise<void> {
  const user = await requireUser(transaction, id);
  if (id === byUserId) throw new Refusal('CONFLICT', 'You cannot delete yourself.');
  await transaction.run(deleteGrants, { id });
  await transaction.run(deleteRow, { id });
  // For as long as an auth token of theirs may live.
  await transaction.run(rememberDeleted, { id, now });
  record(transaction, {
    kind: 'DELETE_USER',
    at: now,
    byUserId,
    userId: id,
    before: { username: user.username, isAdministrator: user.isAdministrator },
    changesAccess: true,
  });
}

async function requireFreeName(transaction: Transaction, username: string, ownId?: string): Promise<void> {
  const holder = await readUserByName(transaction, username);
  if (holder && holder.id !== ownId) {
    throw new Refusal('CONFLICT', `The user name "${username}" is taken.`);
  }
}
