/**
 * Auth tokens: JWTs signed with Ed25519 (RFC 7515, RFC 8037, RFC 9068's type). A token is accepted only if its header
 * is, byte for byte, one that this service writes: so there is no algorithm, type, key or extension to choose for
 * whoever made it (RFC 8725 §3.1). Nor is there much of time to choose for whoever has an old private key: what says that
 * it was made when that key did not sign any more, or that it lives longer than any token does, is not of our making.
 */

import { randomUUID, sign, verify } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { Refusal } from '../refusal.ts';
import { maxAuthTokenMs } from './revocation.ts';
import type { Viewer } from './viewer.ts';
import { clockSkewMs, stopsSigningAt, type SigningKey, type SigningKeys } from './signing-keys.ts';

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

export interface AuthTokens {
  readonly issuer: string;
  /** Refused while this node may not know the key that signs. */
  issue(userId: string, sessionId: string): string;
  /**
   * The token if it is authentic, expired or not; undefined if it is not. Refuses to tell when the token names a key
   * that this node may not know yet.
   */
  read(token: string): Viewer | undefined;
  /** Whether the key that signed a token has been retired since: then it is good no more. */
  isKeyRetired(keyId: string): boolean;
}

export interface AuthTokenOptions {
  readonly issuer: string;
  readonly lifetimeSeconds: number;
  readonly clock: Clock;
  readonly keys: SigningKeys;
}

/** A key, and when at the latest it was signed with. */
interface Verifier {
  readonly key: SigningKey;
  /** Infinity if no other follows. */
  readonly stoppedAt: number;
}

const cachedTokens = 10_000;
const longestToken = 2_048;

/** A header as this service writes it, of whichever key. */
const headerShape = /^\{"alg":"EdDSA","typ":"at\+jwt","kid":"[0-9a-f-]{36}"\}$/;

export function createAuthTokens({ issuer, lifetimeSeconds, clock, keys }: AuthTokenOptions): AuthTokens {
  const authentic = new LRUCache<string, Viewer>({ max: cachedTokens });
  let listed: readonly SigningKey[] = [];
  let verifierByHeader = new Map<string, Verifier>();
  let keyIds = new Set<string>();

  /**
   * What was found authentic by a key that is gone is not so any more; nor, perhaps, what was found so by one that had
   * stopped signing before this node learned of the next.
   */
  function relist(): void {
    const known = keyIds;
    listed = keys.all;
    verifierByHeader = new Map(
      verifiersOf(listed).map((verifier) => [headerOf(verifier.key), verifier] as const),
    );
    keyIds = new Set(listed.map(({ id }) => id));
    const isAnyGone = [...known].some((id) => !keyIds.has(id));
    const isAnyLate = listed.some((key) => !known.has(key.id) && key.signsFrom <= clock.now());
    if (isAnyGone || isAnyLate) authentic.clear();
  }

  /** It may be of a key that is newer than what this node has read; almost always it is of none. */
  function missKeyOf(header: string): undefined {
    if (!headerShape.test(decode(header)?.toString() ?? '')) return undefined;
    keys.rereadSoon();
    if (keys.isKeyListCurrent) return undefined;
    throw unavailable('Auth tokens cannot be checked right now. Try again later.');
  }

  return {
    issuer,
    issue(userId, sessionId) {
      // Cut off for long, it could still have a key that stopped signing meanwhile, and nobody would take what that signs.
      if (!keys.isKeyListCurrent) {
        keys.rereadSoon();
        throw unavailable('Auth tokens cannot be signed right now. Try again later.');
      }
      const now = clock.now();
      const signingKey = keys.current;
      const tokenExpiresAt = now + lifetimeSeconds * 1000;
      const claims: Claims = {
        iss: issuer,
        sub: userId,
        sid: sessionId,
        jti: randomUUID(),
        iat: now / 1000,
        // Whole seconds, rounded down: other services that verify may count in whole seconds themselves.
        nbf: Math.floor(now / 1000),
        exp: tokenExpiresAt / 1000,
      };
      const signed = `${headerOf(signingKey)}.${encode(JSON.stringify(claims))}`;
      const signature = sign(null, Buffer.from(signed), signingKey.privateKey);
      const token = `${signed}.${signature.toString('base64url')}`;
      authentic.set(token, { userId, sessionId, keyId: signingKey.id, tokenExpiresAt });
      return token;
    },

    isKeyRetired(keyId) {
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
      const verifier = verifierByHeader.get(header);
      if (!verifier) return missKeyOf(header);
      const { key, stoppedAt } = verifier;
      const signatureBytes = decode(signature);
      const payloadBytes = decode(payload);
      if (!signatureBytes || !payloadBytes) return undefined;
      if (!verify(null, Buffer.from(`${header}.${payload}`), key.publicKey, signatureBytes)) return undefined;
      const claims = JSON.parse(payloadBytes.toString()) as Claims;
      if (claims.iss !== issuer || !isTimely(claims, { now: clock.now(), stoppedAt })) return undefined;
      const read: Viewer = {
        userId: claims.sub,
        sessionId: claims.sid,
        keyId: key.id,
        tokenExpiresAt: Math.round(claims.exp * 1000),
      };
      authentic.set(token, read);
      return read;
    },
  };
}

/** Of keys in their order, the newest first. */
function verifiersOf(keys: readonly SigningKey[]): Verifier[] {
  return keys.map((key, place) => {
    const successor = keys[place - 1];
    return { key, stoppedAt: successor ? stopsSigningAt(successor) : Infinity };
  });
}

/** Whether a node can have made it at the time that it tells. What is not a number is never so. */
function isTimely(
  { iat, nbf, exp }: Claims,
  { now, stoppedAt }: { readonly now: number; readonly stoppedAt: number },
): boolean {
  // Another node's clock may be ahead of ours.
  const isBegun = Math.max(nbf, iat) * 1000 <= now + clockSkewMs;
  // Rounded, because these are fractions.
  return isBegun && iat * 1000 <= stoppedAt && Math.round((exp - iat) * 1000) <= maxAuthTokenMs;
}

function unavailable(text: string): Refusal {
  return new Refusal('UNAVAILABLE', text, { retryAfterSeconds: 1 });
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
