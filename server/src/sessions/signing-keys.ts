/**
 * Caches the Ed25519 keys that sign auth tokens. The database stores them for all processes. A new key is published before
 * it signs, so that every node knows a key before the first token signed with it appears.
 *
 * A node reads the keys every few seconds, and a key signs five minutes after it was stored. One minute of that covers clock
 * differences, some seconds a slow commit, and two minutes services that cache the public keys. A node that cannot read the
 * database knows the time of its last read. After too long, it answers "unavailable" for tokens with an unknown key, instead
 * of rejecting them. It also stops signing, because its key may have a successor.
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
  /** The key verifies tokens even before this time. */
  readonly signsFrom: number;
}

export interface SigningKey extends KeyTimes {
  readonly id: string;
  readonly publicKey: KeyObject;
  /** Undefined if this node has another master key and cannot decrypt it. */
  readonly privateKey: KeyObject | undefined;
}

/** A key with which this node can sign. */
export interface DecryptedKey extends SigningKey {
  readonly privateKey: KeyObject;
}

export interface SigningKeys {
  /** All keys that verify, the newest first. The array is replaced when the keys change. */
  readonly all: readonly SigningKey[];
  /** The current signing key. Refuses if this node cannot decrypt it. */
  readonly current: DecryptedKey;
  /** True if no key outside the list can have signed a token yet. */
  readonly isKeyListCurrent: boolean;
  /** Reads all keys that were stored before the call. */
  reread(): Promise<void>;
  /** Rereads the keys after an unknown key was requested, at most once per second. */
  rereadSoon(): void;
}

export interface SigningKeysOptions {
  readonly database: Reader;
  readonly clock: Clock;
  readonly encryption: KeyEncryption;
  /** Called for a failed read. The read is retried. */
  readonly onError: (error: unknown) => void;
  /** A monotonic clock. Tests replace it. */
  readonly stopwatch?: () => number;
}

export const rereadKeysEveryMs = 3_000;

/** The maximum difference between the clocks of two nodes. */
export const clockSkewMs = 60_000;

/** How long a new key is published before it signs. */
export const publishingMs = 5 * clockSkewMs;

/** How long other services may cache the public keys. */
export const publicKeysHoldSeconds = 120;
const maxCommitMs = 10_000;

/** For this long after a read, no newer key can sign. */
const keyListValidMs = publishingMs - clockSkewMs - maxCommitMs;

/** Limits rereads, because any client can send tokens with unknown keys. */
const rereadSoonEveryMs = 1_000;

export interface KeyRow extends StoredKey, KeyTimes {
  /** Null for keys from before this column existed. */
  readonly publicKey: Uint8Array | null;
}

const selectKeys = sql<object, KeyRow>`
  select id, private_key as "privateKey", public_key as "publicKey", sealed_with as "sealedWith",
    created_at as "createdAt", signs_from as "signsFrom"
  from signing_keys order by signs_from desc, created_at desc, id`;

export async function openSigningKeys(options: SigningKeysOptions): Promise<SigningKeys> {
  const { database, clock, encryption, onError, stopwatch = () => performance.now() } = options;
  let all: readonly SigningKey[] = [];
  let readStartedAt = 0;
  let lastReadAt = 0;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    readStartedAt = stopwatch();
    const startedAt = readStartedAt;
    const rows = await readKeyRows(database);
    if (rows.length === 0) throw new Error('There is no signing key.');
    all = sameKeys(all, rows)
      ? all
      : rows.map((row) => all.find(({ id }) => id === row.id) ?? toKey(row, tryDecrypt));
    lastReadAt = startedAt;
  }

  /** Another node may use another master key. This node still learns of its keys. */
  function tryDecrypt(row: KeyRow): Uint8Array | undefined {
    try {
      return encryption.decrypt(row);
    } catch (error) {
      // At the start, a node that cannot sign must fail.
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
      if (isDecrypted(key)) return key;
      throw new Refusal('UNAVAILABLE', 'This node cannot sign auth tokens right now. Try again later.', {
        retryAfterSeconds: 5,
      });
    },
    get isKeyListCurrent() {
      return stopwatch() - lastReadAt < keyListValidMs;
    },
    async reread() {
      // A read in progress may have started too early.
      await reading?.catch(() => undefined);
      await readOnce();
    },
    rereadSoon() {
      if (!reading && stopwatch() - readStartedAt >= rereadSoonEveryMs) readOnce().catch(onError);
    },
  };
}

/** Reads the keys, the newest first. */
export function readKeyRows(reader: Reader): PromiseOrValue<KeyRow[]> {
  return reader.all(selectKeys, {});
}

/** Finds the signing key among keys with the newest first. */
export function signingAt<Key extends KeyTimes>(keys: readonly Key[], now: number): Key | undefined {
  // A clock that was set back can be before all of them. All nodes know the oldest key.
  return keys.find(({ signsFrom }) => signsFrom <= now) ?? keys.at(-1);
}

/** The time after which no node signs with the previous key. */
export function stopsSigningAt(successor: KeyTimes): number {
  return successor.signsFrom + clockSkewMs;
}

function sameKeys(keys: readonly SigningKey[], rows: readonly KeyRow[]): boolean {
  return keys.length === rows.length && rows.every(({ id }, index) => keys[index]!.id === id);
}

function isDecrypted(key: SigningKey): key is DecryptedKey {
  return key.privateKey !== undefined;
}

function toKey(row: KeyRow, decrypt: (row: KeyRow) => Uint8Array | undefined): SigningKey {
  const { id, createdAt, signsFrom } = row;
  const decrypted = decrypt(row);
  const privateKey =
    decrypted && createPrivateKey({ key: Buffer.from(decrypted), format: 'der', type: 'pkcs8' });
  const publicKey = row.publicKey
    ? createPublicKey({ key: Buffer.from(row.publicKey), format: 'der', type: 'spki' })
    : createPublicKey(privateKey!);
  return { id, createdAt, signsFrom, privateKey, publicKey };
}
