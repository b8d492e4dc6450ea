/**
 * The text of an API key: `esp_`, an identifier of 16 characters, a secret of 32 characters (190 bits) and a checksum of 6
 * characters. The prefix lets secret scanners find keys. The checksum detects typing errors without a database read.
 */

import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { sha256 } from '../database/encryption.ts';

export const apiKeyPrefix = 'esp_';
const identifierLength = 16;
const secretLength = 32;
const checksumLength = 6;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const keyShape = new RegExp(
  `^${apiKeyPrefix}([0-9A-Za-z]{${identifierLength}})([0-9A-Za-z]{${secretLength}})([0-9A-Za-z]{${checksumLength}})$`,
);

export interface ApiKeyText {
  readonly identifier: string;
  readonly secretDigest: Uint8Array;
}

/** Creates a random key. Only its digest may be stored. Tests pass the identifier of another key. */
export function createApiKeyText(
  identifier = randomText(identifierLength),
): ApiKeyText & { readonly text: string } {
  const secret = randomText(secretLength);
  const start = `${apiKeyPrefix}${identifier}${secret}`;
  return { text: start + checksumOf(start), identifier, secretDigest: sha256(secret) };
}

/** Undefined if the text has another form or a wrong checksum. */
export function parseApiKeyText(text: string): ApiKeyText | undefined {
  const [, identifier = '', secret = '', checksum = ''] = keyShape.exec(text) ?? [];
  if (!identifier || checksumOf(text.slice(0, -checksumLength)) !== checksum) return undefined;
  return { identifier, secretDigest: sha256(secret) };
}

function checksumOf(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let index = 0; index < checksumLength; index++) {
    digits = alphabet[rest % alphabet.length]! + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}

function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}
