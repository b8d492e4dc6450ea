/**
 * Caches the Ed25519 keys that sign auth tokens. The database stores them for all processes. A new key is published before
 * it signs, so that every node knows a key before the first token signed with it appears.
 *
 * A node reads the keys every few seconds, and a key signs five minutes after it was stored. Of these five minutes, one covers
 * clock differences, a few seconds cover a slow commit, and two minutes cover services that cache the public keys. If the
 * last read is too old, for example because the database does not respond, the node returns UNAVAILABLE for tokens with an unknown
 * key, instead of rejecting them. It also stops signing, because its key may have a successor.
 */

import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { StartError } from '../config/start-error.ts';
import type { Reader } from '../database/database.ts';
import { SecretEncryption } from '../database/encryption.ts';
import { sql } from '../database/statement.ts';
import { Refusal } from '../refusal.ts';

export interface KeyTimes {
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** The key verifies tokens even before this time. */
  readonly signsFrom: number;
}

export interface SigningKey extends KeyTimes {
  readonly id: string;
  readonly publicKey: KeyObject;
  /** Undefined if this node has another master key and cannot decrypt this key. */
  readonly privateKey: KeyObject | undefined;
}

interface SigningKeysOptions {
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
export const publicationMs = 5 * clockSkewMs;

/** How long other services may cache the public keys. */
export const publicKeysCacheSeconds = 120;
const maxCommitMs = 10_000;

/** For this long after a read, no newer key can sign. */
const keyListValidMs = publicationMs - clockSkewMs - maxCommitMs;

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

export class SigningKeys {
  readonly #options: SigningKeysOptions;
  readonly #stopwatch: () => number;
  #all: readonly SigningKey[] = [];
  #readStartedAt = 0;
  #lastReadAt = 0;
  #readInProgress: Promise<void> | undefined;

  static async open(options: SigningKeysOptions): Promise<SigningKeys> {
    const keys = new SigningKeys(options);
    await keys.#readOnce();
    return keys;
  }

  private constructor(options: SigningKeysOptions) {
    this.#options = options;
    this.#stopwatch = options.stopwatch ?? (() => performance.now());
  }

  /** All keys that verify, the newest first. The array is replaced when the keys change. */
  get all(): readonly SigningKey[] {
    return this.#all;
  }

  /** The current signing key. Refuses if this node cannot decrypt it. */
  get current(): { readonly id: string; readonly privateKey: KeyObject } {
    const { id, privateKey } = signingAt(this.#all, this.#options.clock.now())!;
    if (privateKey) return { id, privateKey };
    throw new Refusal('UNAVAILABLE', 'This node cannot sign auth tokens right now. Try again later.', {
      retryAfterSeconds: 5,
    });
  }

  /** True if no key outside the list can have signed a token yet. */
  get isKeyListCurrent(): boolean {
    return this.#stopwatch() - this.#lastReadAt < keyListValidMs;
  }

  /** Reads all keys that were stored before the call. */
  async reread(): Promise<void> {
    // A read in progress may have started too early.
    await this.#readInProgress?.catch(() => undefined);
    await this.#readOnce();
  }

  /** Rereads the keys after an unknown key was requested, at most once per second. */
  rereadSoon(): void {
    if (this.#readInProgress || this.#stopwatch() - this.#readStartedAt < rereadSoonEveryMs) return;
    this.#readOnce().catch(this.#options.onError);
  }

  #readOnce(): Promise<void> {
    return (this.#readInProgress ??= this.#read().finally(() => (this.#readInProgress = undefined)));
  }

  async #read(): Promise<void> {
    const startedAt = this.#stopwatch();
    this.#readStartedAt = startedAt;
    const rows = await readKeyRows(this.#options.database);
    if (rows.length === 0) throw new Error('There is no signing key.');
    const old = this.#all;
    const isSame = old.length === rows.length && rows.every(({ id }, index) => old[index]!.id === id);
    if (!isSame) this.#all = rows.map((row) => old.find(({ id }) => id === row.id) ?? this.#toKey(row));
    this.#lastReadAt = startedAt;
  }

  #toKey(row: KeyRow): SigningKey {
    const { id, createdAt, signsFrom } = row;
    const decrypted = this.#tryDecrypt(row);
    const privateKey = decrypted && toPrivateKey(decrypted);
    const publicKey = row.publicKey
      ? createPublicKey({ key: Buffer.from(row.publicKey), format: 'der', type: 'spki' })
      : createPublicKey(privateKey!);
    return { id, createdAt, signsFrom, privateKey, publicKey };
  }

  /** Another node may use another master key. This node then lists the keys of that node without their private keys. */
  #tryDecrypt(row: KeyRow): Uint8Array | undefined {
    try {
      return this.#options.encryption.decrypt(row);
    } catch (error) {
      // At the start, a node that cannot sign must fail.
      if (this.#all.length === 0) throw error;
      this.#options.onError(error);
      return undefined;
    }
  }
}

/** Reads the keys, the newest first. */
export function readKeyRows(reader: Reader): PromiseOrValue<KeyRow[]> {
  return reader.all(selectKeys, {});
}

/** Finds the current signing key. `keys` must start with the newest key. */
export function signingAt<Key extends KeyTimes>(keys: readonly Key[], now: number): Key | undefined {
  // A clock that was set back can be earlier than the start of all keys. All nodes have the oldest key.
  return keys.find(({ signsFrom }) => signsFrom <= now) ?? keys.at(-1);
}

/** The time after which no node signs with the previous key. */
export function stopsSigningAt(successor: KeyTimes): number {
  return successor.signsFrom + clockSkewMs;
}

export function toPrivateKey(bytes: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.from(bytes), format: 'der', type: 'pkcs8' });
}

export interface StoredKey {
  readonly id: string;
  readonly privateKey: Uint8Array;
  /** The id of the master key, or null if the key is not encrypted. */
  readonly sealedWith: string | null;
}

const masterKeyHelp = "To change the master key, or if it is lost, see 'espalier docs signing-keys'.";

/**
 * Encrypts the private keys in the database with the master key, which is stored elsewhere. A copy of the database is then not
 * enough to sign tokens. Each key is bound to its id, so that keys cannot be exchanged.
 */
export class KeyEncryption {
  readonly #encryption: SecretEncryption;

  constructor(masterKey: string | undefined) {
    this.#encryption = new SecretEncryption(masterKey, 'espalier signing keys');
  }

  /** An id of the master key that does not reveal it, or null without a master key. */
  get id(): string | null {
    return this.#encryption.id;
  }

  /** Returns the key unchanged without a master key. */
  encrypt(id: string, privateKey: Uint8Array): StoredKey {
    const { secret, sealedWith } = this.#encryption.encrypt(privateKey, id);
    return { id, privateKey: secret, sealedWith };
  }

  /** Returns the private key. Throws a StartError with instructions if it cannot be decrypted. */
  decrypt({ id, privateKey, sealedWith }: StoredKey): Uint8Array {
    const decryptedKey = this.#encryption.decrypt({ secret: privateKey, sealedWith }, id);
    if (decryptedKey) return decryptedKey;
    if (this.id === null) {
      throw new StartError(
        `The signing keys in the database are sealed with a master key (${sealedWith}), but none is set. Set ESPALIER_MASTER_KEY_FILE. ${masterKeyHelp}`,
      );
    }
    throw new StartError(
      sealedWith === this.id
        ? `The signing key ${id} in the database was changed or damaged: its seal is broken. To retire the key, run 'espalier signing-key retire ${id}'.`
        : `The signing key ${id} in the database is sealed with another master key (${sealedWith}) than the current one (${this.id}). Set the master key with which it was sealed. ${masterKeyHelp}`,
    );
  }
}
