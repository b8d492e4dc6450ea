/**
 * Passwords: rules, argon2id hashes, and checks of credentials. Hashing is bounded: each hash takes tens of milliseconds of a core,
 * and unbounded logins would starve every other request. It is also fair: no client address and no user can delay the logins of
 * others. An unknown user, a wrong password and a disabled user give the same result and take the same time.
 */

import { randomInt } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { FairQueue, type QueueEntry } from '../concurrency/fair-queue.ts';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { countSpareCores, type Semaphore } from '../concurrency/semaphore.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { Refusal, tooManyLogins } from '../refusal.ts';
import { accountNameKey, noPassword, toAccountName, type CheckedCredentials } from './users.ts';

export interface PasswordCost {
  readonly memoryCost: number;
  readonly timeCost: number;
  readonly parallelism: number;
}

interface PasswordOptions {
  readonly maxConcurrent?: number;
  /** Limits the hashing of all workers of this node together. Each worker shares its own permits fairly between keys. */
  readonly semaphore?: Semaphore | undefined;
  readonly maxWaiting?: number;
  readonly cost?: PasswordCost | undefined;
}

const defaultCost: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export class Passwords {
  readonly #cost: PasswordCost;
  readonly #semaphore: Semaphore | undefined;
  readonly #queue: FairQueue;
  readonly #dummyHash: string;

  constructor(options: PasswordOptions = {}) {
    const { maxConcurrent = countSpareCores(), semaphore, maxWaiting = 500, cost = defaultCost } = options;
    this.#cost = cost;
    this.#semaphore = semaphore;
    this.#dummyHash = createDummyHash(cost);
    this.#queue = new FairQueue({
      permits: maxConcurrent,
      maxWaiting,
      maxWaitingPerKey: Math.ceil(maxWaiting / 2),
      fullError: tooManyLogins,
    });
  }

  get hashing(): { readonly running: number; readonly waiting: number } {
    const { running, waiting } = this.#queue;
    const semaphore = this.#semaphore;
    return semaphore
      ? { running: semaphore.running, waiting: waiting + semaphore.waiting }
      : { running, waiting };
  }

  /** `entry` contains the key in the fair queue, for example the client address. */
  hash(password: string, entry: QueueEntry): Promise<string> {
    return this.#enqueue(entry, () => hash(normalize(password), this.#cost));
  }

  /** Returns false without a stored hash, and for `noPassword`, after the same work. */
  matches(password: string, storedHash: string | undefined, entry: QueueEntry): Promise<boolean> {
    const hasPassword = storedHash !== undefined && storedHash !== noPassword;
    return this.#enqueue(entry, async () => {
      const isMatch = await verify(hasPassword ? storedHash : this.#dummyHash, normalize(password));
      return isMatch && hasPassword;
    });
  }

  #enqueue<T>(entry: QueueEntry, task: () => Promise<T>): Promise<T> {
    return this.#queue.run(entry, () => (this.#semaphore ? this.#semaphore.run(task) : task()));
  }
}

/** The queue entry of a logged-in user. All requests of the user share one key and alternate between sessions. */
export function hashQueueEntry({
  userId,
  sessionId,
}: {
  userId: string;
  sessionId?: string | undefined;
}): QueueEntry {
  return { key: `user ${userId}`, subkey: sessionId ?? '' };
}

/** Creates a hash that no password matches, with the same cost, so that an unknown user takes as long as a known one. */
function createDummyHash({ memoryCost, timeCost, parallelism }: PasswordCost): string {
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`;
}

/** Different keyboards can produce different code points for the same characters. */
function normalize(password: string): string {
  return password.normalize('NFC');
}

/** Four groups of five characters: 98 bits, without similar-looking characters, safe in any shell and in JSON. */
export function generatePassword(): string {
  const letters = 'abcdefghijkmnpqrstuvwxyz23456789';
  const group = () => Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('');
  return [group(), group(), group(), group()].join('-');
}

const minPasswordLength = 8;
const maxPasswordLength = 128;
const commonPasswords = 10_000;

/** Applies NIST SP 800-63B §3.1.1.2 when a password is set, never at a login. The error never contains the password. */
export async function requireGoodPassword(input: string, username: string): Promise<void> {
  // Checked first, because the input can have any length.
  if (input.length > 8 * maxPasswordLength) throw wrongLength();
  if (!input.isWellFormed()) throw new Refusal('BAD_INPUT', 'A password must be well-formed Unicode.');
  const password = normalize(input);
  const length = [...password].length;
  if (length < minPasswordLength || length > maxPasswordLength) throw wrongLength();
  const folded = password.toLowerCase();
  if (folded === accountNameKey(username.normalize('NFC'))) {
    throw new Refusal('BAD_INPUT', 'The password must not be the user name.');
  }
  if (isSimple(folded) || (await isCommon(folded))) {
    throw new Refusal('BAD_INPUT', 'This password is one of the most common ones. Choose another one.');
  }
}

function wrongLength(): Refusal {
  return new Refusal(
    'BAD_INPUT',
    `A password must have ${minPasswordLength} to ${maxPasswordLength} characters, of any kind.`,
  );
}

/** Checks for repeated or consecutive characters, because the list of common passwords does not contain all of these passwords. */
function isSimple(folded: string): boolean {
  if (!/^[a-z\d]{8,12}$/.test(folded)) return false;
  if (/^(.{1,4})\1+$/.test(folded)) return true;
  const codes = Array.from(folded, (letter) => letter.codePointAt(0)!);
  const hasStep = (step: number) =>
    codes.every((code, index) => index === 0 || code - codes[index - 1]! === step);
  return hasStep(1) || hasStep(-1);
}

/** Loads the list of common passwords at the first use, because the list is large. */
async function isCommon(folded: string): Promise<boolean> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  // The list is in lower case and sorted by frequency. Passwords below the minimum length do not count.
  return dictionary['passwords-common']
    .filter(({ length }) => length >= minPasswordLength)
    .slice(0, commonPasswords)
    .includes(folded);
}

interface CredentialRow extends CheckedCredentials {
  readonly disabledAt: number | null;
  readonly isAdministrator: number;
  readonly secondFactorAt: number | null;
}

/** Also reads whether the login needs a second factor, so that it needs no further statement without one. */
const findCredentials = sql<{ usernameKey: string }, CredentialRow>`
  select id as "userId", password_hash as "passwordHash", disabled_at as "disabledAt",
    is_administrator as "isAdministrator", second_factor_at as "secondFactorAt"
  from users where username_key = ${'usernameKey'}`;

const findPasswordHash = sql<{ userId: string }, CheckedCredentials>`
  select id as "userId", password_hash as "passwordHash" from users where id = ${'userId'}`;

const updateLastLogin = sql<{ userId: string; now: number }>`
  update users set last_login_at = ${'now'}
  where id = ${'userId'} and kind = 'PERSON' and disabled_at is null`;
const updateLastPasswordLogin = sql<CheckedCredentials & { now: number }>`
  ${updateLastLogin} and password_hash = ${'passwordHash'}`;
const updateLastPasswordOnlyLogin = sql<CheckedCredentials & { now: number }>`
  ${updateLastPasswordLogin} and second_factor_at is null`;

/** A user whose password was correct, with what the rest of the login depends on. */
export interface LoginCredentials extends CheckedCredentials {
  readonly isAdministrator: boolean;
  readonly hasSecondFactor: boolean;
}

type CredentialCheck =
  | { readonly result: 'SUCCESS'; readonly credentials: LoginCredentials }
  /** `DISABLED` means that the password was correct. The response must not differ from that for a wrong password. */
  | { readonly result: 'WRONG_CREDENTIALS' | 'DISABLED'; readonly userId: string | null };

/** Checks a user name and a password, with the same work for an unknown user, a wrong password and a disabled user. */
export async function checkCredentials(
  reader: Reader,
  passwords: Passwords,
  login: { username: string; password: string },
  entry: QueueEntry,
): Promise<CredentialCheck> {
  const name = toAccountName(login.username);
  const stored =
    name === undefined ? undefined : await reader.get(findCredentials, { usernameKey: accountNameKey(name) });
  const isMatch = await passwords.matches(login.password, stored?.passwordHash, entry);
  if (!stored || !isMatch) return { result: 'WRONG_CREDENTIALS', userId: stored?.userId ?? null };
  const { userId, passwordHash, disabledAt } = stored;
  if (disabledAt !== null) return { result: 'DISABLED', userId };
  const isAdministrator = stored.isAdministrator === 1;
  const hasSecondFactor = stored.secondFactorAt !== null;
  return { result: 'SUCCESS', credentials: { userId, passwordHash, isAdministrator, hasSecondFactor } };
}

/** The user of a sign-in whose credentials are checked. */
export interface AuthenticatedUser {
  readonly userId: string;
  /** The hash that the password matched. The session starts only if the password is still the same. */
  readonly passwordHash?: string | undefined;
  /** The password alone was enough. The session starts only if the user still has no second factor. */
  readonly isPasswordEnough?: boolean;
}

/**
 * Confirms, in the transaction that creates the session, that the user is a person who is not disabled. After a check of the password,
 * also confirms that the password is still the same. It writes the time of the login, so that the database serializes it with a
 * concurrent change of the password, of the second factor or of the user.
 */
export async function recordLogin(
  transaction: Transaction,
  { userId, passwordHash, isPasswordEnough = false }: AuthenticatedUser,
  now: number,
): Promise<boolean> {
  if (passwordHash === undefined) return (await transaction.run(updateLastLogin, { userId, now })) === 1;
  const update = isPasswordEnough ? updateLastPasswordOnlyLogin : updateLastPasswordLogin;
  return (await transaction.run(update, { userId, passwordHash, now })) === 1;
}

/** `noPassword` for a user without one; undefined for an unknown user. */
export function readPasswordHash(reader: Reader, userId: string): PromiseOrValue<string | undefined> {
  return whenDone(reader.get(findPasswordHash, { userId }), (row) => row?.passwordHash);
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
