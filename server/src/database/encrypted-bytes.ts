/** Bytes that only the holder of a key can read, and nobody can change or use elsewhere (AES-256-GCM). */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** A key for one purpose, from a secret that nobody can guess. */
export function sealingKey(secret: string, { salt, purpose }: { salt: string; purpose: string }): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, salt, purpose, 32));
}

/** What is bound to a name opens under that name only. */
export function sealBytes(bytes: Uint8Array, key: Uint8Array, boundTo = ''): Uint8Array {
  const iv = randomBytes(ivBytes);
  const sealing = createCipheriv(cipher, key, iv).setAAD(Buffer.from(boundTo));
  const sealed = Buffer.concat([sealing.update(bytes), sealing.final()]);
  return Buffer.concat([iv, sealing.getAuthTag(), sealed]);
}

/** Undefined if it was not sealed with this key and under this name. */
export function openBytes(sealed: Uint8Array, key: Uint8Array, boundTo = ''): Uint8Array | undefined {
  const bytes = Buffer.from(sealed);
  try {
    const opening = createDecipheriv(cipher, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes });
    opening.setAAD(Buffer.from(boundTo)).setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
    return Buffer.concat([opening.update(bytes.subarray(ivBytes + tagBytes)), opening.final()]);
  } catch {
    return undefined;
  }
}
