/** Creates refresh tokens and their digests, and encrypts successor tokens for `refreshRetrySeconds`. Tokens are not stored. */

import { createHash, randomUUID } from 'node:crypto';
import { decryptBytes, encryptBytes, deriveKey } from '../database/encrypted-bytes.ts';

export interface TokenPair {
  readonly authToken: string;
  readonly refreshToken: string;
}

/** 122 random bits (RFC 9562, version 4). */
export function newRefreshToken(): string {
  return randomUUID();
}

/** A fast digest is sufficient, because the token is random and not a password. */
export function digestOf(refreshToken: string): Uint8Array {
  return createHash('sha256').update(refreshToken).digest();
}

/** Only a client with both old tokens can decrypt the successors. */
export function encryptSuccessor(successor: TokenPair, old: TokenPair): Uint8Array {
  return encryptBytes(Buffer.from(JSON.stringify(successor)), keyOf(old));
}

/** Returns undefined if the auth token is not the one that was exchanged. */
export function decryptSuccessor(encrypted: Uint8Array, old: TokenPair): TokenPair | undefined {
  const decrypted = decryptBytes(encrypted, keyOf(old));
  return decrypted && (JSON.parse(Buffer.from(decrypted).toString()) as TokenPair);
}

function keyOf({ authToken, refreshToken }: TokenPair): Uint8Array {
  return deriveKey(refreshToken, { salt: authToken, purpose: 'espalier successor pair' });
}
