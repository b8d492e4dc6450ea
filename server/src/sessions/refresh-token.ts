/** Refresh tokens: random UUIDs of which only a digest is kept, and the sealing of a successor pair under the old one. */

import { createHash, randomUUID } from 'node:crypto';
import { openBytes, sealBytes, sealingKey } from '../database/encrypted-bytes.ts';

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

/** Only who holds the old pair, both tokens of it, can open it again. */
export function sealSuccessor(successor: TokenPair, old: TokenPair): Uint8Array {
  return sealBytes(Buffer.from(JSON.stringify(successor)), keyOf(old));
}

/** Undefined with another auth token than the one that was exchanged. */
export function openSuccessor(sealed: Uint8Array, old: TokenPair): TokenPair | undefined {
  const opened = openBytes(sealed, keyOf(old));
  return opened && (JSON.parse(Buffer.from(opened).toString()) as TokenPair);
}

function keyOf({ authToken, refreshToken }: TokenPair): Uint8Array {
  return sealingKey(refreshToken, { salt: authToken, purpose: 'espalier successor pair' });
}
