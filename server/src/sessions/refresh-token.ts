/** Refresh tokens: random UUIDs of which only a digest is kept, and the sealing of a successor pair under the old one. */

import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, randomUUID } from 'node:crypto';

export interface TokenPair {
  readonly authToken: string;
  readonly refreshToken: string;
}

/** 122 random bits (RFC 9562, version 4). */
export function newRefreshToken(): string {
  return randomUUID();
}

/** A plain digest is enough: what it hides is random, not a password. */
export function digestOf(refreshToken: string): Uint8Array {
  return createHash('sha256').update(refreshToken).digest();
}

const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** Only who holds the old pair, both tokens of it, can open it again. */
export function sealSuccessor(successor: TokenPair, old: TokenPair): Uint8Array {
  const iv = randomBytes(ivBytes);
  const sealing = createCipheriv(cipher, sealingKey(old), iv);
  const sealed = Buffer.concat([sealing.update(JSON.stringify(successor)), sealing.final()]);
  return Buffer.concat([iv, sealing.getAuthTag(), sealed]);
}

export function openSuccessor(sealed: Uint8Array, old: TokenPair): TokenPair | undefined {
  const bytes = Buffer.from(sealed);
  try {
    const iv = bytes.subarray(0, ivBytes);
    const opening = createDecipheriv(cipher, sealingKey(old), iv, { authTagLength: tagBytes });
    opening.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
    const text = Buffer.concat([opening.update(bytes.subarray(ivBytes + tagBytes)), opening.final()]);
    return JSON.parse(text.toString()) as TokenPair;
  } catch {
    // Another auth token than the one that was exchanged: the key does not fit.
    return undefined;
  }
}

function sealingKey({ authToken, refreshToken }: TokenPair): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', refreshToken, authToken, 'espalier successor pair', 32));
}
