/** Reads and changes users. Changes are part of a journal transaction, so their checks hold when they are written. */

import { randomUUID } from 'node:crypto';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { isRowId, list, sql, type Statement } from '../database/statement.ts';
import { type ChangedBy, record } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import { accountNameKey, requireAccountName, searchPattern, toAccountName } from './account-name.ts';
import type { CheckedCredentials } from './credentials.ts';

export interface User {
  readonly id: string;
  readonly username: string;
  readonly isAdministrator: boolean;
  readonly createdAt: number;
  readonly disabledAt: number | null;
  readonly lastLoginAt: number | null;
}

/** Selects users whose name contains the text, in any case, and who are members of the group. */
export interface UserFilter {
  readonly text?: string | null | undefined;
  readonly groupId?: string | undefined;
}

/** At most `limit` elements after a key. */
export interface KeyedSlice {
  readonly after: string | undefined;
  readonly limit: number;
}

type UserRow = Omit<User, 'isAdministrator'> & { readonly isAdministrator: number };

const selectUser = sql`
  select users.id, username, is_administrator as "isAdministrator", users.created_at as "createdAt",
    disabled_at as "disabledAt", last_login_at as "lastLoginAt"`;

const findById = sql<{ id: string }, UserRow>`${selectUser} from users where id = ${'id'}`;
const findByKey = sql<{ key: string }, UserRow>`${selectUser} from users where username_key = ${'key'}`;
const findByIds = sql<{ ids: readonly string[] }, UserRow>`
  ${selectUser} from users where id in (select value from ${list('ids')})`;
const findAdministrators = sql<{ limit: number }, UserRow>`
  ${selectUser} from users where is_administrator = 1 order by username_key limit ${'limit'}`;

interface FilterParameters {
  readonly pattern: string;
  readonly groupId: string | undefined;
}

/** The statements of a list. `source` selects the tables and rows. */
const listStatements = (source: Statement) => ({
  page: sql<FilterParameters & { after: string; limit: number }, UserRow>`
    ${selectUser} ${source} and username_key > ${'after'} order by username_key limit ${'limit'}`,
  count: sql<FilterParameters, { count: number }>`select count(*) as count ${source}`,
});

const allUsers = listStatements(sql`from users where username_key like ${'pattern'} escape '!'`);
const groupMembers = listStatements(sql`
  from group_members join users on users.id = user_id
  where group_id = ${'groupId'} and username_key like ${'pattern'} escape '!'`);

export function readUser(reader: Reader, id: string): PromiseOrValue<User | undefined> {
  return isRowId(id) ? whenDone(reader.get(findById, { id }), (row) => row && toUser(row)) : undefined;
}

export async function requireUser(reader: Reader, id: string): Promise<User> {
  const user = await readUser(reader, id);
  if (!user) throw new Refusal('NOT_FOUND', 'There is no user with this id.');
  return user;
}

export function readUserByName(reader: Reader, username: string): PromiseOrValue<User | undefined> {
  const name = toAccountName(username);
  if (!name) return undefined;
  return whenDone(reader.get(findByKey, { key: accountNameKey(name) }), (row) => row && toUser(row));
}

/** Reads users by id. Unknown ids are left out. */
export function readUsers(reader: Reader, ids: readonly string[]): PromiseOrValue<Map<string, User>> {
  const validIds = ids.filter(isRowId);
  return whenDone(
    reader.all(findByIds, { ids: validIds }),
    (rows) => new Map(rows.map((row) => [row.id, toUser(row)])),
  );
}

/** Reads the first administrators, sorted by name. */
export function readAdministrators(reader: Reader, limit: number): PromiseOrValue<User[]> {
  return whenDone(reader.all(findAdministrators, { limit }), (rows) => rows.map(toUser));
}

/** Lists users in the order of `userKey`. */
export function listUsers(
  reader: Reader,
  filter: UserFilter,
  { after = '', limit }: KeyedSlice,
): PromiseOrValue<User[]> {
  const { statements, parameters } = listOf(filter);
  if (!parameters) return [];
  return whenDone(reader.all(statements.page, { ...parameters, after, limit }), (rows) => rows.map(toUser));
}

export function countUsers(reader: Reader, filter: UserFilter): PromiseOrValue<number> {
  const { statements, parameters } = listOf(filter);
  if (!parameters) return 0;
  return whenDone(reader.get(statements.count, parameters), (row) => row!.count);
}

/** The sort key of a user in a list. */
export function userKey({ username }: User): string {
  return accountNameKey(username);
}

function listOf({ text, groupId }: UserFilter) {
  const pattern = searchPattern(text);
  return {
    statements: groupId === undefined ? allUsers : groupMembers,
    parameters: pattern === undefined ? undefined : { pattern, groupId },
  };
}

function toUser(row: UserRow): User {
  return { ...row, isAdministrator: row.isAdministrator === 1 };
}

/** The rights of a viewer to change accounts. */
export interface ViewerRights {
  readonly userId: string;
  readonly isAdministrator: boolean;
}

export function requireAdministrator({ isAdministrator }: Pick<ViewerRights, 'isAdministrator'>): void {
  if (!isAdministrator) throw new Refusal('FORBIDDEN', 'Only administrators may do this.');
}

/** A missing value stays unchanged. */
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

// Foreign keys delete sessions and memberships. Grants refer to users and groups, without a foreign key.
const deleteGrants = sql<{ id: string }>`delete from grants where subject_id = ${'id'}`;
const deleteRow = sql<{ id: string }>`delete from users where id = ${'id'}`;
const insertDeletedUser = sql<{ id: string; now: number }>`
  insert into deleted_users (id, deleted_at) values (${'id'}, ${'now'})`;

/** Returns the id of the new user. */
export async function createUser(
  transaction: Transaction,
  user: { username: string; passwordHash: string; isAdministrator: boolean },
  { byUserId, now }: ChangedBy,
): Promise<string> {
  const username = requireAccountName(user.username, 'user name');
  await requireFreeName(transaction, username);
  const id = randomUUID();
  await transaction.run(insert, {
    id,
    username,
    usernameKey: accountNameKey(username),
    passwordHash: user.passwordHash,
    isAdministrator: user.isAdministrator ? 1 : 0,
    now,
  });
  const after = { username, isAdministrator: user.isAdministrator };
  record(transaction, { kind: 'CREATE_USER', at: now, byUserId, userId: id, after });
  return id;
}

/** Administrators cannot disable or demote themselves, so at least one administrator remains. */
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
  input: { userId: string; passwordHash: string },
  { byUserId, now }: ChangedBy,
): Promise<void> {
  const { userId } = input;
  await requireUser(transaction, userId);
  await transaction.run(updatePassword, input);
  record(transaction, { kind: 'CHANGE_PASSWORD', at: now, byUserId, userId });
}

/** Returns false if the checked password has changed in the meantime. */
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

/** Also deletes the user's grants, memberships and sessions. */
export async function deleteUser(
  transaction: Transaction,
  id: string,
  { byUserId, now }: ChangedBy,
): Promise<void> {
  const user = await requireUser(transaction, id);
  if (id === byUserId) throw new Refusal('CONFLICT', 'You cannot delete yourself.');
  await transaction.run(deleteGrants, { id });
  await transaction.run(deleteRow, { id });
  // Kept until all auth tokens of the user have expired.
  await transaction.run(insertDeletedUser, { id, now });
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
  const owner = await readUserByName(transaction, username);
  if (owner && owner.id !== ownId) {
    throw new Refusal('CONFLICT', `The user name "${username}" is taken.`);
  }
}
