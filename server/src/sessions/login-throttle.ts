/**
 * Slows down whoever guesses passwords. Wrong ones are counted by account and address together and by address, never
 * by account alone: a stranger cannot keep anybody out. It never tells whether an account exists.
 *
 * Up to the limit a wrong password costs its hash and nothing else. From then on there is one attempt at a time, and a
 * growing pause between them; it is counted before the password is looked at, so that no two get in, on whatever node.
 */

import { createHmac } from 'node:crypto';
import { accountNameKey, toAccountName } from '../accounts/account-name.ts';
import type { Clock } from '../clock.ts';
import type { Database, Transaction } from '../database/database.ts';
import { Refusal } from '../refusal.ts';
import { createAttemptQueues, type Attempt, type Line, type SharedAttemptQueues } from './attempt-queues.ts';
import {
  countFailures,
  countIfStill,
  forgetFailures,
  readFailures,
  pruneFailures,
  takeBack,
  windowMs,
  type Failures,
} from './failed-attempts.ts';
import { isIPv6 } from 'net';

/** Who tries: somebody who logs in, or somebody who is logged in and asked for the password again. */
export type Guess =
  { readonly username: string; readonly address: string | null } | { readonly sessionId: string };

/** In the transaction that the right password leads to: forgets the wrong ones before it. */
export type Forgive = (transaction: Transaction) => Promise<void>;

export interface LoginThrottle {
  /** Does the work that checks a password, unless too many were wrong; undefined, and only that, means it was wrong. */
  attempt<T>(guess: Guess, work: (forgive: Forgive) => Promise<T | undefined>): Promise<T | undefined>;
  /** Forgets what no longer counts. */
  sweep(): Promise<void>;
}

export interface LoginThrottleOptions {
  readonly database: Database;
  readonly clock: Clock;
  /** Makes the digests of one installation differ from those of any other. */
  readonly installation: string;
  readonly isOn: boolean;
  /** Those of all workers of this node; unless given, this process has its own. */
  readonly lines?: SharedAttemptQueues | undefined;
}

interface Limit {
  /** So many failures are answered as if there were none. */
  readonly failures: number;
  /**
   * So many are looked at at a time on one node. Nodes do not see what is under way on the others: so many may slip in
   * there besides, once. More than a machine can hash at a time would be of no use.
   */
  readonly atOnce: number;
}

const ofGuess: Limit = { failures: 50, atOnce: 8 };
const ofAddress: Limit = { failures: 500, atOnce: 64 };

const firstPauseMs = 1_000;
/**
 * One attempt a minute is less than anybody has who stays below the limit: a longer pause would slow down no guesser,
 * only those beside them at the same address.
 */
const longestPauseMs = 60_000;

interface Counter extends Line {
  readonly digest: Uint8Array;
  readonly limit: number;
}

/** How things stood when an attempt was let in. */
interface Entry {
  readonly known: readonly Failures[];
  /** Those of them in which it is counted already. */
  readonly counted: readonly Failures[];
}

export function createLoginThrottle(options: LoginThrottleOptions): LoginThrottle {
  const { database, clock, installation, isOn, lines = createAttemptQueues() } = options;

  const counter = (key: readonly string[], { failures, atOnce }: Limit): Counter => {
    const digest = createHmac('sha256', installation).update(JSON.stringify(key)).digest();
    return { digest, key: digest.toString('base64'), limit: failures, atOnce };
  };

  function countersOf(guess: Guess): Counter[] {
    if ('sessionId' in guess) return [counter(['session', guess.sessionId], ofGuess)];
    const { name, range } = identifyLogin(guess);
    return [counter(['login', name, range], ofGuess), counter(['address', range], ofAddress)];
  }

  /** Waits until it is known that those before leave room for it; refuses it while there is a pause. */
  async function enter(counters: readonly Counter[], attempt: Attempt): Promise<Entry> {
    for (;;) {
      const moved = attempt.moved();
      const ahead = attempt.ahead();
      if (counters.some(({ atOnce }, place) => ahead[place]! >= atOnce)) {
        await moved;
        continue;
      }
      const now = clock.now();
      const digests = counters.map(({ digest }) => digest);
      const known = await readFailures(database, digests, now);
      const pauses = known.map((failures, place) => pauseLeftMs(failures, counters[place]!.limit, now));
      if (Math.max(...pauses) > 0) throw tooMany(Math.max(...pauses));
      const room = known.map(({ failures }, place) => counters[place]!.limit - failures);
      if (room.some((left, place) => left > 0 && ahead[place]! >= left)) {
        await moved;
        continue;
      }
      const over = known.filter((_, place) => room[place]! <= 0);
      if (over.length === 0 || (await countAhead(over, now))) return { known, counted: over };
    }
  }

  /** All or none; none if somebody else was faster. */
  async function countAhead(over: readonly Failures[], now: number): Promise<boolean> {
    const lost = new Error('Somebody else was faster.');
    try {
      await database.transaction(async (transaction) => {
        for (const known of over) if (!(await countIfStill(transaction, known, now))) throw lost;
      });
      return true;
    } catch (error) {
      if (error === lost) return false;
      throw error;
    }
  }

  return {
    async attempt(guess, work) {
      if (!isOn) return work(() => Promise.resolve());
      const counters = countersOf(guess);
      const attempt = await lines.join(counters);
      try {
        const { known, counted } = await enter(counters, attempt);
        const [own, ...others] = known as [Failures, ...Failures[]];
        const result = await work(async (transaction) => {
          if (own.failures > 0) await forgetFailures(transaction, own);
          for (const each of others) if (counted.includes(each)) await takeBack(transaction, each);
        });
        const wrong = known.filter((each) => result === undefined && !counted.includes(each));
        if (wrong.length > 0) {
          // What cannot be counted is not answered: else nobody would count while the database cannot be written.
          const digests = wrong.map(({ digest }) => digest);
          await database.transaction((transaction) => countFailures(transaction, digests, clock.now()));
        }
        return result;
      } finally {
        attempt.leave();
      }
    },
    sweep: () => pruneFailures(database, clock.now()),
  };
}

/** What logins are counted and queued by. A text that cannot be a user name is treated like one. */
export function identifyLogin({ username, address }: { username: string; address: string | null }): {
  name: string;
  range: string;
} {
  return { name: accountNameKey(toAccountName(username) ?? username), range: addressRange(address) };
}

/** Each failure from the limit on doubles the pause. It ends when they no longer count, at the latest. */
export function pauseLeftMs({ failures, startedAt, failedAt }: Failures, limit: number, now: number): number {
  if (failures < limit) return 0;
  const pauseMs = Math.min(firstPauseMs * 2 ** (failures - limit), longestPauseMs);
  return Math.min(failedAt + pauseMs, startedAt + windowMs) - now;
}

function tooMany(leftMs: number): Refusal {
  const retryAfterSeconds = Math.ceil(leftMs / 1000);
  return new Refusal('TOO_MANY_ATTEMPTS', `Too many wrong passwords. Try again in ${retryAfterSeconds} s.`, {
    retryAfterSeconds,
    facts: { retryAfterSeconds },
  });
}
/**
 * An IPv4 address stands for itself. Of IPv6 a client has a /64 at the least (RFC 6177), so that is its range. An IPv4
 * address written as IPv6 (mapped: RFC 4291 §2.5.5.2; translated: RFC 6052 §2.1) is IPv4, or all of them were one client.
 */

export function addressRange(address: string | null): string {
  if (address === null || !isIPv6(address)) return address ?? '';
  const groups = groupsOf(address.replace(/%.*$/, ''));
  const prefix = groups.slice(0, 6).join(':');
  if (prefix === '0:0:0:0:0:ffff' || prefix === '64:ff9b:0:0:0:0') return toIPv4(groups[6]!, groups[7]!);
  return `${groups.slice(0, 4).join(':')}::/64`;
}
/** The eight groups, in lower case and without leading zeros. */
function groupsOf(address: string): string[] {
  // A URL's host is written in the one canonical form.
  const [before = '', after] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const head = before ? before.split(':') : [];
  const tail = after ? after.split(':') : [];
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
}
function toIPv4(high: string, low: string): string {
  const [upper, lower] = [parseInt(high, 16), parseInt(low, 16)];
  return [upper >> 8, upper & 255, lower >> 8, lower & 255].join('.');
}
