/** Credentials. Never tells why a login failed: unknown, wrong and disabled look and cost the same. */

import type { QueueEntry } from '../concurrency/fair-queue.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { accountNameKey, toAccountName } from './account-name.ts';
import { hashQueueEntry, type Passwords } from './passwords.ts';

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

const findPasswordHash = sql<{ userId: string }, CheckedCredentials>`
  select id as "userId", password_hash as "passwordHash" from users where id = ${'userId'}`;

const recordLoginOf = sql<CheckedCredentials & { now: number }>`
  update users set last_login_at = ${'now'}
  where id = ${'userId'} and password_hash = ${'passwordHash'} and disabled_at is null`;

const anyUser = sql<object, { id: string }>`select id from users limit 1`;

/** Answers undefined for an unknown user, a wrong password and a disabled user, after the same work. */
export async function checkCredentials(
  reader: Reader,
  passwords: Passwords,
  given: { username: string; password: string },
  entry: QueueEntry,
): Promise<CheckedCredentials | undefined> {
  const username = toAccountName(given.username);
  const stored =
    username === undefined
      ? undefined
      : await reader.get(findCredentials, { usernameKey: accountNameKey(username) });
  const isMatch = await passwords.matches(given.password, stored?.passwordHash, entry);
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

/** Whether it is the password of this user; undefined if it is not. */
export async function checkPassword(
  reader: Reader,
  passwords: Passwords,
  given: { userId: string; sessionId: string; password: string },
): Promise<CheckedCredentials | undefined> {
  const stored = await reader.get(findPasswordHash, { userId: given.userId });
  const isMatch = await passwords.matches(given.password, stored?.passwordHash, hashQueueEntry(given));
  return stored && isMatch ? stored : undefined;
}

export async function hasUsers(reader: Reader): Promise<boolean> {
  return (await reader.get(anyUser, {})) !== undefined;
}
