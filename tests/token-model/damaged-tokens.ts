/**
 * Tokens that look valid but were never issued. Each function damages an issued token; `index` selects where.
 */

import { generateKeyPairSync, sign } from 'node:crypto';

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const strangersKey = generateKeyPairSync('ed25519').privateKey;

type Damage = (text: string, index: number) => string;

export const authTokenDamage = {
  oneLetter: (text, index) => {
    const at = index % text.length;
    const other = letters[(letters.indexOf(text[at]!) + 1 + (index % 62)) % letters.length]!;
    return text.slice(0, at) + other + text.slice(at + 1);
  },
  truncated: (text, index) => text.slice(0, index % text.length),
  longer: (text, index) => text + letters[index % letters.length]!.repeat(1 + (index % 5)),
  /** The last letter of 64 encoded bytes has four unused bits, so other texts encode the same bytes. */
  sameBytes: (text, index) => {
    const last = letters.indexOf(text.at(-1)!);
    return text.slice(0, -1) + letters[(last & 0b110000) | ((last + 1 + (index % 15)) & 0b1111)]!;
  },
  padded: (text) => `${text}==`,
  otherAlphabet: (text) => text.replaceAll('-', '+').replaceAll('_', '/'),
  otherCase: (text) => text.toUpperCase(),
  noSignature: (text) => text.slice(0, text.lastIndexOf('.') + 1),
  unsigned: (text) => {
    const header = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url');
    return `${header}.${text.split('.')[1]}.`;
  },
  strangersSignature: (text) => {
    const signed = text.slice(0, text.lastIndexOf('.'));
    return `${signed}.${sign(null, Buffer.from(signed), strangersKey).toString('base64url')}`;
  },
  laterExpiry: (text) => {
    const [header, payload, signature] = text.split('.') as [string, string, string];
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { exp: number };
    const changed = JSON.stringify({ ...claims, exp: claims.exp + 1_000_000 });
    return `${header}.${Buffer.from(changed).toString('base64url')}.${signature}`;
  },
} as const satisfies Record<string, Damage>;

export const refreshTokenDamage = {
  upperCase: (text) => text.toUpperCase(),
  spaceBefore: (text) => ` ${text}`,
  lineEndAfter: (text) => `${text}\n`,
  withoutDashes: (text) => text.replaceAll('-', ''),
  inBraces: (text) => `{${text}}`,
  truncated: (text, index) => text.slice(0, index % text.length),
  oneDigit: (text, index) => {
    const digits = '0123456789abcdef';
    const at = index % text.length;
    const other = digits[(digits.indexOf(text[at]!) + 1) % digits.length]!;
    return text.slice(0, at) + other + text.slice(at + 1);
  },
  empty: () => '',
  nul: (text) => `${text}\0`,
} as const satisfies Record<string, Damage>;

export type AuthTokenDamage = keyof typeof authTokenDamage;
export type RefreshTokenDamage = keyof typeof refreshTokenDamage;
