/**
 * Password rules and argon2id hashes. Hashing is bounded: each hash takes tens of milliseconds of a core, and unbounded logins
 * would starve every other request. It is also fair: no client address and no user can delay the logins of others.
 */

import { randomInt } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { FairQueue, type QueueEntry } from '../concurrency/fair-queue.ts';
import { countSpareCores, type Semaphore } from '../concurrency/semaphore.ts';
import { Refusal } from '../refusal.ts';
import { accountNameKey } from './account-name.ts';

export interface PasswordCost {
  readonly memoryCost: number;
  readonly timeCost: number;
  readonly parallelism: number;
}

const defaultCost: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export interface Passwords {
  readonly hashing: { readonly running: number; readonly waiting: number };
  /** The entry is the key in the queue, for example the client address. */
  hash(password: string, entry: QueueEntry): Promise<string>;
  /** Without a hash, does the same work and returns false. */
  matches(password: string, hash: string | undefined, entry: QueueEntry): Promise<boolean>;
}

export interface PasswordOptions {
  readonly maxConcurrent?: number;
  /** Limits the hashing of all workers of this node together. Each worker shares its permits fairly. */
  readonly semaphore?: Semaphore | undefined;
  readonly maxWaiting?: number;
  readonly cost?: PasswordCost | undefined;
}

export function createPasswords({
  maxConcurrent = countSpareCores(),
  semaphore,
  maxWaiting = 500,
  cost = defaultCost,
}: PasswordOptions = {}): Passwords {
  const dummyHash = createDummyHash(cost);
  const queue = new FairQueue({
    permits: maxConcurrent,
    maxWaiting,
    maxWaitingPerKey: Math.ceil(maxWaiting / 2),
    fullError: tooManyLogins,
  });
  const enqueue = <T>(entry: QueueEntry, task: () => Promise<T>): Promise<T> =>
    queue.run(entry, () => (semaphore ? semaphore.run(task) : task()));
  return {
    get hashing() {
      if (!semaphore) return { running: queue.running, waiting: queue.waiting };
      return { running: semaphore.running, waiting: queue.waiting + semaphore.waiting };
    },
    hash: (password, entry) => enqueue(entry, () => hash(normalize(password), cost)),
    matches: (password, storedHash, entry) =>
      enqueue(entry, async () => {
        const isMatch = await verify(storedHash ?? dummyHash, normalize(password));
        return isMatch && storedHash !== undefined;
      }),
  };
}

/** The queue entry of a logged-in user. All requests of the user share one key and alternate between sessions. */
export function hashQueueEntry({ userId, sessionId }: { userId: string; sessionId?: string }): QueueEntry {
  return { key: `user ${userId}`, subkey: sessionId ?? '' };
}

function tooManyLogins(): Refusal {
  return new Refusal('UNAVAILABLE', 'Too many logins at once. Try again in a moment.', {
    retryAfterSeconds: 5,
  });
}

/** Creates a hash of no password with the same cost, so that an unknown user takes as long as a known one. */
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

/**
 * Requires a long and uncommon password (NIST SP 800-63B §3.1.1.2). Applies when a password is set, never at a login. The
 * error never contains the password.
 */
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
    throw new Refusal('BAD_INPUT', 'This password is one of the most common ones. Choose another.');
  }
}

function wrongLength(): Refusal {
  return new Refusal(
    'BAD_INPUT',
    `A password has ${minPasswordLength} to ${maxPasswordLength} characters, of any kind.`,
  );
}

/** Repeated or consecutive characters, which the list of common passwords leaves out. */
function isSimple(folded: string): boolean {
  if (!/^[a-z\d]{8,12}$/.test(folded)) return false;
  if (/^(.{1,4})\1+$/.test(folded)) return true;
  const codes = Array.from(folded, (letter) => letter.codePointAt(0)!);
  const hasStep = (step: number) =>
    codes.every((code, index) => index === 0 || code - codes[index - 1]! === step);
  return hasStep(1) || hasStep(-1);
}

/** Loads the list when a password is set for the first time, because it is large. */
async function isCommon(folded: string): Promise<boolean> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  // Sorted by frequency, in lower case. Passwords below the minimum length do not count.
  return dictionary['passwords-common']
    .filter(({ length }) => length >= minPasswordLength)
    .slice(0, commonPasswords)
    .includes(folded);
}
