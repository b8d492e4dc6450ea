/**
 * Issues and verifies JWTs of one type, signed with Ed25519 (RFC 7515, RFC 8037). A token is accepted only if its header equals, byte
 * for byte, a header that this service writes. So an attacker can choose no algorithm, type, key or extension (RFC 8725 §3.1). A
 * stolen old private key is of little use. Tokens are rejected if they were issued after their key stopped signing, or if they
 * have a longer lifetime than any token of this type.
 */

import { randomUUID, sign, verify } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { Refusal } from '../refusal.ts';
import { clockSkewMs, stopsSigningAt, type SigningKey, type SigningKeys } from './signing-keys.ts';

/** Times are in seconds with fractions (RFC 7519 §2), so that a token lives exactly as long as configured. */
interface StandardClaims {
  readonly iss: string;
  readonly jti: string;
  readonly iat: number;
  readonly nbf: number;
  readonly exp: number;
}

export interface TokenServices {
  readonly issuer: string;
  readonly clock: Clock;
  readonly keys: Pick<SigningKeys, 'all' | 'current' | 'isKeyListCurrent' | 'rereadSoon'>;
}

interface SignedTokenOptions<Own, Content> extends TokenServices {
  /** The `typ` of the header. */
  readonly type: string;
  /** No node issues a token with a longer lifetime. */
  readonly maxLifetimeMs: number;
  /** Checks the claims that only this type of token has. By default, they are valid. */
  readonly isValid?: (claims: Own) => boolean;
  /** `Own` contains the claims that only this type of token has. */
  readonly toContent: (claims: Own, token: { readonly keyId: string; readonly expiresAt: number }) => Content;
}

/** A key with the time until which it signed. */
interface Verifier {
  readonly key: SigningKey;
  /** Infinity for the newest key. */
  readonly stoppedAt: number;
}

const maxCachedTokens = 10_000;
/** A token with an issuer and an audience of 255 characters each, which JSON may escape, has less than 5,000. */
const maxTokenLength = 6_144;

/** Tokens of one type. A token of another type has another header, so it is never accepted. */
export class SignedTokens<Own extends object, Content extends object> {
  readonly #options: SignedTokenOptions<Own, Content>;
  readonly #verifiedTokens = new LRUCache<string, Content>({ max: maxCachedTokens });
  readonly #headerShape: RegExp;
  #listedKeys: readonly SigningKey[] = [];
  #verifierByHeader = new Map<string, Verifier>();
  #keyIds = new Set<string>();

  constructor(options: SignedTokenOptions<Own, Content>) {
    this.#options = options;
    const header = headerText(options.type, 'ID').replace(/[{}+]/g, '\\$&');
    this.#headerShape = new RegExp(`^${header.replace('ID', '[0-9a-f-]{36}')}$`);
  }

  /** Refuses while this node may not know the current signing key. */
  issue(own: Own, lifetimeMs: number): { readonly token: string; readonly content: Content } {
    const { keys, clock, issuer, type, toContent } = this.#options;
    // The current key may have stopped signing. Other nodes would then reject the token.
    if (!keys.isKeyListCurrent) {
      keys.rereadSoon();
      throw unavailable('Tokens cannot be signed right now. Try again later.');
    }
    const now = clock.now();
    const signingKey = keys.current;
    const claims: StandardClaims & Own = {
      iss: issuer,
      ...own,
      jti: randomUUID(),
      iat: now / 1000,
      // In whole seconds, rounded down, because other services may compare whole seconds.
      nbf: Math.floor(now / 1000),
      exp: (now + lifetimeMs) / 1000,
    };
    const signingInput = `${encode(headerText(type, signingKey.id))}.${encode(JSON.stringify(claims))}`;
    const signature = sign(null, Buffer.from(signingInput), signingKey.privateKey);
    const token = `${signingInput}.${signature.toString('base64url')}`;
    const content = toContent(claims, { keyId: signingKey.id, expiresAt: now + lifetimeMs });
    this.#verifiedTokens.set(token, content);
    return { token, content };
  }

  /** Returns the content of an authentic token, even of an expired one. Otherwise returns undefined. Refuses a token whose key this node may not know yet. */
  read(token: string): Content | undefined {
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
    const claims = JSON.parse(payloadBytes.toString()) as StandardClaims & Own;
    const { clock, issuer, maxLifetimeMs, isValid, toContent } = this.#options;
    const times = { now: clock.now(), stoppedAt, maxLifetimeMs };
    if (claims.iss !== issuer || !hasValidTimes(claims, times) || isValid?.(claims) === false)
      return undefined;
    const content = toContent(claims, { keyId: key.id, expiresAt: Math.round(claims.exp * 1000) });
    this.#verifiedTokens.set(token, content);
    return content;
  }

  /** Whether the key that signed a token was retired, which makes the token invalid. */
  isKeyRetired(keyId: string): boolean {
    if (this.#listedKeys !== this.#options.keys.all) this.#updateKeys();
    return !this.#keyIds.has(keyId);
  }

  /**
   * Clears the cache if a key was retired, or if a key stopped signing before this node had its successor. Cached tokens of
   * those keys may be invalid.
   */
  #updateKeys(): void {
    const { keys, clock, type } = this.#options;
    const previousIds = this.#keyIds;
    this.#listedKeys = keys.all;
    this.#verifierByHeader = new Map(
      keys.all.map((key, index): [string, Verifier] => {
        const successor = keys.all[index - 1];
        return [
          encode(headerText(type, key.id)),
          { key, stoppedAt: successor ? stopsSigningAt(successor) : Infinity },
        ];
      }),
    );
    this.#keyIds = new Set(keys.all.map(({ id }) => id));
    const hasRetiredKey = [...previousIds].some((id) => !this.#keyIds.has(id));
    const hasLateKey = keys.all.some((key) => !previousIds.has(key.id) && key.signsFrom <= clock.now());
    if (hasRetiredKey || hasLateKey) this.#verifiedTokens.clear();
  }

  /** The key may be newer than the keys that this node has read. Usually, there is no such key. */
  #handleUnknownKey(header: string): undefined {
    const { keys } = this.#options;
    if (!this.#headerShape.test(decode(header)?.toString() ?? '')) return undefined;
    keys.rereadSoon();
    if (keys.isKeyListCurrent) return undefined;
    throw unavailable('Tokens cannot be checked right now. Try again later.');
  }
}

/** Whether a node can have issued the token at its `iat`. False if a time is not a number. */
function hasValidTimes(
  { iat, nbf, exp }: StandardClaims,
  {
    now,
    stoppedAt,
    maxLifetimeMs,
  }: { readonly now: number; readonly stoppedAt: number; readonly maxLifetimeMs: number },
): boolean {
  // The clock of another node may be ahead.
  const hasStarted = Math.max(nbf, iat) * 1000 <= now + clockSkewMs;
  // Rounded, because the times are fractions.
  return hasStarted && iat * 1000 <= stoppedAt && Math.round((exp - iat) * 1000) <= maxLifetimeMs;
}

function unavailable(text: string): Refusal {
  return new Refusal('UNAVAILABLE', text, { retryAfterSeconds: 1 });
}

function headerText(type: string, keyId: string): string {
  return JSON.stringify({ alg: 'EdDSA', typ: type, kid: keyId });
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/** Rejects text that does not encode back to itself: Buffer ignores padding, unknown characters and trailing bits. */
function decode(segment: string): Buffer | undefined {
  const bytes = Buffer.from(segment, 'base64url');
  return bytes.toString('base64url') === segment ? bytes : undefined;
}
