/**
 * The Ed25519 keys that sign auth tokens. They live in the database, so that every process and every restart has them.
 * A new key is published before it signs: when the first token with it is shown anywhere, every node knows the key.
 *
 * Why that holds: a node reads the keys every few seconds, and a key signs two minutes after it was stored. A minute of
 * them is for clocks that differ, some seconds are for a commit that takes its time; what is left is many times longer
 * than a node needs to read. A node that cannot reach the database reads no keys; neither does it log in or refresh
 * anybody, so it signs nothing. What others sign meanwhile it may not know: it knows, though, for how long it has not
 * read, and then says that it cannot tell, rather than that a token is not good.
 */

import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomUUID,
  type KeyObject,
} from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';

export interface SigningKey {
  readonly id: string;
  /** Milliseconds since 1970; verifies before that, too. */
  readonly signsFrom: number;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export interface SigningKeys {
  /** All that verify, the newest first. Another list when there are others. */
  readonly all: readonly SigningKey[];
  /** The one that signs now. */
  readonly current: SigningKey;
  /** No key that is not among them can have signed anything yet. */
  readonly areAllKnown: boolean;
  /** For a timer. Afterwards all are known that were stored before. */
  reread(): Promise<void>;
  /** When a key is asked for that is not among them: rereads soon, however often anybody asks. */
  rereadSoon(): void;
}

export interface SigningKeysOptions {
  readonly database: Reader;
  readonly clock: Clock;
  /** What could not be read is tried again. */
  readonly onError: (error: unknown) => void;
  /** Goes on evenly while clocks are set; for tests that cannot wait. */
  readonly stopwatch?: () => number;
}

export const rereadKeysEveryMs = 3_000;
/** How far the clocks of two nodes may be apart. */
export const clockSkewMs = 60_000;
/** How long a new key is known before it signs. */
export const publishingMs = 2 * clockSkewMs;
const longestCommitMs = 10_000;
/** How long after a read no key that came later can have begun to sign. */
const areAllKnownForMs = publishingMs - clockSkewMs - longestCommitMs;
/** Anybody can send tokens with keys that do not exist. */
const rereadSoonEveryMs = 1_000;

interface KeyRow {
  readonly id: string;
  readonly privateKey: Uint8Array;
  readonly signsFrom: number;
}

const selectKeys = sql<object, KeyRow>`
  select id, private_key as "privateKey", signs_from as "signsFrom" from signing_keys
  order by signs_from desc, created_at desc, id`;

const insertKey = sql<KeyRow & { now: number }>`
  insert into signing_keys (id, private_key, created_at, signs_from)
  values (${'id'}, ${'privateKey'}, ${'now'}, ${'signsFrom'})`;

export async function openSigningKeys(options: SigningKeysOptions): Promise<SigningKeys> {
  const { database, clock, onError, stopwatch = () => performance.now() } = options;
  let all: readonly SigningKey[] = [];
  let begunAt = 0;
  let knownAt = 0;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    begunAt = stopwatch();
    const asOf = begunAt;
    const rows = await database.all(selectKeys, {});
    if (rows.length === 0) throw new Error('There is no signing key.');
    all = sameKeys(all, rows) ? all : rows.map((row) => all.find(({ id }) => id === row.id) ?? toKey(row));
    knownAt = asOf;
  }

  const readOnce = () => (reading ??= read().finally(() => (reading = undefined)));
  await readOnce();

  return {
    get all() {
      return all;
    },
    get current() {
      const now = clock.now();
      // A clock that was set back far may be before the time of each: the oldest is known the longest.
      return all.find(({ signsFrom }) => signsFrom <= now) ?? all.at(-1)!;
    },
    get areAllKnown() {
      return stopwatch() - knownAt < areAllKnownForMs;
    },
    async reread() {
      // One that is under way may have begun too early.
      await reading?.catch(() => undefined);
      await readOnce();
    },
    rereadSoon() {
      if (!reading && stopwatch() - begunAt >= rereadSoonEveryMs) readOnce().catch(onError);
    },
  };
}

/** The first key signs at once, whatever clock asks: there is nobody yet who could not know it. */
export async function ensureSigningKey(transaction: Transaction, now: number): Promise<void> {
  if ((await transaction.all(selectKeys, {})).length > 0) return;
  await storeNewKey(transaction, { now, signsFrom: 0 });
}

/**
 * Publishes a new key that signs after some time; the keys before it go on verifying. `now` is to be read inside of the
 * transaction: waiting for that one must not take from the time.
 */
export async function rotateSigningKey(
  transaction: Transaction,
  now: number,
): Promise<Pick<SigningKey, 'id' | 'signsFrom'>> {
  return storeNewKey(transaction, { now, signsFrom: now + publishingMs });
}

async function storeNewKey(transaction: Transaction, times: { now: number; signsFrom: number }) {
  const id = randomUUID();
  const privateKey = generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' });
  await transaction.run(insertKey, { id, privateKey, ...times });
  return { id, signsFrom: times.signsFrom };
}

function sameKeys(keys: readonly SigningKey[], rows: readonly KeyRow[]): boolean {
  return keys.length === rows.length && rows.every(({ id }, place) => keys[place]!.id === id);
}

function toKey({ id, signsFrom, privateKey: stored }: KeyRow): SigningKey {
  const privateKey = createPrivateKey({ key: Buffer.from(stored), format: 'der', type: 'pkcs8' });
  return { id, signsFrom, privateKey, publicKey: createPublicKey(privateKey) };
}
