/** Finds passwords and tokens in requests and responses, by the names of their fields and by `Bearer`. */

import { createHash } from 'node:crypto';

export interface Secret {
  /** The name in a report. */
  readonly kind: string;
  readonly value: string;
}

/** Shorter secrets cannot be distinguished from ordinary words. */
export const minBytes = 8;

const field = String.raw`\b(\w*(?:password|authToken|refreshToken))`;
const jsonFields = new RegExp(String.raw`${field}"?\s*:\s*"((?:[^"\\]|\\.)*)`, 'gi');
const graphqlFields = new RegExp(String.raw`${field}(?:\\")?\s*:\s*\\"([^"\\]*)`, 'gi');
const bearerTokens = /\bBearer\s+([^\s"'\\]+)/gi;

/** Also works in invalid JSON and in GraphQL inside JSON. */
export function findSecrets(text: string): Secret[] {
  return [
    ...[jsonFields, graphqlFields]
      .flatMap((shape) => [...text.matchAll(shape)])
      .map(([, name, value]) => ({ kind: nameKind(name!), value: unescape(value!) })),
    ...[...text.matchAll(bearerTokens)].map(([, token]) => ({ kind: 'auth token', value: token! })),
  ];
}

/** Returns the parts and digests of a secret that must not appear. */
export function splitSecret({ kind, value }: Secret): Secret[] {
  if (kind === 'auth token') return splitToken(value);
  if (kind !== 'refresh token') return [{ kind, value }];
  const digest = createHash('sha256').update(value).digest();
  const digests = (['hex', 'base64', 'base64url'] as const).map((form) => digest.toString(form));
  return [
    { kind, value },
    ...digests.map((each) => ({ kind: 'digest of a refresh token', value: each.replace(/=+$/, '') })),
  ];
}

/** The header of a JWT is not a secret. A token that is not a JWT is secret as a whole. */
function splitToken(token: string): Secret[] {
  const [head, claims, signature, ...more] = token.split('.');
  if (!head?.startsWith('eyJ') || claims === undefined || signature === undefined || more.length > 0)
    return [{ kind: 'auth token', value: token }];
  return [
    { kind: 'claims of an auth token', value: claims },
    { kind: 'signature of an auth token', value: signature },
  ];
}

function nameKind(name: string): string {
  if (/password$/i.test(name)) return 'password';
  return /^authToken$/i.test(name) ? 'auth token' : 'refresh token';
}

function unescape(value: string): string {
  try {
    return JSON.parse(`"${value}"`) as string;
  } catch {
    return value;
  }
}

/** Returns the forms in which a secret may appear: plain, in JSON and in a URL. */
export function listSpellings(value: string): string[] {
  const inUrl = value.isWellFormed() ? [encodeURIComponent(value)] : [];
  return [...new Set([value, JSON.stringify(value).slice(1, -1), ...inUrl])];
}
