/**
 * Codes of authenticator apps (RFC 6238), with the parameters that all apps support: SHA-1, 6 digits, 30 seconds. The package is loaded
 * at the first use, to keep the start fast.
 */

import { randomBytes } from 'node:crypto';

const algorithm = 'SHA1';
const digits = 6;
const periodSeconds = 30;
/** RFC 4226 §4 recommends 160 bits. */
const secretBytes = 20;
/** The clock of a phone may differ by one time step, and a user needs some seconds to type. */
const window = 1;

export function createTotpSecret(): Uint8Array {
  return randomBytes(secretBytes);
}

/** The number of the time step at a time. */
export function timeStepAt(now: number): number {
  return Math.floor(now / (periodSeconds * 1000));
}

/** Returns the time step of the code: the current one, the one before or the one after. Compares in constant time. */
export async function findTimeStep(
  secret: Uint8Array,
  code: string,
  now: number,
): Promise<number | undefined> {
  const { TOTP } = await import('otpauth');
  const options = { secret: await toSecret(secret), algorithm, digits, period: periodSeconds };
  const delta = TOTP.validate({ ...options, token: code, timestamp: now, window });
  return delta === null ? undefined : timeStepAt(now) + delta;
}

/** What a user enters or scans to set up an authenticator app. */
export interface TotpSetup {
  /** In Base32, to type it. */
  readonly secret: string;
  /** For a QR code: https://github.com/google/google-authenticator/wiki/Key-Uri-Format */
  readonly uri: string;
}

export async function describeTotpSecret(
  secret: Uint8Array,
  { username, issuer }: { readonly username: string; readonly issuer: string },
): Promise<TotpSetup> {
  const { TOTP } = await import('otpauth');
  const shared = await toSecret(secret);
  // A colon separates the issuer from the user name, so neither can contain one.
  const label = username.replaceAll(':', ' ');
  const totp = new TOTP({ secret: shared, issuer, label, algorithm, digits, period: periodSeconds });
  return { secret: shared.base32, uri: totp.toString() };
}

async function toSecret(bytes: Uint8Array) {
  const { Secret } = await import('otpauth');
  // A copy, because the bytes of a small buffer are a part of a shared one.
  return new Secret({ buffer: Uint8Array.from(bytes).buffer });
}

/** A code that a user typed. */
type TypedCode = { readonly kind: 'TOTP' | 'RECOVERY_CODE'; readonly code: string };

const maxTypedLength = 64;

/** Ignores spaces, hyphens and case. Returns undefined if the text cannot be a code. */
export function readTypedCode(input: string): TypedCode | undefined {
  if (input.length > maxTypedLength) return undefined;
  const code = input.replace(/[\s-]/g, '').toLowerCase();
  if (/^\d{6}$/.test(code)) return { kind: 'TOTP', code };
  return /^[a-z2-9]{16}$/.test(code) ? { kind: 'RECOVERY_CODE', code } : undefined;
}
