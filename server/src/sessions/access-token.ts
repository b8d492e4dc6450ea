/**
 * Auth tokens: JWTs signed with Ed25519 (RFC 7515, RFC 8037, RFC 9068's type). A token is accepted only if its header
 * is, byte for byte, one that this service writes: so there is no algorithm, type, key or extension to choose for
 * whoever made it (RFC 8725 §3.1).
 */

import { randomUUID, sign, verify } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { Refusal } from '../refusal.ts';
import { clockSkewMs, type SigningKey, type SigningKeys } from './signing-keys.ts';

export interface AccessToken {
  readonly userId: string;
  readonly sessionId: string;
  /** Of the key that signed it. */
  readonly keyId: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Times in seconds; with fractions (RFC 7519 §2), so that a token lives exactly as long as promised. */
interface Claims {
  readonly iss: string;
  readonly sub: string;
  readonly sid: string;
  readonly jti: string;
  readonly iat: number;
  readonly nbf: number;
  readonly exp: number;
}

export interface AccessTokens {
  readonly issuer: string;
  issue(userId: string, sessionId: string): string;
  /**
   * The token if it is authentic, expired or not; undefined if it is not. Refuses to tell when the token names a key
   * that this node may not know yet.
   */
  read(token: string): AccessToken | undefined;
  /** Whether the key that signed a token has been retired since: then it is good no more. */
  isKeyGone(keyId: string): boolean;
}

export interface AccessTokenOptions {
  readonly issuer: string;
  readonly lifetimeSeconds: number;
  readonly clock: Clock;
  readonly keys: SigningKeys;
}

const cachedTokens = 10_000;
const longestToken = 2_048;
/** A header as this service writes it, of whichever key. */
const headerShape = /^\{"alg":"EdDSA","typ":"at\+jwt","kid":"[0-9a-f-]{36}"\}$/;

export function createAccessTokens({
  issuer,
  lifetimeSeconds,
  clock,
  keys,
}: AccessTokenOptions): AccessTokens {
  const authentic = new LRUCache<string, AccessToken>({ max: cachedTokens });
  let listed: readonly SigningKey[] = [];
  let keyByHeader = new Map<string, SigningKey>();
  let keyIds = new Set<string>();

  /** What was found authentic by a key that is gone is not so any more. */
  function relist(): void {
    const known = keyIds;
    listed = keys.all;
    keyByHeader = new Map(listed.map((key) => [headerOf(key), key]));
    keyIds = new Set(listed.map(({ id }) => id));
    if ([...known].some((id) => !keyIds.has(id))) authentic.clear();
  }

  /** It may be of a key that is newer than what this node has read; almost always it is of none. */
  function missKeyOf(header: string): undefined {
    if (!headerShape.test(decode(header)?.toString() ?? '')) return undefined;
    keys.rereadSoon();
    if (keys.areAllKnown) return undefined;
    throw new Refusal('UNAVAILABLE', 'Auth tokens cannot be checked right now. Try again later.', {
      retryAfterSeconds: 1,
    });
  }

  return {
    issuer,
    issue(userId, sessionId) {
      const now = clock.now();
      const signingKey = keys.current;
      const expiresAt = now + lifetimeSeconds * 1000;
      const claims: Claims = {
        iss: issuer,
        sub: userId,
        sid: sessionId,
        jti: randomUUID(),
        iat: now / 1000,
        // Whole seconds, rounded down: other services that verify may count in whole seconds themselves.
        nbf: Math.floor(now / 1000),
        exp: expiresAt / 1000,
      };
      const signed = `${headerOf(signingKey)}.${encode(JSON.stringify(claims))}`;
      const signature = sign(null, Buffer.from(signed), signingKey.privateKey);
      const token = `${signed}.${signature.toString('base64url')}`;
      authentic.set(token, { userId, sessionId, keyId: signingKey.id, expiresAt });
      return token;
    },

    isKeyGone(keyId) {
      if (listed !== keys.all) relist();
      return !keyIds.has(keyId);
    },

    read(token) {
      if (listed !== keys.all) relist();
      const known = authentic.get(token);
      if (known) return known;
      if (token.length > longestToken) return undefined;
      const [header = '', payload = '', signature = '', ...more] = token.split('.');
      if (more.length > 0) return undefined;
      const key = keyByHeader.get(header);
      if (!key) return missKeyOf(header);
      const signatureBytes = decode(signature);
      const payloadBytes = decode(payload);
      if (!signatureBytes || !payloadBytes) return undefined;
      if (!verify(null, Buffer.from(`${header}.${payload}`), key.publicKey, signatureBytes)) return undefined;
      const claims = JSON.parse(payloadBytes.toString()) as Claims;
      // Another node's clock may be ahead of ours.
      if (claims.iss !== issuer || Math.max(claims.nbf, claims.iat) * 1000 > clock.now() + clockSkewMs) {
        return undefined;
      }
      const read: AccessToken = {
        userId: claims.sub,
        sessionId: claims.sid,
        keyId: key.id,
        expiresAt: Math.round(claims.exp * 1000),
      };
      authentic.set(token, read);
      return read;
    },
  };
}

function headerOf(key: SigningKey): string {
  return encode(JSON.stringify({ alg: 'EdDSA', typ: 'at+jwt', kid: key.id }));
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/** Buffer forgives padding, foreign letters and stray bits at the end: only what encodes back to itself is accepted. */
function decode(segment: string): Buffer | undefined {
  const bytes = Buffer.from(segment, 'base64url');
  return bytes.toString('base64url') === segment ? bytes : undefined;
}
