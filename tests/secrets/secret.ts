/** Passwords and tokens: found in what is sent and answered, by the names of their fields and by `Bearer`. */

import { createHash } from 'node:crypto';

export interface Secret {
  /** As a report names it. */
  readonly kind: string;
  readonly value: string;
}

/** Shorter ones cannot be told from ordinary words. */
export const leastBytes = 8;

const field = String.raw`\b(\w*(?:password|authToken|refreshToken))`;
const inJson = new RegExp(String.raw`${field}"?\s*:\s*"((?:[^"\\]|\\.)*)`, 'gi');
const inQuery = new RegExp(String.raw`${field}(?:\\")?\s*:\s*\\"([^"\\]*)`, 'gi');
const bearer = /\bBearer\s+([^\s"'\\]+)/gi;

/** Also in text that is no JSON, and in GraphQL within JSON. */
export function secretsIn(text: string): Secret[] {
  return [
    ...[inJson, inQuery]
      .flatMap((shape) => [...text.matchAll(shape)])
      .map(([, name, value]) => ({ kind: kindOf(name!), value: unescaped(value!) })),
    ...[...text.matchAll(bearer)].map(([, token]) => ({ kind: 'auth token', value: token! })),
  ];
}

/** What must not be seen of it, nor made from it. */
export function partsOf({ kind, value }: Secret): Secret[] {
  if (kind === 'auth token') return partsOfToken(value);
  if (kind !== 'refresh token') return [{ kind, value }];
  const digest = createHash('sha256').update(value).digest();
  const spelled = (['hex', 'base64', 'base64url'] as const).map((form) => digest.toString(form));
  return [
    { kind, value },
    ...spelled.map((each) => ({ kind: 'digest of a refresh token', value: each.replace(/=+$/, '') })),
  ];
}

/** The first part of a JWT says how it was made, which is no secret; what is no JWT is one as a whole. */
function partsOfToken(token: string): Secret[] {
  const [head, claims, signature, ...more] = token.split('.');
  if (!head?.startsWith('eyJ') || claims === undefined || signature === undefined || more.length > 0)
    return [{ kind: 'auth token', value: token }];
  return [
    { kind: 'claims of an auth token', value: claims },
    { kind: 'signature of an auth token', value: signature },
  ];
}

function kindOf(name: string): string {
  if (/password$/i.test(name)) return 'password';
  return /^authToken$/i.test(name) ? 'auth token' : 'refresh token';
}

function unescaped(value: string): string {
  try {
    return JSON.parse(`"${value}"`) as string;
  } catch {
    return value;
  }
}

/** In how many ways it may be written: as it is, within JSON, and within a URL. */
export function spellingsOf(value: string): string[] {
  const inUrl = value.isWellFormed() ? [encodeURIComponent(value)] : [];
  return [...new Set([value, JSON.stringify(value).slice(1, -1), ...inUrl])];
}
