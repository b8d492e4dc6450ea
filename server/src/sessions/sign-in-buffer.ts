/**
 * Sign-ins in memory until they are stored. A flood of failed attempts must not fill the disk, so the number of rows is limited.
 * Attempts beyond a limit are counted in summaries: first one for each user and address range, then one for the range, and finally
 * one for all addresses. So every attempt is part of some row.
 */

import { randomUUID } from 'node:crypto';
import { addressRange } from './login-throttle.ts';
import type { ClientInfo } from './session-reads.ts';

export const signInMethods = ['PASSWORD', 'SINGLE_SIGN_ON', 'PASSKEY', 'API_KEY'] as const;
export type SignInMethod = (typeof signInMethods)[number];

export const signInResults = [
  'SUCCESS',
  'WRONG_CREDENTIALS',
  'SECOND_FACTOR_REQUIRED',
  'WRONG_SECOND_FACTOR',
  'THROTTLED',
  'DISABLED',
  'REFUSED',
] as const;
export type SignInResult = (typeof signInResults)[number];

export interface SignInAttempt extends ClientInfo {
  readonly userId: string | null;
  /**
   * The user name as the client sent it. It may be a mistyped password, so it is stored only if a user has this name. Then `userId`
   * may be null.
   */
  readonly username: string | null;
  readonly method: SignInMethod;
  readonly result: SignInResult;
  /** A reason for administrators, without secrets. */
  readonly detail?: string | null;
}

/** Identifies the logins from one address that sent only the password of a user with a second factor. */
export type FirstStep = Pick<SignInAttempt, 'userId' | 'address'>;

/** A stored sign-in, or the summary of several failed attempts. */
export interface SignIn extends Required<SignInAttempt> {
  readonly id: string;
  readonly at: number;
  /** The time of the last attempt of a summary. */
  readonly lastAt: number;
  /** The number of attempts. */
  readonly count: number;
  /** The session that the sign-in started. */
  readonly sessionId: string | null;
}

/** A row to store. The row of a summary is stored again each time its count has grown. */
export type BufferedSignIn = Omit<SignIn, 'lastAt' | 'count'> & { lastAt: number; count: number };

/** The failed attempts of one address range in the current window. */
interface RangeRows {
  /** The number of attempts with a row of their own. */
  single: number;
  readonly summaries: Map<string, BufferedSignIn>;
}

/** How long a limit of a range and a summary apply. */
const windowMs = 15 * 60_000;
const maxSinglePerRange = 30;
const maxSummariesPerRange = 30;

/**
 * New rows of all ranges: a burst, and then one row in 12 seconds, which is 7,200 rows a day. Successes have a budget of their own, so
 * that a flood of failed attempts cannot hide them.
 */
export const maxBurst = 1_000;
const msPerRow = 12_000;

/** The limit of rows in memory while the database cannot store them. */
const maxPending = 10_000;

export class SignInBuffer {
  readonly #ranges = new Map<string, RangeRows>();
  /** The summaries of attempts from all addresses. */
  readonly #overall = new Map<string, BufferedSignIn>();
  readonly #pending = new Set<BufferedSignIn>();
  readonly #failureRows = new RowBudget();
  readonly #successRows = new RowBudget();
  #windowStart = -Infinity;

  add(attempt: SignInAttempt, now: number): void {
    // The absolute value, in case the clock was set back.
    if (Math.abs(now - this.#windowStart) >= windowMs) this.#startWindow(now);
    // Many programs with API keys can have one address, so successes have no limit for each range.
    const isSingle =
      attempt.result === 'SUCCESS' ? this.#takeRow(this.#successRows, now) : this.#admitSingle(attempt, now);
    if (isSingle) this.#pending.add(createRow(attempt, now));
    else this.#addToSummary(attempt, now);
  }

  /** The rows that are not stored yet. */
  pending(): BufferedSignIn[] {
    return [...this.#pending];
  }

  /** Call it with the counts that are stored: a summary that has grown since must be stored again. */
  markStored(rows: readonly BufferedSignIn[], counts: readonly number[]): void {
    rows.forEach((row, index) => {
      if (row.count === counts[index]) this.#pending.delete(row);
    });
  }

  /** Deletes the newest of these logins that is not stored yet. */
  deleteFirstStep({ userId, address }: FirstStep): void {
    const row = [...this.#pending].findLast(
      (each) =>
        each.result === 'SECOND_FACTOR_REQUIRED' &&
        each.count === 1 &&
        each.userId === userId &&
        each.address === address,
    );
    if (row) this.#pending.delete(row);
  }

  #startWindow(now: number): void {
    this.#windowStart = now;
    this.#ranges.clear();
    this.#overall.clear();
  }

  #admitSingle({ address }: SignInAttempt, now: number): boolean {
    const range = addressRange(address);
    const rows = this.#ranges.get(range);
    if ((rows?.single ?? 0) >= maxSinglePerRange || !this.#takeRow(this.#failureRows, now)) return false;
    if (rows) rows.single++;
    else this.#ranges.set(range, { single: 1, summaries: new Map() });
    return true;
  }

  /** Counts the attempt in the most specific summary that the limits allow. */
  #addToSummary(attempt: SignInAttempt, now: number): void {
    const { userId, username, method, result } = attempt;
    const range = addressRange(attempt.address);
    const summaries = result === 'SUCCESS' ? undefined : this.#ranges.get(range)?.summaries;
    const ofRange = { userId: null, username: null, method, result, address: range || null, agent: null };
    const ofUser = { ...ofRange, userId, username };
    const count = (rows: Map<string, BufferedSignIn>, summary: SignInAttempt, mayCreate: () => boolean) => {
      const key = JSON.stringify([method, result, summary.userId, summary.username]);
      const row = rows.get(key) ?? (mayCreate() ? createRow(summary, now, 0) : undefined);
      if (!row) return false;
      rows.set(key, row);
      row.count++;
      row.lastAt = now;
      this.#pending.add(row);
      return true;
    };
    const mayCreate = () => this.#takeRow(this.#failureRows, now);
    const mayCreateOfUser = () => summaries!.size < maxSummariesPerRange && mayCreate();
    if (summaries && count(summaries, ofUser, mayCreateOfUser)) return;
    if (summaries && count(summaries, ofRange, mayCreate)) return;
    count(this.#overall, { ...ofRange, address: null }, () => true);
  }

  #takeRow(budget: RowBudget, now: number): boolean {
    return this.#pending.size < maxPending && budget.take(now);
  }
}

/** Limits the number of new rows. */
class RowBudget {
  #rowsLeft = maxBurst;
  #refilledAt = -Infinity;

  take(now: number): boolean {
    const refill = Math.floor((now - this.#refilledAt) / msPerRow);
    // After the clock was set back, the refill starts again from the current time.
    if (refill < 0) this.#refilledAt = now;
    if (refill > 0) {
      const isFull = this.#rowsLeft + refill >= maxBurst;
      this.#rowsLeft = isFull ? maxBurst : this.#rowsLeft + refill;
      this.#refilledAt = isFull ? now : this.#refilledAt + refill * msPerRow;
    }
    if (this.#rowsLeft === 0) return false;
    this.#rowsLeft--;
    return true;
  }
}

function createRow(attempt: SignInAttempt, now: number, count = 1): BufferedSignIn {
  const { userId, username, method, result, address, agent, detail } = attempt;
  return {
    ...{ id: randomUUID(), at: now, lastAt: now, count, sessionId: null },
    ...{ userId, username, method, result, address, agent, detail: detail ?? null },
  };
}
