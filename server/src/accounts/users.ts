/**
 * Reads and changes users, and validates the names of users and groups. A change runs in a journal transaction, so its checks
 * still hold when it is written.
 */

import { randomUUID } from 'node:crypto';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { isRowId, list, sql, type Statement } from '../database/statement.ts';
import type { Caller, Changed, ChangeRunner, ResultCodec } from '../journal/change-runner.ts';
import { differences, record, type ChangeOrigin, type Details } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';

/** A service account is a user for programs. It has API keys, but no password and no sessions. */
export type UserKind = 'PERSON' | 'SERVICE';

export interface User {
  readonly id: string;
  readonly kind: UserKind;
  readonly username: string;
  readonly isAdministrator: boolean;
  readonly createdAt: number;
  readonly disabledAt: number | null;
  readonly lastLoginAt: number | null;
  /** When the user set up a second factor; null without one. */
  readonly secondFactorAt: number | null;
}

/** Selects users whose name contains the text, in any case. With `groupId` or `ids`, only members of the group or users with these ids. */
export interface UserFilter {
  readonly text?: string | null | undefined;
  readonly groupId?: string | undefined;
  readonly ids?: readonly string[] | undefined;
  /** Only without `groupId` and `ids`. */
  readonly hasSecondFactor?: boolean | null | undefined;
}

/** At most `limit` elements after a position, which is a sort key by default. */
export interface KeyedSlice<Position = string> {
  readonly after: Position | undefined;
  readonly limit: number;
}

/** The rights of a viewer to change accounts. */
export interface ViewerRights {
  readonly userId: string;
  readonly isAdministrator: boolean;
}

export function requireAdministrator({ isAdministrator }: Pick<ViewerRights, 'isAdministrator'>): void {
  if (!isAdministrator) throw new Refusal('FORBIDDEN', 'Only administrators may do this.');
}

/** Makes a change that only administrators may request. */
export function runAsAdministrator<T, Stored>(
  changes: ChangeRunner<ViewerRights>,
  caller: Caller,
  codec: ResultCodec<T, Stored>,
  work: (transaction: Transaction, by: ChangeOrigin) => Promise<T>,
): Promise<Changed<T>> {
  const check = requireAdministrator;
  return changes.run(caller, { codec, check, work: (transaction, _, by) => work(transaction, by) });
}

const maxNameLength = 128;
type NameKind = 'user name' | 'group name' | 'API key name' | 'passkey name';
const inputFields: Readonly<Record<NameKind, string>> = {
  'user name': 'username',
  'group name': 'name',
  'API key name': 'name',
  'passkey name': 'name',
};

/** Returns the name in NFC for storage, or undefined if it is invalid. Lengths count code points. */
export function toAccountName(input: string): string | undefined {
  // Checked first, because the input can have any length.
  if (input.length > 8 * maxNameLength) return undefined;
  const name = input.normalize('NFC');
  const length = [...name].length;
  const isValid = length >= 1 && length <= maxNameLength && name.isWellFormed() && !/\p{Cc}/u.test(name);
  return isValid ? name : undefined;
}

export function requireAccountName(input: string, kind: NameKind): string {
  const name = toAccountName(input);
  if (name) return name;
  const message = `${kind === 'API key name' ? 'An' : 'A'} ${kind} must have 1 to ${maxNameLength} characters, without control characters.`;
  throw new Refusal('BAD_INPUT', message, { facts: { inputField: inputFields[kind] } });
}

/** `owner` is the user or group that already has the name, if any. */
export function requireFreeName(
  kind: NameKind,
  name: string,
  owner: { readonly id: string } | undefined,
  ownId?: string,
): void {
  if (!owner || owner.id === ownId) return;
  throw new Refusal('CONFLICT', `The ${kind} "${name}" is already in use. Choose another one.`, {
    facts: { inputField: inputFields[kind] },
  });
}

/** The sort key of a name. Names that differ only in case have the same key. */
export function accountNameKey(name: string): string {
  return name.toLowerCase();
}

/** A pattern for `like … escape '!'`. Matches keys that contain the text; without a text, all keys. Undefined if no name can contain the text. */
export function searchPattern(text: string | null | undefined): string | undefined {
  if (!text) return '%';
  const name = toAccountName(text);
  return name && `%${accountNameKey(name).replace(/[!%_]/g, '!$&')}%`;
}

type UserRow = Omit<User, 'isAdministrator'> & { readonly isAdministrator: number };

const selectUser = sql`
  select users.id, users.kind, username, is_administrator as "isAdministrator", users.created_at as "createdAt",
    disabled_at as "disabledAt", last_login_at as "lastLoginAt", second_factor_at as "secondFactorAt"`;

const findById = sql<{ id: string }, UserRow>`${selectUser} from users where id = ${'id'}`;
const findByKey = sql<{ key: string }, UserRow>`${selectUser} from users where username_key = ${'key'}`;
const findByIds = sql<{ ids: readonly string[] }, UserRow>`
  ${selectUser} from users where id in (select value from ${list('ids')})`;
const findByKeys = sql<{ keys: readonly string[] }, UserRow & { key: string }>`
  ${selectUser}, username_key as key from users where username_key in (select value from ${list('keys', 'texts')})`;
const findAnyUser = sql<object, { id: string }>`select id from users limit 1`;
const findAdministrators = sql<{ limit: number }, UserRow>`
  ${selectUser} from users where is_administrator = 1 order by username_key limit ${'limit'}`;

const findOtherAdministrator = sql<{ id: string }, { id: string }>`
  select id from users
  where is_administrator = 1 and kind = 'PERSON' and disabled_at is null and id <> ${'id'} limit 1`;

interface FilterParameters {
  readonly pattern: string;
  readonly groupId: string | undefined;
  readonly ids: readonly string[];
}

/** The statements of a list. `source` selects the tables and rows. */
const listStatements = (source: Statement) => ({
  page: sql<FilterParameters & { after: string; limit: number }, UserRow>`
    ${selectUser} ${source} and username_key > ${'after'} order by username_key limit ${'limit'}`,
  count: sql<FilterParameters, { count: number }>`select count(*) as count ${source}`,
});

const fromAll = sql`from users where username_key like ${'pattern'} escape '!'`;
const allUsers = listStatements(fromAll);
const usersWithFactor = listStatements(sql`${fromAll} and second_factor_at is not null`);
const usersWithoutFactor = listStatements(sql`${fromAll} and second_factor_at is null`);
const groupMembers = listStatements(sql`
  from group_members join users on users.id = user_id
  where group_id = ${'groupId'} and username_key like ${'pattern'} escape '!'`);
// With a cross join, SQLite looks up the ids instead of reading all users.
const usersWithIds = listStatements(sql`
  from ${list('ids')} cross join users
  where users.id = each.value and username_key like ${'pattern'} escape '!'`);

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

/** Reads users by id. The map has no entry for an unknown id. */
export function readUsers(reader: Reader, ids: readonly string[]): PromiseOrValue<Map<string, User>> {
  return whenDone(
    reader.all(findByIds, { ids: ids.filter(isRowId) }),
    (rows) => new Map(rows.map((row) => [row.id, toUser(row)])),
  );
}

/** Reads users by name. The keys of the map are those of `accountNameKey()`. */
export function readUsersByName(reader: Reader, names: readonly string[]): PromiseOrValue<Map<string, User>> {
  const keys = [...new Set(names.map(accountNameKey))];
  return whenDone(
    reader.all(findByKeys, { keys }),
    (rows) => new Map(rows.map(({ key, ...row }) => [key, toUser(row)])),
  );
}

/** Reads the first administrators, sorted by name. */
export function readAdministrators(reader: Reader, limit: number): PromiseOrValue<User[]> {
  return whenDone(reader.all(findAdministrators, { limit }), (rows) => rows.map(toUser));
}

/** Whether another person than this user is an administrator and not disabled. A service account cannot log in. */
export async function hasOtherAdministrator(reader: Reader, id: string): Promise<boolean> {
  return (await reader.get(findOtherAdministrator, { id })) !== undefined;
}

export async function hasUsers(reader: Reader): Promise<boolean> {
  return (await reader.get(findAnyUser, {})) !== undefined;
}

/** Lists users in the order of `userKey()`. */
export function listUsers(
  reader: Reader,
  filter: UserFilter,
  { after = '', limit }: KeyedSlice,
): PromiseOrValue<User[]> {
  const list = toList(filter);
  if (!list) return [];
  const { statements, parameters } = list;
  return whenDone(reader.all(statements.page, { ...parameters, after, limit }), (rows) => rows.map(toUser));
}

export function countUsers(reader: Reader, filter: UserFilter): PromiseOrValue<number> {
  const list = toList(filter);
  if (!list) return 0;
  return whenDone(reader.get(list.statements.count, list.parameters), (row) => row!.count);
}

/** Undefined if no name can match the filter. */
function toList({ text, groupId, ids, hasSecondFactor }: UserFilter) {
  const pattern = searchPattern(text);
  if (pattern === undefined) return undefined;
  const byFactor = hasSecondFactor ? usersWithFactor : usersWithoutFactor;
  const all = typeof hasSecondFactor === 'boolean' ? byFactor : allUsers;
  const statements = ids ? usersWithIds : groupId === undefined ? all : groupMembers;
  return { statements, parameters: { pattern, groupId, ids: ids ?? [] } };
}

/** The sort key of a user in a list. */
export function userKey({ username }: User): string {
  return accountNameKey(username);
}

function toUser(row: UserRow): User {
  return { ...row, isAdministrator: row.isAdministrator === 1 };
}

/** A missing value stays unchanged. */
export interface UserChanges {
  readonly username?: string | null | undefined;
  readonly isAdministrator?: boolean | null | undefined;
  readonly isDisabled?: boolean | null | undefined;
}

/** The user whose password was correct, and the hash that it matched: the password may change before the login completes. */
export interface CheckedCredentials {
  readonly userId: string;
  readonly passwordHash: string;
}

/** The stored hash of a user who cannot sign in with a password, for example a user of single sign-on. No password matches it. */
export const noPassword = '';

interface StoredUser {
  readonly id: string;
  readonly username: string;
  readonly usernameKey: string;
  readonly isAdministrator: number;
}

const insert = sql<StoredUser & { kind: UserKind; passwordHash: string; now: number }>`
  insert into users (id, kind, username, username_key, password_hash, is_administrator, created_at)
  values (${'id'}, ${'kind'}, ${'username'}, ${'usernameKey'}, ${'passwordHash'}, ${'isAdministrator'}, ${'now'})`;
const update = sql<StoredUser & { disabledAt: number | null }>`
  update users set username = ${'username'}, username_key = ${'usernameKey'},
    is_administrator = ${'isAdministrator'}, disabled_at = ${'disabledAt'}
  where id = ${'id'}`;
const updatePassword = sql<CheckedCredentials>`
  update users set password_hash = ${'passwordHash'} where id = ${'userId'}`;
const exchangePassword = sql<CheckedCredentials & { newHash: string }>`
  update users set password_hash = ${'newHash'}
  where id = ${'userId'} and password_hash = ${'passwordHash'}`;

/** Grants must be deleted explicitly, because they refer to users and groups without a foreign key. */
export const deleteGrants = sql<{ id: string }>`delete from grants where subject_id = ${'id'}`;
// Foreign keys also delete sessions and memberships.
const deleteRow = sql<{ id: string }>`delete from users where id = ${'id'}`;
const insertDeletedUser = sql<{ id: string; now: number }>`
  insert into deleted_users (id, deleted_at) values (${'id'}, ${'now'})`;

interface StoredNewUser extends Omit<NewUser, 'password'> {
  readonly passwordHash: string;
  /** By default a random id. */
  readonly id?: string;
  /** Further details for the journal. */
  readonly details?: Details;
}

/** Returns the id of the new user. */
export async function createUser(
  transaction: Transaction,
  { passwordHash, isAdministrator, details, kind = 'PERSON', id = randomUUID(), ...user }: StoredNewUser,
  by: ChangeOrigin,
): Promise<string> {
  if (isAdministrator) requireNoApiKey(by);
  const username = requireAccountName(user.username, 'user name');
  requireFreeName('user name', username, await readUserByName(transaction, username));
  await transaction.run(insert, {
    ...{ id, kind, username, usernameKey: accountNameKey(username), passwordHash, now: by.now },
    isAdministrator: Number(isAdministrator),
  });
  const after = { username, isAdministrator, ...(kind === 'SERVICE' && { kind }), ...details };
  record(transaction, { kind: 'CREATE_USER', ...by, userId: id, after });
  return id;
}

export interface NewUser {
  readonly kind?: UserKind | undefined;
  readonly username: string;
  /** Missing for a service account. */
  readonly password?: string | null | undefined;
  readonly isAdministrator: boolean;
}

/**
 * Keeps an administrator who can log in. Administrators cannot disable, demote, convert or delete themselves, but the caller may be a
 * service account, or may have lost the role since the request began.
 */
async function requireOtherAdministrator(transaction: Transaction, user: User): Promise<void> {
  if (!user.isAdministrator || user.kind === 'SERVICE' || user.disabledAt !== null) return;
  if (await hasOtherAdministrator(transaction, user.id)) return;
  throw new Refusal(
    'CONFLICT',
    `${user.username} is the only person who is an administrator. Make another person an administrator first.`,
  );
}

/** A stolen key that acts as administrator must not become the login of an administrator, which has no expiry and no networks. */
export function requireNoApiKey({ byApiKeyId }: ChangeOrigin): void {
  if (byApiKeyId === undefined) return;
  throw new Refusal(
    'FORBIDDEN',
    'An API key cannot make a user an administrator, enable an administrator, or reset the password or the second factor of an administrator. Log in and use an auth token.',
  );
}

/** Administrators cannot disable or demote themselves. */
export async function updateUser(
  transaction: Transaction,
  id: string,
  changes: UserChanges,
  by: ChangeOrigin,
): Promise<void> {
  const user = await requireUser(transaction, id);
  const old = {
    username: user.username,
    isAdministrator: user.isAdministrator,
    isDisabled: user.disabledAt !== null,
  };
  const username = requireAccountName(changes.username ?? old.username, 'user name');
  const isAdministrator = changes.isAdministrator ?? old.isAdministrator;
  const isDisabled = changes.isDisabled ?? old.isDisabled;
  if (id === by.byUserId && isDisabled)
    throw new Refusal('CONFLICT', 'You cannot disable yourself. Another administrator can do this.');
  if (id === by.byUserId && !isAdministrator) {
    throw new Refusal(
      'CONFLICT',
      'You cannot remove your own administrator role. Another administrator can do this.',
    );
  }
  const isEnabled = old.isDisabled && !isDisabled;
  if (isAdministrator && (isEnabled || !old.isAdministrator)) requireNoApiKey(by);
  requireFreeName('user name', username, await readUserByName(transaction, username), id);
  if (isDisabled || !isAdministrator) await requireOtherAdministrator(transaction, user);
  await transaction.run(update, {
    id,
    username,
    usernameKey: accountNameKey(username),
    isAdministrator: Number(isAdministrator),
    disabledAt: isDisabled ? (user.disabledAt ?? by.now) : null,
  });
  const { before, after } = differences(old, { username, isAdministrator, isDisabled });
  const changedFields = Object.keys(after);
  if (changedFields.length === 0) return;
  const changesAccess = changedFields.some((field) => field !== 'username');
  record(transaction, { kind: 'UPDATE_USER', ...by, userId: id, before, after, changesAccess });
}

export async function resetPassword(
  transaction: Transaction,
  { userId, passwordHash }: CheckedCredentials,
  by: ChangeOrigin,
): Promise<void> {
  const user = await requireUser(transaction, userId);
  requirePerson(user);
  if (user.isAdministrator) requireNoApiKey(by);
  await transaction.run(updatePassword, { userId, passwordHash });
  record(transaction, { kind: 'CHANGE_PASSWORD', ...by, userId });
}

/** Refuses a service account. */
function requirePerson({ kind, username }: User): void {
  if (kind === 'PERSON') return;
  throw new Refusal(
    'CONFLICT',
    `${username} is a service account, which has no password. Create an API key for it instead.`,
  );
}

const updateToService = sql<{ id: string; passwordHash: string }>`
  update users set kind = 'SERVICE', password_hash = ${'passwordHash'} where id = ${'id'}`;

/** Converts a person to a service account: the password is deleted, and the grants and groups stay. */
export async function convertToServiceAccount(
  transaction: Transaction,
  id: string,
  by: ChangeOrigin,
): Promise<void> {
  const user = await requireUser(transaction, id);
  if (id === by.byUserId) throw new Refusal('CONFLICT', 'You cannot convert yourself to a service account.');
  if (user.kind === 'SERVICE') {
    throw new Refusal('CONFLICT', `${user.username} is already a service account.`);
  }
  await requireOtherAdministrator(transaction, user);
  await transaction.run(updateToService, { id, passwordHash: noPassword });
  const [before, after] = [{ kind: 'PERSON' }, { kind: 'SERVICE' }];
  record(transaction, { kind: 'UPDATE_USER', ...by, userId: id, before, after });
}

/** Returns false if the checked password has changed in the meantime. */
export async function changePassword(
  transaction: Transaction,
  { userId, passwordHash }: CheckedCredentials,
  newHash: string,
  now: number,
): Promise<boolean> {
  if ((await transaction.run(exchangePassword, { userId, passwordHash, newHash })) === 0) return false;
  record(transaction, { kind: 'CHANGE_PASSWORD', byUserId: userId, now, userId });
  return true;
}

/** Also deletes the user's grants, memberships and sessions. */
export async function deleteUser(transaction: Transaction, id: string, by: ChangeOrigin): Promise<void> {
  const user = await requireUser(transaction, id);
  const { username, isAdministrator } = user;
  if (id === by.byUserId)
    throw new Refusal('CONFLICT', 'You cannot delete yourself. Another administrator can do this.');
  await requireOtherAdministrator(transaction, user);
  await transaction.run(deleteGrants, { id });
  await transaction.run(deleteRow, { id });
  // The row is kept until all auth tokens of the user have expired.
  await transaction.run(insertDeletedUser, { id, now: by.now });
  const before = { username, isAdministrator };
  record(transaction, { kind: 'DELETE_USER', ...by, userId: id, before, changesAccess: true });
}
