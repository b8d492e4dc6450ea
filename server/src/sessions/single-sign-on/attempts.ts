/**
 * Stores sign-ins from their start until the client exchanges the one-time code. Every node can continue a sign-in, because its state
 * is in the database. The database contains only digests of the state and of the code. The secrets of the sign-in, and the person
 * whom the provider has authenticated, are encrypted with a key that only the state or the code reveals.
 */

import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { Database, Transaction } from '../../database/database.ts';
import { decryptBytes, deriveKey, encryptBytes, randomSecret, sha256 } from '../../database/encryption.ts';
import { sql } from '../../database/statement.ts';
import { pruneInBatches, pruneStatements } from '../../journal/prune.ts';
import { Refusal } from '../../refusal.ts';
import { addressRange } from '../login-throttle.ts';
import { clockSkewMs } from '../signing-keys.ts';
import type { AuthenticatedPerson, SignInSecrets } from './provider.ts';

/** Where the browser goes after the sign-in, and the digest of the verifier that only the client has. */
export interface SignInTarget {
  readonly challenge: string;
  /** The address of a program on the user's machine; null for the console. */
  readonly redirectUri: string | null;
  /** A path of the console. */
  readonly returnTo: string | null;
}

export interface Attempt extends SignInTarget {
  readonly secrets: SignInSecrets;
}

export interface CheckedCode {
  readonly digest: Uint8Array;
  readonly person: AuthenticatedPerson;
  /** The time of the callback. */
  readonly startedAt: number;
}

interface AttemptRow extends SignInTarget {
  readonly digest: Uint8Array;
  readonly addressRange: string;
  readonly encrypted: Uint8Array;
  readonly now: number;
  readonly expiresAt: number;
}

interface CodeRow {
  readonly digest: Uint8Array;
  readonly challenge: string;
  readonly encrypted: Uint8Array;
  readonly startedAt: number;
  readonly expiresAt: number;
}

const insertAttempt = sql<AttemptRow>`
  insert into single_sign_on_attempts
    (state_digest, challenge, redirect_uri, return_to, address_range, sealed, created_at, expires_at)
  values (${'digest'}, ${'challenge'}, ${'redirectUri'}, ${'returnTo'}, ${'addressRange'}, ${'encrypted'}, ${'now'}, ${'expiresAt'})`;
const findAttempt = sql<{ digest: Uint8Array; now: number }, SignInTarget & { encrypted: Uint8Array }>`
  select challenge, redirect_uri as "redirectUri", return_to as "returnTo", sealed as encrypted
  from single_sign_on_attempts where state_digest = ${'digest'} and expires_at > ${'now'}`;
const deleteAttempt = sql<{ digest: Uint8Array }>`
  delete from single_sign_on_attempts where state_digest = ${'digest'}`;
const countOfAddress = sql<{ addressRange: string; now: number }, { count: number }>`
  select count(*) as count from single_sign_on_attempts
  where address_range = ${'addressRange'} and expires_at > ${'now'}`;
const countAll = sql<object, { count: number }>`select count(*) as count from single_sign_on_attempts`;
const deleteOldest = sql<{ count: number }>`
  delete from single_sign_on_attempts where state_digest in (
    select state_digest from single_sign_on_attempts order by expires_at limit ${'count'})`;

const insertCode = sql<CodeRow>`
  insert into single_sign_on_codes (code_digest, challenge, sealed, created_at, expires_at)
  values (${'digest'}, ${'challenge'}, ${'encrypted'}, ${'startedAt'}, ${'expiresAt'})`;
const findCode = sql<
  { digest: Uint8Array; now: number },
  { challenge: string; encrypted: Uint8Array; startedAt: number }
>`
  select challenge, sealed as encrypted, created_at as "startedAt" from single_sign_on_codes
  where code_digest = ${'digest'} and expires_at > ${'now'}`;
const deleteCode = sql<{ digest: Uint8Array; now: number }>`
  delete from single_sign_on_codes where code_digest = ${'digest'} and expires_at > ${'now'}`;

const expiredAttempts = pruneStatements<{ before: number }>(
  sql`delete from single_sign_on_attempts`,
  sql`state_digest`,
  sql`from single_sign_on_attempts where expires_at <= ${'before'}`,
);
const expiredCodes = pruneStatements<{ before: number }>(
  sql`delete from single_sign_on_codes`,
  sql`code_digest`,
  sql`from single_sign_on_codes where expires_at <= ${'before'}`,
);

const attemptMs = 10 * 60_000;
export const codeMs = 60_000;
/** A whole office can share one address. Finished sign-ins do not count. */
const maxPerAddress = 300;
const maxAttempts = 20_000;
const pruneBatchSize = 1_000;

export class Attempts {
  readonly #database: Database;
  readonly #clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Returns the state to send to the provider. */
  async start(target: SignInTarget, secrets: SignInSecrets, address: string | null): Promise<string> {
    const state = randomSecret();
    const now = this.#clock.now();
    const range = addressRange(address);
    const row = {
      ...target,
      digest: sha256(state),
      addressRange: range,
      encrypted: encryptJson(secrets, state),
      now,
      expiresAt: now + attemptMs,
    };
    await this.#requireFew(range, now);
    await this.#database.transaction(async (transaction) => {
      const { count } = (await transaction.get(countAll, {}))!;
      // The oldest ones are the least likely to continue, so a flood does not prevent new sign-ins.
      if (count >= maxAttempts) await transaction.run(deleteOldest, { count: count - maxAttempts + 1 });
      await transaction.run(insertAttempt, row);
    });
    return state;
  }

  /** Takes the attempt of a state. Each state can be used once: of several callbacks, one gets the attempt. */
  async take(state: string): Promise<Attempt | undefined> {
    const digest = sha256(state);
    const parameters = { digest, now: this.#clock.now() };
    // Any client can send an unknown state. It does not wait for the write lock.
    const found = await this.#database.get(findAttempt, parameters);
    const secrets = found && decryptJson<SignInSecrets>(found.encrypted, state);
    if (!secrets) return undefined;
    const taken = await this.#database.transaction((transaction) =>
      transaction.run(deleteAttempt, { digest }),
    );
    const { challenge, redirectUri, returnTo } = found;
    return taken > 0 ? { challenge, redirectUri, returnTo, secrets } : undefined;
  }

  /** Returns a one-time code for a person, which only the client with the verifier of the challenge can use. */
  async createCode(
    { person, startedAt }: Pick<CheckedCode, 'person' | 'startedAt'>,
    challenge: string,
  ): Promise<string> {
    const code = randomSecret();
    const now = this.#clock.now();
    const row = {
      digest: sha256(code),
      challenge,
      encrypted: encryptJson(person, code),
      startedAt,
      expiresAt: now + codeMs,
    };
    await this.#database.transaction((transaction) => transaction.run(insertCode, row));
    return code;
  }

  /** Returns undefined if the code is not valid, or belongs to another verifier. Call `spendCode()` to use the code up. */
  async readCode(code: string, verifier: string): Promise<CheckedCode | undefined> {
    const digest = sha256(code);
    const found = await this.#database.get(findCode, { digest, now: this.#clock.now() });
    if (!found || !matchesChallenge(verifier, found.challenge)) return undefined;
    const person = decryptJson<AuthenticatedPerson>(found.encrypted, code);
    return person && { digest, person, startedAt: found.startedAt };
  }

  async prune(): Promise<void> {
    // The clock of another node may be behind.
    const parameters = { before: this.#clock.now() - clockSkewMs, batch: pruneBatchSize };
    await pruneInBatches(this.#database, expiredAttempts, parameters);
    await pruneInBatches(this.#database, expiredCodes, parameters);
  }

  async #requireFew(range: string, now: number): Promise<void> {
    const { count } = (await this.#database.get(countOfAddress, { addressRange: range, now }))!;
    if (count < maxPerAddress) return;
    throw new Refusal(
      'TOO_MANY_ATTEMPTS',
      'Too many sign-ins from this address have started and not finished. Try again later.',
      { retryAfterSeconds: 60 },
    );
  }
}

/** Uses a code up in the transaction that starts the session. Refuses a code that another request used in the meantime. */
export async function spendCode(transaction: Transaction, digest: Uint8Array, now: number): Promise<void> {
  if ((await transaction.run(deleteCode, { digest, now })) === 0) throw invalidCode();
}

export function invalidCode(): Refusal {
  return new Refusal(
    'INVALID_CREDENTIALS',
    'The one-time code of this sign-in is not valid or has expired. Sign in again.',
  );
}

/** RFC 7636 §4.6, method S256. */
function matchesChallenge(verifier: string, challenge: string): boolean {
  const expected = Buffer.from(sha256(verifier).toString('base64url'));
  const stored = Buffer.from(challenge);
  return expected.length === stored.length && timingSafeEqual(expected, stored);
}

function keyOf(secret: string): Uint8Array {
  return deriveKey(secret, { salt: '', purpose: 'espalier single sign-on' });
}

function encryptJson(value: object, secret: string): Uint8Array {
  return encryptBytes(Buffer.from(JSON.stringify(value)), keyOf(secret));
}

function decryptJson<T>(encrypted: Uint8Array, secret: string): T | undefined {
  const bytes = decryptBytes(encrypted, keyOf(secret));
  return bytes && (JSON.parse(Buffer.from(bytes).toString()) as T);
}
