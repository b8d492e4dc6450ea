/** Reading users: one, some, or a page of a list in the order of their names. */

import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Reader } from '../database/database.ts';
import { isRowId } from '../database/statement.ts';
import { list, sql, type Statement } from '../database/statement.ts';
import { Refusal } from '../refusal.ts';
import { accountNameKey, searchPattern, toAccountName } from './account-name.ts';

export interface User {
  readonly id: string;
  readonly username: string;
  readonly isAdministrator: boolean;
  readonly createdAt: number;
  readonly disabledAt: number | null;
  readonly lastLoginAt: number | null;
}

/** Which users a list has: those whose name holds the text in any case, and who are in the group. */
export interface UserFilter {
  readonly text?: string | null | undefined;
  readonly groupId?: string | undefined;
}

/** What follows a key in a list, and no more than `limit` of it. */
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

/** The statements of one kind of list; `source` names the table and which rows of it. */
const statementsOf = (source: Statement) => ({
  page: sql<FilterParameters & { after: string; limit: number }, UserRow>`
    ${selectUser} ${source} and username_key > ${'after'} order by username_key limit ${'limit'}`,
  count: sql<FilterParameters, { count: number }>`select count(*) as count ${source}`,
});

const everybody = statementsOf(sql`from users where username_key like ${'pattern'} escape '!'`);
const members = statementsOf(sql`
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

/** Those of the ids that are users, by id. */
export function readUsers(reader: Reader, ids: readonly string[]): PromiseOrValue<Map<string, User>> {
  const possible = ids.filter(isRowId);
  return whenDone(
    reader.all(findByIds, { ids: possible }),
    (rows) => new Map(rows.map((row) => [row.id, toUser(row)])),
  );
}

/** The first of them, in the order of their names. */
export function readAdministrators(reader: Reader, limit: number): PromiseOrValue<User[]> {
  return whenDone(reader.all(findAdministrators, { limit }), (rows) => rows.map(toUser));
}

/** In the order of `userKey`. */
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

/** The place of a user in a list. */
export function userKey({ username }: User): string {
  return accountNameKey(username);
}

function listOf({ text, groupId }: UserFilter) {
  const pattern = searchPattern(text);
  return {
    statements: groupId === undefined ? everybody : members,
    parameters: pattern === undefined ? undefined : { pattern, groupId },
  };
}

function toUser(row: UserRow): User {
  return { ...row, isAdministrator: row.isAdministrator === 1 };
}
