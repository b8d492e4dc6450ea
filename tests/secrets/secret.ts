/** Finds passwords, tokens and codes in requests and responses, by the names of their fields, by their shape and by `Bearer`. */

import { createHash } from 'node:crypto';
import { decodeBase32 } from '../second-factors/authenticator-app.ts';

export interface Secret {
  /** The name in a report. */
  readonly kind: string;
  readonly value: string;
}

/** Shorter secrets cannot be distinguished from ordinary words. */
export const minBytes = 8;

const field = String.raw`\b(\w*(?:password|authToken|refreshToken|enrolmentToken))`;
const jsonFields = new RegExp(String.raw`${field}"?\s*:\s*"((?:[^"\\]|\\.)*)`, 'gi');
const graphqlFields = new RegExp(String.raw`${field}(?:\\")?\s*:\s*\\"([^"\\]*)`, 'gi');
/** In JSON, also inside JSON, and in the URI of a QR code. */
const shapes: readonly { readonly kind: string; readonly shape: RegExp }[] = [
  { kind: 'code of a single sign-on', shape: /\b(?:code|verifier)\\*"\s*:\s*\\*"([\w-]{43})\\*"/g },
  { kind: 'secret of an authenticator app', shape: /\bsecret(?:\\*"\s*:\s*\\*"|=)([A-Z2-7]{32})\b/g },
  { kind: 'recovery code', shape: /"((?:[a-km-np-z2-9]{4}-){3}[a-km-np-z2-9]{4})\\*"/g },
];
const bearerTokens = /\bBearer\s+([^\s"'\\]+)/gi;

/** Also works in invalid JSON and in GraphQL inside JSON. */
export function findSecrets(text: string): Secret[] {
  return [
    ...[jsonFields, graphqlFields]
      .flatMap((shape) => [...text.matchAll(shape)])
      .map(([, name, value]) => ({ kind: nameKind(name!), value: unescape(value!) })),
    ...shapes.flatMap(({ kind, shape }) =>
      [...text.matchAll(shape)].map(([, value]) => ({ kind, value: value! })),
    ),
    ...[...text.matchAll(bearerTokens)].map(([, token]) => ({ kind: 'auth token', value: token! })),
  ];
}

/** Returns the parts and digests of a secret that must not appear. */
export function splitSecret({ kind, value }: Secret): Secret[] {
  if (kind === 'auth token') return splitToken(value);
  if (kind === 'API key') return splitApiKey(value);
  if (kind === 'recovery code')
    return [value, value.replaceAll('-', '')].map((each) => ({ kind, value: each }));
  if (kind === 'secret of an authenticator app') return splitAppSecret(value);
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
  if (token.startsWith('esp_')) return splitApiKey(token);
  const [head, claims, signature, ...more] = token.split('.');
  if (!head?.startsWith('eyJ') || claims === undefined || signature === undefined || more.length > 0)
    return [{ kind: 'auth token', value: token }];
  return [
    { kind: 'claims of an auth token', value: claims },
    { kind: 'signature of an auth token', value: signature },
  ];
}

/** The server stores only a digest of the secret, which must not appear either. */
function splitApiKey(key: string): Secret[] {
  const secret = key.slice(20, 52);
  // A text that is too short, as a test of invalid keys sends it. The digest of an empty text is not a secret.
  if (secret === '') return [{ kind: 'API key', value: key }];
  const digest = createHash('sha256').update(secret).digest();
  return [
    { kind: 'API key', value: key },
    { kind: 'secret of an API key', value: secret },
    ...(['hex', 'base64', 'base64url'] as const).map((form) => ({
      kind: 'digest of an API key',
      value: digest.toString(form).replace(/=+$/, ''),
    })),
  ];
}

/** The server stores the bytes, if it has no master key. */
function splitAppSecret(value: string): Secret[] {
  const kind = 'secret of an authenticator app';
  const bytes = Buffer.from(decodeBase32(value));
  const forms = (['hex', 'base64', 'base64url'] as const).map((form) =>
    bytes.toString(form).replace(/=+$/, ''),
  );
  return [value, ...forms].map((each) => ({ kind, value: each }));
}

function nameKind(name: string): string {
  if (/password$/i.test(name)) return 'password';
  if (/^enrolmentToken$/i.test(name)) return 'enrolment token';
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
