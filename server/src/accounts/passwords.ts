/**
 * Passwords as argon2id hashes. Hashing is bounded: each costs tens of milliseconds of a core, and unbounded logins
 * would starve every other request.
 */

import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { createPlaces } from '../places.ts';
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
  const places = createPlaces(limits.atOnce);
  const inTurn = async <T>(task: () => Promise<T>): Promise<T> => {
    if (places.waiting < limits.waiting || places.areFree) return places.use(task);
    throw new Refusal('UNAVAILABLE', 'Too many logins at once. Try again in a moment.', {
      retryAfterSeconds: 5,
    });
  };
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
