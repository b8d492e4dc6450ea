/**
 * The history of sign-ins: who signed in, when, how, from where, and with what result. A successful sign-in is stored in the
 * transaction that creates its session. Every other attempt is buffered in memory and stored about a second later, so that an
 * attempt takes the same time whether its user exists or not, and a flood of attempts causes few writes.
 */

import { randomUUID } from 'node:crypto';
import { accountNameKey, readUsers, readUsersByName, toAccountName } from '../accounts/users.ts';
import type { Clock } from '../clock.ts';
import { singleFlight } from '../concurrency/single-flight.ts';
import type { Database, Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { Refusal } from '../refusal.ts';
import type { ClientInfo } from './session-reads.ts';
import {
  SignInBuffer,
  type BufferedSignIn,
  type FirstStep,
  type SignIn,
  type SignInAttempt,
  type SignInMethod,
} from './sign-in-buffer.ts';

interface SignInOptions {
  readonly database: Database;
  readonly clock: Clock;
}

const columns = sql`
  id, at, last_at, count, user_id, session_id, username, method, result, address, agent, detail`;

/** A summary is stored with its whole count each time, so that a repeated write changes nothing. */
const insertOrUpdate = sql<SignIn>`
  insert into sign_ins (${columns}) values (
    ${'id'}, ${'at'}, ${'lastAt'}, ${'count'}, ${'userId'}, ${'sessionId'}, ${'username'},
    ${'method'}, ${'result'}, ${'address'}, ${'agent'}, ${'detail'})
  on conflict (id) do update set count = excluded.count, last_at = excluded.last_at`;

interface SuccessParameters extends ClientInfo {
  readonly id: string;
  readonly at: number;
  readonly userId: string;
  readonly sessionId: string;
  readonly method: SignInMethod;
}

const insertSuccess = sql<SuccessParameters>`
  insert into sign_ins (${columns}) values (
    ${'id'}, ${'at'}, ${'at'}, 1, ${'userId'}, ${'sessionId'},
    (select username from users where id = ${'userId'}),
    ${'method'}, 'SUCCESS', ${'address'}, ${'agent'}, null)`;

const deleteFirstStep = sql<FirstStep & { readonly since: number }>`
  delete from sign_ins where id = (
    select id from sign_ins
    where user_id = ${'userId'} and at > ${'since'} and result = 'SECOND_FACTOR_REQUIRED' and count = 1
      and address is not distinct from ${'address'}
    order by at desc, id desc limit 1)`;

/** How long the second step may follow the first one. */
const firstStepMs = 15 * 60_000;

/** Small, so that other writes do not wait long. */
const storeBatchSize = 100;
const maxTextLength = 255;

export class SignIns {
  readonly #options: SignInOptions;
  readonly #buffer = new SignInBuffer();

  /** Stores the buffered attempts. The periodic work calls it every second. */
  readonly store = singleFlight(() => this.#store());

  constructor(options: SignInOptions) {
    this.#options = options;
  }

  /** Records an attempt without a session. It does not access the database, so the caller need not wait. */
  record(attempt: SignInAttempt): void {
    const { username, agent, detail } = attempt;
    this.#buffer.add(
      {
        ...attempt,
        // A text that cannot be a user name is never stored.
        username: username === null ? null : (toAccountName(username) ?? null),
        agent: toStoredText(agent),
        detail: toStoredText(detail),
      },
      this.#options.clock.now(),
    );
  }

  /** Runs a login, and records the attempt if the throttle refuses it. */
  async recordThrottled<T>(attempt: Omit<SignInAttempt, 'result'>, login: () => Promise<T>): Promise<T> {
    try {
      return await login();
    } catch (error) {
      const isThrottled = error instanceof Refusal && error.code === 'TOO_MANY_ATTEMPTS';
      if (isThrottled) this.record({ ...attempt, result: 'THROTTLED' });
      throw error;
    }
  }

  /** Records the start of a session, in the transaction that stores the session. */
  recordSession(transaction: Transaction, signIn: Omit<SuccessParameters, 'id'>): void {
    transaction.queue(insertSuccess, { id: randomUUID(), ...signIn });
  }

  /** Deletes the newest first step of a completed login, which would otherwise remain as a failed attempt. */
  async deleteFirstStep(transaction: Transaction, firstStep: FirstStep): Promise<void> {
    this.#buffer.deleteFirstStep(firstStep);
    const since = this.#options.clock.now() - firstStepMs;
    await transaction.run(deleteFirstStep, { ...firstStep, since });
  }

  /** Attempts that arrive meanwhile wait for the next call. Otherwise, a flood of attempts would keep the loop running. */
  async #store(): Promise<void> {
    const pending = this.#buffer.pending();
    for (let start = 0; start < pending.length; start += storeBatchSize) {
      const rows = pending.slice(start, start + storeBatchSize);
      const signIns = await this.#addUsers(rows.map((row) => ({ ...row })));
      await this.#options.database.transaction((transaction) => transaction.runEach(insertOrUpdate, signIns));
      this.#buffer.markStored(
        rows,
        signIns.map(({ count }) => count),
      );
    }
  }

  /** Adds the missing ids or names of existing users, and removes the names that no user has. */
  async #addUsers(rows: readonly BufferedSignIn[]): Promise<SignIn[]> {
    const { database } = this.#options;
    const ids = rows.flatMap(({ userId }) => userId ?? []);
    const names = rows.flatMap(({ userId, username }) => (userId === null && username) || []);
    const byId = ids.length > 0 ? await readUsers(database, ids) : undefined;
    const byName = names.length > 0 ? await readUsersByName(database, names) : undefined;
    return rows.map((row) => {
      const { userId, username } = row;
      if (userId !== null) return { ...row, username: byId?.get(userId)?.username ?? null };
      const user = username === null ? undefined : byName?.get(accountNameKey(username));
      return { ...row, userId: user?.id ?? null, username: user?.username ?? null };
    });
  }
}

/** One text that PostgreSQL cannot store, for example with a NUL, would block all other attempts. */
function toStoredText(text: string | null | undefined): string | null {
  return (
    text
      ?.replace(/\p{Cc}/gu, ' ')
      .slice(0, maxTextLength)
      .toWellFormed() ?? null
  );
}
