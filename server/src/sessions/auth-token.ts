/**
 * Issues and verifies auth tokens: JWTs signed with Ed25519 (RFC 7515, RFC 8037, type of RFC 9068). A token is accepted only if
 * its header equals, byte for byte, a header that this service writes. So an attacker can choose no algorithm, type, key or
 * extension (RFC 8725 §3.1). A stolen old private key is of little use: tokens are rejected if they were issued after their
 * key stopped signing, or if they live longer than any token of this service.
 */

import { randomUUID, sign, verify } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { Refusal } from '../refusal.ts';
import { maxAuthTokenMs } from './revocation.ts';
import { clockSkewMs, stopsSigningAt, type SigningKey, type SigningKeys } from './signing-keys.ts';

/** The authenticated user who makes a request. Code above `sessions/` receives a viewer and never reads a token. */
export interface Viewer {
  readonly userId: string;
  readonly sessionId: string;
  /** The id of the key that signed the auth token. */
  readonly keyId: string;
  /** In milliseconds since 1970. */
  readonly tokenExpiresAt: number;
}

/** Times are in seconds with fractions (RFC 7519 §2), so that a token lives exactly as long as configured. */
interface Claims {
  readonly iss: string;
  readonly sub: string;
  readonly sid: string;
  readonly jti: string;
  readonly iat: number;
  readonly nbf: number;
  readonly exp: number;
}

interface AuthTokenOptions {
  readonly issuer: string;
  readonly lifetimeSeconds: number;
  readonly clock: Clock;
  readonly keys: Pick<SigningKeys, 'all' | 'current' | 'isKeyListCurrent' | 'rereadSoon'>;
}

/** A key with the time until which it signed. */
interface Verifier {
  readonly key: SigningKey;
  /** Infinity for the newest key. */
  readonly stoppedAt: number;
}

const maxCachedTokens = 10_000;
const maxTokenLength = 2_048;

/** A header as this service writes it, for any key. */
const headerShape = /^\{"alg":"EdDSA","typ":"at\+jwt","kid":"[0-9a-f-]{36}"\}$/;

export class AuthTokens {
  readonly issuer: string;
  readonly #options: AuthTokenOptions;
  readonly #verifiedTokens = new LRUCache<string, Viewer>({ max: maxCachedTokens });
  #listedKeys: readonly SigningKey[] = [];
  #verifierByHeader = new Map<string, Verifier>();
  #keyIds = new Set<string>();

  constructor(options: AuthTokenOptions) {
    this.issuer = options.issuer;
    this.#options = options;
  }

  /** Refuses while this node may not know the current signing key. */
  issue(userId: string, sessionId: string): string {
    const { keys, clock, lifetimeSeconds } = this.#options;
    // The current key may have stopped signing. Other nodes would then reject the token.
    if (!keys.isKeyListCurrent) {
      keys.rereadSoon();
      throw unavailable('Auth tokens cannot be signed right now. Try again later.');
    }
    const now = clock.now();
    const signingKey = keys.current;
    const tokenExpiresAt = now + lifetimeSeconds * 1000;
    const claims: Claims = {
      iss: this.issuer,
      sub: userId,
      sid: sessionId,
      jti: randomUUID(),
      iat: now / 1000,
      // In whole seconds, rounded down, because other services may compare whole seconds.
      nbf: Math.floor(now / 1000),
      exp: tokenExpiresAt / 1000,
    };
    const signed = `${headerOf(signingKey)}.${encode(JSON.stringify(claims))}`;
    const signature = sign(null, Buffer.from(signed), signingKey.privateKey);
    const token = `${signed}.${signature.toString('base64url')}`;
    this.#verifiedTokens.set(token, { userId, sessionId, keyId: signingKey.id, tokenExpiresAt });
    return token;
  }

  /** The viewer of an authentic token, expired or not, or undefined. Refuses a token whose key this node may not know yet. */
  read(token: string): Viewer | undefined {
    if (this.#listedKeys !== this.#options.keys.all) this.#updateKeys();
    const cached = this.#verifiedTokens.get(token);
    if (cached) return cached;
    if (token.length > maxTokenLength) return undefined;
    const [header = '', payload = '', signature = '', ...more] = token.split('.');
    if (more.length > 0) return undefined;
    const verifier = this.#verifierByHeader.get(header);
    if (!verifier) return this.#handleUnknownKey(header);
    const { key, stoppedAt } = verifier;
    const signatureBytes = decode(signature);
    const payloadBytes = decode(payload);
    if (!signatureBytes || !payloadBytes) return undefined;
    if (!verify(null, Buffer.from(`${header}.${payload}`), key.publicKey, signatureBytes)) return undefined;
    const claims = JSON.parse(payloadBytes.toString()) as Claims;
    const now = this.#options.clock.now();
    if (claims.iss !== this.issuer || !hasValidTimes(claims, { now, stoppedAt })) return undefined;
    const viewer: Viewer = {
      userId: claims.sub,
      sessionId: claims.sid,
      keyId: key.id,
      tokenExpiresAt: Math.round(claims.exp * 1000),
    };
    this.#verifiedTokens.set(token, viewer);
    return viewer;
  }

  /** Whether the key that signed a token was retired, which makes the token invalid. */
  isKeyRetired(keyId: string): boolean {
    if (this.#listedKeys !== this.#options.keys.all) this.#updateKeys();
    return !this.#keyIds.has(keyId);
  }

  /**
   * Clears the cache if a key was retired, or if a key stopped signing before this node knew its successor: cached tokens of
   * those keys may be invalid.
   */
  #updateKeys(): void {
    const { keys, clock } = this.#options;
    const previousIds = this.#keyIds;
    this.#listedKeys = keys.all;
    this.#verifierByHeader = new Map(
      keys.all.map((key, index): [string, Verifier] => {
        const successor = keys.all[index - 1];
        return [headerOf(key), { key, stoppedAt: successor ? stopsSigningAt(successor) : Infinity }];
      }),
    );
    this.#keyIds = new Set(keys.all.map(({ id }) => id));
    const hasRetiredKey = [...previousIds].some((id) => !this.#keyIds.has(id));
    const hasLateKey = keys.all.some((key) => !previousIds.has(key.id) && key.signsFrom <= clock.now());
    if (hasRetiredKey || hasLateKey) this.#verifiedTokens.clear();
  }

  /** The key may be newer than the keys that this node has read. Almost always, it does not exist. */
  #handleUnknownKey(header: string): undefined {
    const { keys } = this.#options;
    if (!headerShape.test(decode(header)?.toString() ?? '')) return undefined;
    keys.rereadSoon();
    if (keys.isKeyListCurrent) return undefined;
    throw unavailable('Auth tokens cannot be checked right now. Try again later.');
  }
}

/** Whether a node can have issued the token at its `iat`. False if a time is not a number. */
function hasValidTimes(
  { iat, nbf, exp }: Claims,
  { now, stoppedAt }: { readonly now: number; readonly stoppedAt: number },
): boolean {
  // The clock of another node may be ahead.
  const hasStarted = Math.max(nbf, iat) * 1000 <= now + clockSkewMs;
  // Rounded, because the times are fractions.
  return hasStarted && iat * 1000 <= stoppedAt && Math.round((exp - iat) * 1000) <= maxAuthTokenMs;
}

function unavailable(text: string): Refusal {
  return new Refusal('UNAVAILABLE', text, { retryAfterSeconds: 1 });
}

function headerOf({ id }: Pick<SigningKey, 'id'>): string {
  return encode(JSON.stringify({ alg: 'EdDSA', typ: 'at+jwt', kid: id }));
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/** Rejects text that does not encode back to itself: Buffer ignores padding, unknown characters and trailing bits. */
function decode(segment: string): Buffer | undefined {
  const bytes = Buffer.from(segment, 'base64url');
  return bytes.toString('base64url') === segment ? bytes : undefined;
}
