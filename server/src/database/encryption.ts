/**
 * Encrypts short secrets with AES-256-GCM: with a key of their own, or with the master key, which is stored outside of the database.
 * Also creates random secrets, and computes their digests.
 */

import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** 256 random bits. */
export function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** A fast digest is sufficient for random secrets, but not for passwords. */
export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Derives a key for one purpose from a random secret. */
export function deriveKey(secret: string, { salt, purpose }: { salt: string; purpose: string }): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, salt, purpose, 32));
}

/** With `boundTo`, for example an id, the bytes can be decrypted only with the same `boundTo`. */
export function encryptBytes(bytes: Uint8Array, key: Uint8Array, boundTo = ''): Uint8Array {
  const iv = randomBytes(ivBytes);
  const encryptor = createCipheriv(cipher, key, iv).setAAD(Buffer.from(boundTo));
  const encrypted = Buffer.concat([encryptor.update(bytes), encryptor.final()]);
  return Buffer.concat([iv, encryptor.getAuthTag(), encrypted]);
}

/** Returns undefined if the bytes were changed, or were encrypted with another key or `boundTo`. */
export function decryptBytes(encrypted: Uint8Array, key: Uint8Array, boundTo = ''): Uint8Array | undefined {
  const bytes = Buffer.from(encrypted);
  try {
    const decryptor = createDecipheriv(cipher, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes });
    decryptor.setAAD(Buffer.from(boundTo)).setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
    return Buffer.concat([decryptor.update(bytes.subarray(ivBytes + tagBytes)), decryptor.final()]);
  } catch {
    return undefined;
  }
}

/** A secret as the database contains it. */
export interface EncryptedSecret {
  readonly secret: Uint8Array;
  /** The id of the master key, or null if the secret is not encrypted. */
  readonly sealedWith: string | null;
}

/** An id that does not reveal the master key. */
function masterKeyId(masterKey: string): string {
  const name = deriveKey(masterKey, { salt: '', purpose: 'espalier master key name' });
  return Buffer.from(name).subarray(0, 6).toString('hex');
}

/** Encrypts secrets of one purpose with the master key. Without a master key, the secrets stay unencrypted. */
export class SecretEncryption {
  /** The id of the master key, or null without one. */
  readonly id: string | null;
  readonly #key: Uint8Array | undefined;

  constructor(masterKey: string | undefined, purpose: string) {
    this.id = masterKey === undefined ? null : masterKeyId(masterKey);
    this.#key = masterKey === undefined ? undefined : deriveKey(masterKey, { salt: '', purpose });
  }

  /** Only a call of `decrypt` with the same `boundTo` returns the secret. So secrets cannot be exchanged between rows. */
  encrypt(secret: Uint8Array, boundTo: string): EncryptedSecret {
    return { secret: this.#key ? encryptBytes(secret, this.#key, boundTo) : secret, sealedWith: this.id };
  }

  /** Returns undefined if the secret was changed, or encrypted with another master key. */
  decrypt({ secret, sealedWith }: EncryptedSecret, boundTo: string): Uint8Array | undefined {
    if (sealedWith === null) return secret;
    return this.#key && sealedWith === this.id ? decryptBytes(secret, this.#key, boundTo) : undefined;
  }
}
