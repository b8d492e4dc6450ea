/**
 * Passwords as argon2id hashes. Hashing is bounded: each costs tens of milliseconds of a core, and unbounded logins
 * would starve every other request.
 */

import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { Refusal } from '../refusal.ts';

const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** A hash of no password at the same cost, so that an unknown user takes as long as a known one. */
const nobodysHash = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

export interface Passwords {
  hash(password: string): Promise<string>;
  /** Without a hash it does the same work and answers false. */
  matches(password: string, hash: string | undefined): Promise<boolean>;
}

export function createPasswords(
  limits = { atOnce: Math.max(1, availableParallelism() - 1), waiting: 500 },
): Passwords {
  const inTurn = boundedQueue(limits);
  return {
    hash: (password) => inTurn(() => hash(normal(password), cost)),
    matches: (password, known) =>
      inTurn(async () => {
        const isMatch = await verify(known ?? nobodysHash, normal(password));
        return isMatch && known !== undefined;
      }),
  };
}

/** The same letters typed on two kinds of keyboard are the same password. */
function normal(password: string): string {
  return password.normalize('NFC');
}

function boundedQueue(limits: { atOnce: number; waiting: number }) {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async <T>(task: () => Promise<T>): Promise<T> => {
    if (running < limits.atOnce) running++;
    else if (waiting.length < limits.waiting) await new Promise<void>((resolve) => waiting.push(resolve));
    else {
      throw new Refusal('UNAVAILABLE', 'Too many logins at once. Try again in a moment.', {
        retryAfterSeconds: 5,
      });
    }
    try {
      return await task();
    } finally {
      // The place goes to the next in line, or back to the pool.
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
