/**
 * The Ed25519 keys that sign auth tokens. They live in the database, so that every process and every restart has them.
 * A new key is published before it signs: when the first token with it is shown anywhere, every node knows the key.
 *
 * Why that holds: a node reads the keys every few seconds, and a key signs five minutes after it was stored. A minute of
 * them is for clocks that differ, some seconds are for a commit that takes its time, two minutes are for others who keep
 * a copy of the public keys; what is left is many times longer than a node needs to read. A node that cannot reach the
 * database reads no keys. What others sign meanwhile it may not know: it knows, though, for how long it has not read, and
 * then says that it cannot tell, rather than that a token is not good. Nor does it sign then, until it has read: its key
 * may have a successor.
 */

import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Reader } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { Refusal } from '../refusal.ts';
import type { KeyEncryption, StoredKey } from './key-encryption.ts';

export interface KeyTimes {
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** It verifies before that, too. */
  readonly signsFrom: number;
}

export interface SigningKey extends KeyTimes {
  readonly id: string;
  readonly publicKey: KeyObject;
  /** Undefined if this node cannot open it: it has another master key than whoever sealed it. */
  readonly privateKey: KeyObject | undefined;
}

/** One that can sign. */
export interface OpenKey extends SigningKey {
  readonly privateKey: KeyObject;
}

export interface SigningKeys {
  /** All that verify, the newest first. Another list when there are others. */
  readonly all: readonly SigningKey[];
  /** The one that signs now; refused if this node cannot sign with it. */
  readonly current: OpenKey;
  /** No key that is not among them can have signed anything yet. */
  readonly isKeyListCurrent: boolean;
  /** For a timer. Afterwards all are known that were stored before. */
  reread(): Promise<void>;
  /** When a key is asked for that is not among them: rereads soon, however often anybody asks. */
  rereadSoon(): void;
}

export interface SigningKeysOptions {
  readonly database: Reader;
  readonly clock: Clock;
  readonly encryption: KeyEncryption;
  /** What could not be read is tried again. */
  readonly onError: (error: unknown) => void;
  /** Goes on evenly while clocks are set; for tests that cannot wait. */
  readonly stopwatch?: () => number;
}

export const rereadKeysEveryMs = 3_000;

/** How far the clocks of two nodes may be apart. */
export const clockSkewMs = 60_000;

/** How long a new key is known before it signs. */
export const publishingMs = 5 * clockSkewMs;

/** How long others may go on with the public keys that they have read. */
export const publicKeysHoldSeconds = 120;
const longestCommitMs = 10_000;

/** How long after a read no key that came later can have begun to sign. */
const areAllKnownForMs = publishingMs - clockSkewMs - longestCommitMs;

/** Anybody can send tokens with keys that do not exist. */
const rereadSoonEveryMs = 1_000;

export interface KeyRow extends StoredKey, KeyTimes {
  /** Null for keys of before. */
  readonly publicKey: Uint8Array | null;
}

const selectKeys = sql<object, KeyRow>`
  select id, private_key as "privateKey", public_key as "publicKey", sealed_with as "sealedWith",
    created_at as "createdAt", signs_from as "signsFrom"
  from signing_keys order by signs_from desc, created_at desc, id`;

export async function openSigningKeys(options: SigningKeysOptions): Promise<SigningKeys> {
  const { database, clock, encryption, onError, stopwatch = () => performance.now() } = options;
  let all: readonly SigningKey[] = [];
  let begunAt = 0;
  let knownAt = 0;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    begunAt = stopwatch();
    const asOf = begunAt;
    const rows = await readKeyRows(database);
    if (rows.length === 0) throw new Error('There is no signing key.');
    all = sameKeys(all, rows)
      ? all
      : rows.map((row) => all.find(({ id }) => id === row.id) ?? toKey(row, openLater));
    knownAt = asOf;
  }

  /** Another node may have another master key. What it does to the keys, this one learns all the same. */
  function openLater(row: KeyRow): Uint8Array | undefined {
    try {
      return encryption.decrypt(row);
    } catch (error) {
      // A node that cannot sign need not start.
      if (all.length === 0) throw error;
      onError(error);
      return undefined;
    }
  }

  const readOnce = () => (reading ??= read().finally(() => (reading = undefined)));
  await readOnce();

  return {
    get all() {
      return all;
    },
    get current() {
      const key = signingAt(all, clock.now())!;
      if (isOpen(key)) return key;
      throw new Refusal('UNAVAILABLE', 'This node cannot sign auth tokens right now. Try again later.', {
        retryAfterSeconds: 5,
      });
    },
    get isKeyListCurrent() {
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

/** The newest first. */
export function readKeyRows(reader: Reader): PromiseOrValue<KeyRow[]> {
  return reader.all(selectKeys, {});
}

/** Of keys in that order, the one that signs. A clock that was set back far may be before the time of each. */
export function signingAt<Key extends KeyTimes>(keys: readonly Key[], now: number): Key | undefined {
  // The oldest is known the longest.
  return keys.find(({ signsFrom }) => signsFrom <= now) ?? keys.at(-1);
}

/** No token of the key before this one was made later, by whatever node. */
export function stopsSigningAt(successor: KeyTimes): number {
  return successor.signsFrom + clockSkewMs;
}

function sameKeys(keys: readonly SigningKey[], rows: readonly KeyRow[]): boolean {
  return keys.length === rows.length && rows.every(({ id }, place) => keys[place]!.id === id);
}

function isOpen(key: SigningKey): key is OpenKey {
  return key.privateKey !== undefined;
}

function toKey(row: KeyRow, open: (row: KeyRow) => Uint8Array | undefined): SigningKey {
  const { id, createdAt, signsFrom } = row;
  const opened = open(row);
  const privateKey = opened && createPrivateKey({ key: Buffer.from(opened), format: 'der', type: 'pkcs8' });
  const publicKey = row.publicKey
    ? createPublicKey({ key: Buffer.from(row.publicKey), format: 'der', type: 'spki' })
    : createPublicKey(privateKey!);
  return { id, createdAt, signsFrom, privateKey, publicKey };
}
