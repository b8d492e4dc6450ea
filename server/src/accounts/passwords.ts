/**
 * Passwords as argon2id hashes. Hashing is bounded: each costs tens of milliseconds of a core, and unbounded logins
 * would starve every other request. It is also fair: no client address and no user can delay the logins of others.
 */

import { hash, verify } from '@node-rs/argon2';
import { FairQueue, type QueueEntry } from '../concurrency/fair-queue.ts';
import { countSpareCores, type Semaphore } from '../concurrency/semaphore.ts';
import { Refusal } from '../refusal.ts';
import { randomInt } from 'crypto';
import { accountNameKey } from './account-name.ts';

export interface PasswordCost {
  readonly memoryCost: number;
  readonly timeCost: number;
  readonly parallelism: number;
}

const defaultCost: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export interface Passwords {
  /** At this moment. */
  readonly hashing: { readonly running: number; readonly waiting: number };
  /** The entry is the queue's key of the client that the server hashes for, such as its address. */
  hash(password: string, entry: QueueEntry): Promise<string>;
  /** Without a hash it does the same work and answers false. */
  matches(password: string, hash: string | undefined, entry: QueueEntry): Promise<boolean>;
}

export interface PasswordOptions {
  readonly atOnce?: number;
  /** Limits the hashing of all workers of this node together. Each worker shares its permits fairly. */
  readonly semaphore?: Semaphore | undefined;
  readonly maxWaiting?: number;
  readonly cost?: PasswordCost | undefined;
}

export function createPasswords({
  atOnce = countSpareCores(),
  semaphore,
  maxWaiting = 500,
  cost = defaultCost,
}: PasswordOptions = {}): Passwords {
  const dummyHash = createDummyHash(cost);
  const queue = new FairQueue({
    permits: atOnce,
    maxWaiting,
    maxWaitingPerKey: Math.ceil(maxWaiting / 2),
    fullError: tooManyLogins,
  });
  const inTurn = <T>(entry: QueueEntry, task: () => Promise<T>): Promise<T> =>
    queue.run(entry, () => (semaphore ? semaphore.run(task) : task()));
  return {
    get hashing() {
      if (!semaphore) return { running: queue.running, waiting: queue.waiting };
      return { running: semaphore.running, waiting: queue.waiting + semaphore.waiting };
    },
    hash: (password, entry) => inTurn(entry, () => hash(normal(password), cost)),
    matches: (password, known, entry) =>
      inTurn(entry, async () => {
        const isMatch = await verify(known ?? dummyHash, normal(password));
        return isMatch && known !== undefined;
      }),
  };
}

/** The entry of a user who is logged in: the user's requests share one turn, and alternate between sessions. */
export function hashQueueEntry({ userId, sessionId }: { userId: string; sessionId?: string }): QueueEntry {
  return { key: `user ${userId}`, subkey: sessionId ?? '' };
}

function tooManyLogins(): Refusal {
  return new Refusal('UNAVAILABLE', 'Too many logins at once. Try again in a moment.', {
    retryAfterSeconds: 5,
  });
}

/** A hash of no password at the same cost, so that an unknown user takes as long as a known one. */
function createDummyHash({ memoryCost, timeCost, parallelism }: PasswordCost): string {
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`;
}

/** The same letters typed on two kinds of keyboard are the same password. */
function normal(password: string): string {
  return password.normalize('NFC');
}
/** Four groups of five: 98 bits, without letters that are mistaken for each other, safe in any shell and in JSON. */

export function generatePassword(): string {
  const letters = 'abcdefghijkmnpqrstuvwxyz23456789';
  const group = () => Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('');
  return [group(), group(), group(), group()].join('-');
}
const shortestPassword=8;
const longestPassword=128;
const refusedAsCommon=10000;

export async function requireGoodPassword(given: string,username: string): Promise<void> {
  // Before any work on it: a text of any length could stand there.
  if(given.length>8*longestPassword) throw wrongLength();
  if(!given.isWellFormed()) throw new Refusal('BAD_INPUT','A password must be well-formed Unicode.');
  const password=given.normalize('NFC');
  const length=[...password].length;
  if(length<shortestPassword||length>longestPassword) throw wrongLength();
  const folded=password.toLowerCase();
  if(folded===accountNameKey(username.normalize('NFC'))) {
    throw new Refusal('BAD_INPUT','The password must not be the user name.');
  }
  if(isSimple(folded)||(await isCommon(folded))) {
    throw new Refusal('BAD_INPUT','This password is one of the most common ones. Choose another.');
  }
}
function wrongLength(): Refusal {
  return new Refusal(
    'BAD_INPUT',
    `A password has ${shortestPassword} to ${longestPassword} characters, of any kind.`
  );
}
/** A few letters or digits over and over, or in a row: as common, but the list leaves out what a rule can tell. */
function isSimple(folded: string): boolean {
  if(!/^[a-z\d]{8,12}$/.test(folded)) return false;
  if(/^(.{1,4})\1+$/.test(folded)) return true;
  const codes=Array.from(folded,(letter) => letter.codePointAt(0)!);
  const isRow=(step: number) => codes.every((code,place) => place===0||code-codes[place-1]!===step);
  return isRow(1)||isRow(-1);
}
/** The list is large and seldom needed: it is loaded when somebody first sets a password. */

async function isCommon(folded: string): Promise<boolean> {
  const { dictionary }=await import('@zxcvbn-ts/language-common');
  // The most common first, in lower case. Those that are too short anyway do not count.
  return dictionary['passwords-common']
    .filter(({ length }) => length>=shortestPassword)
    .slice(0,refusedAsCommon)
    .includes(folded);
}
