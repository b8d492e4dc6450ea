/**
 * Passwords as argon2id hashes. Hashing is bounded: each costs tens of milliseconds of a core, and unbounded logins
 * would starve every other request. It is also fair: no client address and no user can delay the logins of others.
 */

import { hash, verify } from '@node-rs/argon2';
import { FairQueue, type QueueEntry } from '../concurrency/fair-queue.ts';
import { countSpareCores, type Semaphore } from '../concurrency/semaphore.ts';
import { Refusal } from '../refusal.ts';

export interface PasswordCost {
  readonly memoryCost: number;
  readonly timeCost: number;
  readonly parallelism: number;
}

const settledCost: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

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
  cost = settledCost,
}: PasswordOptions = {}): Passwords {
  const nobodysHash = hashOfNothing(cost);
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
        const isMatch = await verify(known ?? nobodysHash, normal(password));
        return isMatch && known !== undefined;
      }),
  };
}

/** The entry of a user who is logged in: the user's requests share one turn, and alternate between sessions. */
export function hashingFor({ userId, sessionId }: { userId: string; sessionId?: string }): QueueEntry {
  return { key: `user ${userId}`, subkey: sessionId ?? '' };
}

function tooManyLogins(): Refusal {
  return new Refusal('UNAVAILABLE', 'Too many logins at once. Try again in a moment.', {
    retryAfterSeconds: 5,
  });
}

/** A hash of no password at the same cost, so that an unknown user takes as long as a known one. */
function hashOfNothing({ memoryCost, timeCost, parallelism }: PasswordCost): string {
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`;
}

/** The same letters typed on two kinds of keyboard are the same password. */
function normal(password: string): string {
  return password.normalize('NFC');
}
