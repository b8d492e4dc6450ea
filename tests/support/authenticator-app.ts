/** An authenticator app: computes time-based codes (RFC 6238) without the library of the server. */

import { createHmac } from 'node:crypto';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
export const codeSeconds = 30;

/** Returns the code of six digits that an app with this secret (Base32) displays at a time. */
export function codeAt(secret: string, now: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(now / 1000 / codeSeconds)));
  const digest = createHmac('sha1', decodeBase32(secret)).update(counter).digest();
  const number = digest.readUInt32BE(digest.at(-1)! & 0xf) & 0x7fff_ffff;
  return `${number % 1_000_000}`.padStart(6, '0');
}

function decodeBase32(text: string): Buffer {
  const bits = [...text.replaceAll(/[\s=]/g, '')].map((letter) =>
    alphabet.indexOf(letter).toString(2).padStart(5, '0'),
  );
  const bytes = bits.join('').match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}
