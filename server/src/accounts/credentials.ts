/** Checks passwords. An unknown user, a wrong password and a disabled user give the same result and take the same time. */

import type { QueueEntry } from '../concurrency/fair-queue.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { accountNameKey, toAccountName } from './account-name.ts';
import { hashQueueEntry, type Passwords } from './passwords.ts';

/** The user whose password was correct, and the hash that it matched: the password may change before the login completes. */
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

const findPasswordHash = sql<{ userId: string }, CheckedCredentials>`
  select id as "userId", password_hash as "passwordHash" from users where id = ${'userId'}`;

const updateLastLogin = sql<CheckedCredentials & { now: number }>`
  update users set last_login_at = ${'now'}
  where id = ${'userId'} and password_hash = ${'passwordHash'} and disabled_at is null`;

const findAnyUser = sql<object, { id: string }>`select id from users limit 1`;

/** Returns undefined for an unknown user, a wrong password and a disabled user, after the same work. */
export async function checkCredentials(
  reader: Reader,
  passwords: Passwords,
  login: { username: string; password: string },
  entry: QueueEntry,
): Promise<CheckedCredentials | undefined> {
  const username = toAccountName(login.username);
  const stored =
    username === undefined
      ? undefined
      : await reader.get(findCredentials, { usernameKey: accountNameKey(username) });
  const isMatch = await passwords.matches(login.password, stored?.passwordHash, entry);
  return stored && isMatch && stored.disabledAt === null ? stored : undefined;
}

/**
 * Confirms that the credentials are still valid, inside the transaction that creates the session. It is a write, so that the
 * database serializes it with a concurrent change of the password or of the user.
 */
export async function recordLogin(
  transaction: Transaction,
  { userId, passwordHash }: CheckedCredentials,
  now: number,
): Promise<boolean> {
  return (await transaction.run(updateLastLogin, { userId, passwordHash, now })) === 1;
}

/** Checks the password of a logged-in user. Returns undefined if it is wrong. */
export async function checkPassword(
  reader: Reader,
  passwords: Passwords,
  login: { userId: string; sessionId: string; password: string },
): Promise<CheckedCredentials | undefined> {
  const stored = await reader.get(findPasswordHash, { userId: login.userId });
  const isMatch = await passwords.matches(login.password, stored?.passwordHash, hashQueueEntry(login));
  return stored && isMatch ? stored : undefined;
}

export async function hasUsers(reader: Reader): Promise<boolean> {
  return (await reader.get(findAnyUser, {})) !== undefined;
}
