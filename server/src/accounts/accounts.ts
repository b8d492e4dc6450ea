/** Users and their credentials. Never tells why a login failed: unknown, wrong and disabled look and cost the same. */

import { randomUUID } from 'node:crypto';
import type { Reader, Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { Refusal } from '../refusal.ts';
import type { Passwords } from './passwords.ts';

export interface User {
  readonly id: string;
  readonly username: string;
  readonly isAdministrator: boolean;
}

/** Whose password was right, and which: a password changed meanwhile no longer counts. */
export interface CheckedCredentials {
  readonly userId: string;
  readonly passwordHash: string;
}

interface StoredCredentials extends CheckedCredentials {
  readonly disabledAt: number | null;
}

const findCredentials = sql<{ usernameKey: string }, StoredCredentials>`
  select id as "userId", password_hash as "passwordHash", disabled_at as "disabledAt"
  from users where username_key = ${'usernameKey'}`;

const recordLoginOf = sql<CheckedCredentials & { now: number }>`
  update users set last_login_at = ${'now'}
  where id = ${'userId'} and password_hash = ${'passwordHash'} and disabled_at is null`;

const findUser = sql<{ id: string }, Omit<User, 'isAdministrator'> & { isAdministrator: number }>`
  select id, username, is_administrator as "isAdministrator" from users where id = ${'id'}`;

const anyUser = sql<object, { id: string }>`select id from users limit 1`;

const insertUser = sql<{
  id: string;
  username: string;
  usernameKey: string;
  passwordHash: string;
  isAdministrator: number;
  now: number;
}>`
  insert into users (id, username, username_key, password_hash, is_administrator, created_at)
  values (${'id'}, ${'username'}, ${'usernameKey'}, ${'passwordHash'}, ${'isAdministrator'}, ${'now'})`;

/** Answers undefined for an unknown user, a wrong password and a disabled user, after the same work. */
export async function checkCredentials(
  reader: Reader,
  passwords: Passwords,
  given: { username: string; password: string },
): Promise<CheckedCredentials | undefined> {
  const username = toUsername(given.username);
  const stored =
    username === undefined
      ? undefined
      : await reader.get(findCredentials, { usernameKey: usernameKey(username) });
  const isMatch = await passwords.matches(given.password, stored?.passwordHash);
  return stored && isMatch && stored.disabledAt === null ? stored : undefined;
}

/**
 * Confirms inside the transaction that starts a session that the credentials still hold. It is a write, so that it
 * and a disabling or a change of the password at the same time come one after the other.
 */
export async function recordLogin(
  transaction: Transaction,
  { userId, passwordHash }: CheckedCredentials,
  now: number,
): Promise<boolean> {
  return (await transaction.run(recordLoginOf, { userId, passwordHash, now })) === 1;
}

export async function readUser(reader: Reader, id: string): Promise<User | undefined> {
  const row = await reader.get(findUser, { id });
  return row && { ...row, isAdministrator: row.isAdministrator === 1 };
}

export async function hasUsers(reader: Reader): Promise<boolean> {
  return (await reader.get(anyUser, {})) !== undefined;
}

export async function createUser(
  transaction: Transaction,
  given: { username: string; passwordHash: string; isAdministrator: boolean },
  now: number,
): Promise<string> {
  const username = toUsername(given.username);
  if (!username) {
    throw new Refusal('BAD_INPUT', 'A user name has 1 to 128 characters and no control characters.');
  }
  const id = randomUUID();
  await transaction.run(insertUser, {
    id,
    username,
    usernameKey: usernameKey(username),
    passwordHash: given.passwordHash,
    isAdministrator: given.isAdministrator ? 1 : 0,
    now,
  });
  return id;
}

/** The name as it is kept, or undefined if no user can have it. */
export function toUsername(given: string): string | undefined {
  const username = given.normalize('NFC');
  const length = [...username].length;
  return length >= 1 && length <= 128 && username.isWellFormed() && !/\p{Cc}/u.test(username)
    ? username
    : undefined;
}

/** Names that differ only in upper and lower case are the same user. */
function usernameKey(username: string): string {
  return username.toLowerCase();
}
