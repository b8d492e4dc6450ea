/**
 * Throttles password guessing. Failed attempts are counted by account and address together, and by address, never by account
 * alone: an attacker cannot lock a user out. The throttle does not reveal whether an account exists. The counts are in the database,
 * so that they apply to all nodes and survive restarts. Names and addresses are stored as digests only, and only while they count.
 * If a logged-in user must enter the password again, for example to change it, failed attempts are counted by session instead.
 *
 * Below the limit, a failed attempt only costs its password hash. Above the limit, attempts run one at a time with a growing
 * pause. Each attempt is counted before its password is checked, so that no two attempts pass at the same time, even on
 * different nodes.
 */

import { createHmac } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { accountNameKey, toAccountName } from '../accounts/users.ts';
import type { Clock } from '../clock.ts';
import type { Database, Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { pruneInBatches } from '../journal/prune.ts';
import { Refusal } from '../refusal.ts';
import {
  AttemptQueues,
  type QueuedAttempt,
  type QueueKey,
  type SharedAttemptQueues,
} from './attempt-queues.ts';

/**
 * The source of an attempt: a login with a password, a sign-in with a passkey, which names no user, a code of a user after the correct
 * password, or a logged-in user who must prove the identity again, with a password or with a code.
 */
export type AttemptSource =
  | { readonly username: string; readonly address: string | null }
  | { readonly passkeyFrom: string | null }
  | { readonly codeOf: string }
  | { readonly sessionId: string }
  | { readonly codeOfSession: string };

/** Deletes the counted failures of an account or a session, in the transaction that follows the correct password. */
export type ClearFailures = (transaction: Transaction) => Promise<void>;

interface LoginThrottleOptions {
  readonly database: Database;
  readonly clock: Clock;
  /** Makes the stored digests of installations differ. */
  readonly installation: string;
  readonly isOn: boolean;
  /** The queues of all workers of this node. By default, the process has its own. */
  readonly attemptQueues?: SharedAttemptQueues | undefined;
}

interface Limit {
  /** How long failures count, starting with the first one. */
  readonly windowMs: number;
  /** The number of failures without a pause. */
  readonly maxFailures: number;
  /**
   * How many attempts one node admits at the same time. A node does not see the attempts in progress on other nodes. So each
   * additional node can exceed the limit once by this number. Above the limit, `countIfUnchanged` admits one attempt on all nodes.
   * `countSpareCores()` limits how many passwords are hashed at the same time.
   */
  readonly maxConcurrent: number;
  readonly maxPauseMs: number;
  /** Other users have the same counter, so a correct attempt does not clear it. */
  readonly isShared?: true;
}

const windowMs = 15 * 60_000;

const firstPauseMs = 1_000;

/** A longer pause would not slow an attacker down further, but would affect other users at the same address. */
const maxPauseMs = 60_000;

const accountLimit: Limit = { windowMs, maxFailures: 50, maxConcurrent: 8, maxPauseMs };
const addressLimit: Limit = { windowMs, maxFailures: 500, maxConcurrent: 64, maxPauseMs, isShared: true };
/**
 * A code has only a million values, so the codes of a login are counted by user, from all addresses together. Only someone with the
 * password of the user can cause these pauses. They allow 114 wrong codes within the window.
 */
const codeLimit: Limit = {
  windowMs: 24 * 60 * 60_000,
  maxFailures: 10,
  maxConcurrent: 4,
  maxPauseMs: 15 * 60_000,
};

interface Counter extends QueueKey, Limit {
  readonly digest: Uint8Array;
}

interface FailureCount {
  readonly digest: Uint8Array;
  readonly failures: number;
  /** The time of the first failure. */
  readonly startedAt: number;
  /** The time of the last failure. */
  readonly failedAt: number;
}

/** The counts of failures when an attempt was admitted, one for each counter. */
interface AdmittedAttempt {
  readonly counts: readonly FailureCount[];
  /** The counts that already include this attempt in the database. The values here are from before the attempt. */
  readonly countedInAdvance: readonly FailureCount[];
}

/** A counter during the admission of an attempt. */
interface CounterState {
  readonly count: FailureCount;
  /** The number of attempts ahead in the queue. */
  readonly ahead: number;
  /** The number of failures left before the limit. Zero or negative if the limit is reached. */
  readonly failuresLeft: number;
  /** Negative or zero if there is no pause. */
  readonly pauseMs: number;
}

const findCounts = sql<{ one: Uint8Array; other: Uint8Array }, FailureCount>`
  select digest, failures, started_at as "startedAt", failed_at as "failedAt"
  from login_failures where digest in (${'one'}, ${'other'})`;

/** Safe even if other nodes count at the same time. */
const insertOrCount = sql<{
  digest: Uint8Array;
  now: number;
  from: number;
  to: number;
  expiresAt: number;
}>`
  insert into login_failures (digest, failures, started_at, failed_at, expires_at)
  values (${'digest'}, 1, ${'now'}, ${'now'}, ${'expiresAt'})
  on conflict (digest) do update set
    failures = case when login_failures.started_at between ${'from'} and ${'to'}
      then login_failures.failures + 1 else 1 end,
    started_at = case when login_failures.started_at between ${'from'} and ${'to'}
      then login_failures.started_at else excluded.started_at end,
    failed_at = excluded.failed_at,
    expires_at = case when login_failures.started_at between ${'from'} and ${'to'}
      then login_failures.expires_at else excluded.expires_at end`;

/** If several of these statements run concurrently for the same row, on any node, exactly one changes the row. */
const countIfUnchanged = sql<FailureCount & { now: number }>`
  update login_failures set failures = failures + 1, failed_at = ${'now'}
  where digest = ${'digest'} and failures = ${'failures'} and started_at = ${'startedAt'}
    and failed_at = ${'failedAt'}`;

/** Undoes the count of an attempt that succeeded. */
const undoCount = sql<FailureCount>`
  update login_failures set failures = failures - 1, failed_at = ${'failedAt'}
  where digest = ${'digest'} and started_at = ${'startedAt'} and failures > 0`;

const deleteFailures = sql<FailureCount>`delete from login_failures where digest = ${'digest'}`;

type PruneParameters = { readonly now: number; readonly batch: number };
const expiredCounts = {
  findAny: sql<
    PruneParameters,
    object
  >`select digest from login_failures where expires_at <= ${'now'} limit 1`,
  // The time is checked twice because another node may reset the count in between.
  prune: sql<PruneParameters>`
    delete from login_failures where expires_at <= ${'now'} and digest in (
      select digest from login_failures where expires_at <= ${'now'} limit ${'batch'})`,
};

export class LoginThrottle {
  readonly #options: LoginThrottleOptions;
  readonly #queues: SharedAttemptQueues;

  constructor(options: LoginThrottleOptions) {
    this.#options = options;
    this.#queues = options.attemptQueues ?? new AttemptQueues();
  }

  /** Runs the work that checks a password, or refuses it after too many failures. Undefined means a wrong password. */
  async attempt<T>(
    source: AttemptSource,
    work: (clearFailures: ClearFailures) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const { database, clock, isOn } = this.#options;
    if (!isOn) return work(() => Promise.resolve());
    const counters = this.#countersOf(source);
    const attempt = await this.#queues.join(counters);
    try {
      const { counts, countedInAdvance } = await this.#admit(counters, attempt);
      const isCounted = (count: FailureCount) => countedInAdvance.includes(count);
      const clearFailures: ClearFailures = async (transaction) => {
        for (const [index, count] of counts.entries()) {
          const isCleared = !counters[index]!.isShared && count.failures > 0;
          if (isCleared) await transaction.run(deleteFailures, count);
          else if (isCounted(count)) await transaction.run(undoCount, count);
        }
      };
      const result = await this.#runUncounted(countedInAdvance, () => work(clearFailures));
      const toWrite = result === undefined ? counters.filter((_, index) => !isCounted(counts[index]!)) : [];
      if (toWrite.length > 0) {
        // An attempt that cannot be counted gets no result. Otherwise guessing would be free while writes fail.
        await database.transaction((transaction) => {
          const now = clock.now();
          const rows = toWrite.map(({ digest, windowMs }) => ({ digest, now, ...windowAt(now, windowMs) }));
          return transaction.runEach(insertOrCount, rows);
        });
      }
      return result;
    } finally {
      attempt.leave();
    }
  }

  /** A refusal is no failed attempt: for example, the password was correct and a code is missing. */
  async #runUncounted<T>(countedInAdvance: readonly FailureCount[], work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Refusal && countedInAdvance.length > 0) {
        await this.#options.database.transaction((transaction) =>
          transaction.runEach(undoCount, countedInAdvance),
        );
      }
      throw error;
    }
  }

  /** Deletes failures that no longer count. */
  prune(): Promise<void> {
    const { database, clock } = this.#options;
    return pruneInBatches(database, expiredCounts, { now: clock.now(), batch: 1_000 });
  }

  #countersOf(source: AttemptSource): Counter[] {
    if ('sessionId' in source) return [this.#createCounter(['session', source.sessionId], accountLimit)];
    if ('codeOfSession' in source) {
      return [this.#createCounter(['session code', source.codeOfSession], codeLimit)];
    }
    if ('codeOf' in source) return [this.#createCounter(['code', source.codeOf], codeLimit)];
    if ('passkeyFrom' in source) {
      return [this.#createCounter(['address', addressRange(source.passkeyFrom)], addressLimit)];
    }
    const { name, range } = identifyLogin(source);
    return [
      this.#createCounter(['login', name, range], accountLimit),
      this.#createCounter(['address', range], addressLimit),
    ];
  }

  #createCounter(key: readonly string[], limit: Limit): Counter {
    const digest = createHmac('sha256', this.#options.installation).update(JSON.stringify(key)).digest();
    return { digest, key: digest.toString('base64'), ...limit };
  }

  /** Waits until this attempt and the attempts ahead cannot exceed the limit together. Refuses the attempt during a pause. */
  async #admit(counters: readonly Counter[], attempt: QueuedAttempt): Promise<AdmittedAttempt> {
    const { clock } = this.#options;
    for (;;) {
      const changed = attempt.waitForChange();
      const ahead = attempt.countAhead();
      if (counters.some(({ maxConcurrent }, index) => ahead[index]! >= maxConcurrent)) {
        await changed;
        continue;
      }
      const now = clock.now();
      const states = await this.#readStates(counters, ahead, now);
      const pauseMs = Math.max(...states.map((state) => state.pauseMs));
      if (pauseMs > 0) throw tooManyAttempts(pauseMs);
      if (states.some(couldExceedLimit)) {
        await changed;
        continue;
      }
      const atLimit = states.filter(({ failuresLeft }) => failuresLeft <= 0);
      const countedInAdvance = atLimit.map(({ count }) => count);
      if (countedInAdvance.length === 0 || (await this.#countInAdvance(countedInAdvance, now))) {
        return { counts: states.map(({ count }) => count), countedInAdvance };
      }
    }
  }

  async #readStates(
    counters: readonly Counter[],
    ahead: readonly number[],
    now: number,
  ): Promise<CounterState[]> {
    const counts = await this.#readCounts(counters, now);
    return counters.map((counter, index) => {
      const { maxFailures } = counter;
      const count = counts[index]!;
      return {
        count,
        ahead: ahead[index]!,
        failuresLeft: maxFailures - count.failures,
        pauseMs: pauseLeftMs(count, counter, now),
      };
    });
  }

  /** Reads the failures that count now, for one or two counters. */
  async #readCounts(counters: readonly Counter[], now: number): Promise<FailureCount[]> {
    const [{ digest: one }, { digest: other } = { digest: one }] = counters as [Counter, Counter?];
    const rows = await this.#options.database.all(findCounts, { one, other });
    return counters.map(({ digest, windowMs }) => {
      const { from, to } = windowAt(now, windowMs);
      const row = rows.find((each) => Buffer.compare(each.digest, digest) === 0);
      const isCounting = row && row.startedAt >= from && row.startedAt <= to;
      return isCounting ? row : { digest, failures: 0, startedAt: now, failedAt: now };
    });
  }

  /** Counts the attempt in every row or in none. Returns false if another attempt was counted first. */
  async #countInAdvance(counts: readonly FailureCount[], now: number): Promise<boolean> {
    const lostRace = new Error('Another attempt was counted first.');
    try {
      await this.#options.database.transaction(async (transaction) => {
        for (const count of counts) {
          if ((await transaction.run(countIfUnchanged, { ...count, now })) === 0) throw lostRace;
        }
      });
      return true;
    } catch (error) {
      if (error === lostRace) return false;
      throw error;
    }
  }
}

/** Below the limit, the attempts ahead could use up the failures that are left. Once the limit is reached, `#countInAdvance` decides. */
function couldExceedLimit({ ahead, failuresLeft }: CounterState): boolean {
  return failuresLeft > 0 && ahead >= failuresLeft;
}

/** The name and the address range by which logins are counted and queued. An invalid user name is used as it was sent. */
export function identifyLogin({ username, address }: { username: string; address: string | null }): {
  name: string;
  range: string;
} {
  return { name: accountNameKey(toAccountName(username) ?? username), range: addressRange(address) };
}

/** The start times of failures that count now. Times far in the future are excluded: a wrong clock must not lock users out. */
function windowAt(now: number, windowMs: number): { from: number; to: number; expiresAt: number } {
  return { from: now - windowMs + 1, to: now + windowMs - 1, expiresAt: now + windowMs };
}

/** Once the limit is reached, each failure doubles the pause. The pause ends no later than when the failures no longer count. */
export function pauseLeftMs(
  { failures, startedAt, failedAt }: FailureCount,
  limit: Pick<Limit, 'windowMs' | 'maxFailures' | 'maxPauseMs'>,
  now: number,
): number {
  if (failures < limit.maxFailures) return 0;
  const pauseMs = Math.min(firstPauseMs * 2 ** (failures - limit.maxFailures), limit.maxPauseMs);
  return Math.min(failedAt + pauseMs, startedAt + limit.windowMs) - now;
}

function tooManyAttempts(leftMs: number): Refusal {
  const retryAfterSeconds = Math.ceil(leftMs / 1000);
  return new Refusal(
    'TOO_MANY_ATTEMPTS',
    `Too many failed attempts. Try again in ${formatSeconds(retryAfterSeconds)}.`,
    {
      retryAfterSeconds,
      facts: { retryAfterSeconds },
    },
  );
}

/**
 * The range of addresses that one client can use. For IPv4 it is the address. For IPv6 it is the /64, the smallest
 * assignment (RFC 6177). An IPv4 address in IPv6 notation (mapped: RFC 4291 §2.5.5.2; translated: RFC 6052 §2.1) counts as
 * IPv4; otherwise all such addresses would be one client.
 */
export function addressRange(address: string | null): string {
  if (address === null || !isIPv6(address)) return address ?? '';
  const groups = parseIPv6(address.replace(/%.*$/, ''));
  const prefix = groups.slice(0, 6).join(':');
  if (prefix === '0:0:0:0:0:ffff' || prefix === '64:ff9b:0:0:0:0') return toIPv4(groups[6]!, groups[7]!);
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/** Returns the eight groups, in lower case and without leading zeros. */
function parseIPv6(address: string): string[] {
  // The URL parser writes the host in canonical form.
  const [before = '', after] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const head = before ? before.split(':') : [];
  const tail = after ? after.split(':') : [];
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
}

function toIPv4(high: string, low: string): string {
  const [upper, lower] = [parseInt(high, 16), parseInt(low, 16)];
  return [upper >> 8, upper & 255, lower >> 8, lower & 255].join('.');
}

function formatSeconds(seconds: number): string {
  return seconds === 1 ? '1 second' : `${seconds} seconds`;
}
