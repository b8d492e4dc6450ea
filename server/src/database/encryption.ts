/** Encrypts short secrets with AES-256-GCM. */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

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
