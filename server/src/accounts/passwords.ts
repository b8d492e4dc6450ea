/**
 * Passwords as argon2id hashes. Hashing is bounded: each costs tens of milliseconds of a core, and unbounded logins
 * would starve every other request.
 */

import { hash, verify } from '@node-rs/argon2';
import { createPlaces, spareCores, type Places } from '../places.ts';
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
  hash(password: string): Promise<string>;
  /** Without a hash it does the same work and answers false. */
  matches(password: string, hash: string | undefined): Promise<boolean>;
}

export interface PasswordOptions {
  readonly atOnce?: number;
  /** Those of all workers of this node; unless given, this process has its own. */
  readonly places?: Places | undefined;
  readonly waiting?: number;
  readonly cost?: PasswordCost | undefined;
}

export function createPasswords({
  atOnce = spareCores(),
  places = createPlaces(atOnce),
  waiting = 500,
  cost = settledCost,
}: PasswordOptions = {}): Passwords {
  const nobodysHash = hashOfNothing(cost);
  const inTurn = async <T>(task: () => Promise<T>): Promise<T> => {
    if (places.waiting < waiting || places.areFree) return places.use(task);
    throw new Refusal('UNAVAILABLE', 'Too many logins at once. Try again in a moment.', {
      retryAfterSeconds: 5,
    });
  };
  return {
    get hashing() {
      return { running: places.taken, waiting: places.waiting };
    },
    hash: (password) => inTurn(() => hash(normal(password), cost)),
    matches: (password, known) =>
      inTurn(async () => {
        const isMatch = await verify(known ?? nobodysHash, normal(password));
        return isMatch && known !== undefined;
      }),
  };
}

/** A hash of no password at the same cost, so that an unknown user takes as long as a known one. */
function hashOfNothing({ memoryCost, timeCost, parallelism }: PasswordCost): string {
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`;
}

/** The same letters typed on two kinds of keyboard are the same password. */
function normal(password: string): string {
  return password.normalize('NFC');
}
